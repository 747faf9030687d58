"""A text that is too long for its field is taken as far as it fits, and the page says so."""

import pytest
from visiting import ROOT, open_page, texts

from attention_ui.link_rules import LINK_RULES
from lessons.teachers.class_plan.own_question import MOST_CARD, MOST_PROMPT
from lessons.teachers.class_plan.plan import MOST_SAID, MOST_TITLE
from lessons.teachers.class_plan.sentence import LONGEST_SENTENCE
from words import LANGUAGES

WORD = "girl "
FIELDS = {
    "stranger": ("one_head/tokens", {"example": "sentence"}),
    "drawn": ("one_head/mask", {"mask": "hand"}),
    "says_pronouns": ("one_head/softmax", {"example": "pronouns"}),
    "order": ("model/positions", {}),
    "begin": ("model/generate", {}),
    "paper_text": ("teachers/take_home", {"paper": "sheet"}),
    "paper_code": ("teachers/take_home", {"paper": "sheet"}),
    "platform_text": ("teachers/take_home", {"paper": "platform"}),
}


def notes(at):
    return [line for line in texts(at) if line.startswith("This field takes at most")]


def type_too_much(at, field, most):
    """A text of whole words that is three words longer than the field takes; what the page then says and shows."""
    typed = WORD * (most // len(WORD) + 3)
    field.set_value(typed).run()
    assert not at.exception
    used = (most + 1) // len(WORD) * len(WORD) - 1  # the space after the last word may stand beyond the limit
    said = f"This field takes at most {most} characters, and the text has {len(typed)}; the first {used} are used."
    assert notes(at) == [said]
    return typed[:used]


@pytest.mark.parametrize("key", FIELDS)
def test_a_longer_text_is_cut_at_a_whole_word_and_the_page_says_so(key):
    page, link = FIELDS[key]
    at, most = open_page(page, **link), LINK_RULES[key].most
    used = type_too_much(at, at.text_input(key=key), most)
    assert at.text_input(key=key).value == used
    at.text_input(key=key).set_value("x" * most).run()
    assert at.text_input(key=key).value == "x" * most and not notes(at), "as many as fit"
    at.text_input(key=key).set_value("girl").run()
    assert at.text_input(key=key).value == "girl" and not notes(at)


def test_the_fields_of_a_plan_and_of_a_question_of_ones_own_say_so_too():
    at = open_page("teachers/take_home", paper="45")
    for fold in ("plan_change", "plan_homework", "plan_open_0"):
        at.session_state[fold] = True
    at.run()
    for key, most in (("plan_sentence", LONGEST_SENTENCE), ("stop_prompt", MOST_PROMPT), ("stop_B", MOST_CARD)):
        used = type_too_much(at, at.text_input(key=key), most)
        assert at.text_input(key=key).value == used
        at.text_input(key=key).set_value("girl").run()
    assert len(at.selectbox(key="plan_language").options) == 1 + len(LANGUAGES)
    used = type_too_much(at, at.text_input(key="plan_title"), MOST_TITLE)
    assert at.text_input(key="plan_title").value == used
    at.text_input(key="plan_title").set_value("girl").run()
    used = type_too_much(at, at.text_area(key="plan_says_0"), MOST_SAID)
    assert at.text_area(key="plan_says_0").value == used


def test_no_field_has_the_limit_that_refuses_without_a_word():
    files = [file for folder in ("attention_ui", "pages", "lessons") for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100 and not [file for file in files if "max_chars" in file.read_text("utf-8")]
