"""What a lesson declares of a choice is what its control, a link and a question for a class take."""

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from attention_ui.controls.learnt import MODEL_SIZES
from attention_ui.link_rules import LINK_RULES
from lessons.screen import OneOf, choices_of, declared_in, said_in_links
from lessons.teachers.class_vote.question_link import askable

ROOT = Path(__file__).parents[2]
FILES = [file for place in ("lessons", "attention_ui") for file in sorted((ROOT / place).rglob("*.py"))]
DECLARED = r"\b(OneOf|Number|Text|Switch|OneToken|DrawnMask)\("
DECLARING = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in FILES
    if re.search(DECLARED, file.read_text(encoding="utf-8"))
]
LESSONS = sorted(askable())


def takes(choice):
    """All that a link may say of it."""
    options = getattr(choice, "options", None)
    named = options and {said_in_links(option): label for option, label in options.items()}
    return named, getattr(choice, "limit", None), getattr(choice, "most", None)


def test_every_choice_has_a_rule_and_no_name_means_two_things():
    found = defaultdict(list)
    for module in DECLARING:
        for choice in declared_in(import_module(module)):
            found[choice.name].append(choice)
    assert found.keys() == LINK_RULES.keys() and len(found) > 100
    for name, choices in found.items():
        assert all(takes(choice) == takes(LINK_RULES[name]) for choice in choices), name


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_question_for_a_class_takes_the_options_and_nothing_else(lesson):
    for name, choice in choices_of(type(askable()[lesson][1])).items():
        if isinstance(choice, OneOf) and choice.kind is not float and name != "may_attend":
            for option in choice.options:
                assert msgspec.json.decode(msgspec.json.encode(option), type=choice.type) == option
            with pytest.raises(msgspec.ValidationError):
                msgspec.json.decode(b'"none of these"', type=choice.type)


def test_a_style_of_the_first_page_moves_no_slider_of_the_sidebar():
    """Both may have one key: what moves the list of heads there stands within the figure."""
    style = (ROOT / "attention_ui" / "frame.css").read_text()
    named = [line for size in MODEL_SIZES.values() for line in style.splitlines() if f".st-key-{size.name}" in line]
    assert named and all(
        line.strip().startswith((".st-key-model_look", ":where(.st-key-model_look)")) for line in named
    )
