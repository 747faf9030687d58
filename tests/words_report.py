"""What the catalogues hold, and what nobody has seen of it: `python -m tests.words_report`.

It prints how many texts and words each language has, then every template that no screen said while all pages and all
lessons were walked: such a text is either hard to reach or no longer said, and no reader has looked at it. The walk
takes a few minutes; `--only home softmax` walks some pages.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("pages", "lessons", "core")]

from pseudo import Heard, spoken_by_all  # noqa: E402
from test_every_screen import LESSONS, file_of  # noqa: E402
from visiting import visitor  # noqa: E402

from attention_ui.contents import CONTENTS  # noqa: E402
from lessons.example.example import Example, run_example  # noqa: E402
from lessons.screen import (  # noqa: E402
    Message,
    equation,
    render,
)
from words import CATALOGUES, FIRST, LANGUAGES, language  # noqa: E402

# One that fits most lessons, and one whose words come twice and that looks ahead.
EXAMPLES = (Example(), Example(source="sentence", text="the the cat, saw", causal=False))
MOST_CASES, QUESTIONS_ASKED, MOST_OPTIONS = 24, 30, 15
CHOICES, SWITCHES = ("button_group", "selectbox", "radio"), ("toggle", "checkbox")
LEFT_ALONE = re.compile(r"model|language|download|get_|class|board|pdf|train_go")  # what waits for another machine
IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # where no space stands between words, each letter counts
OTHERS = [code for code in LANGUAGES if code != FIRST]
FIELD = re.compile(r"\{\w+\}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="addresses of pages, such as softmax")
    only = parser.parse_args().only
    for code in LANGUAGES:
        texts = texts_of(code)
        print(f"{code:6}{len(texts):6} texts{sum(map(words_in, texts)):8} words")
    unseen = unseen_of(heard_on_all(only))
    print(f"\nNever said on {len(only) if only else 'any'} page(s): {len(unseen)}")
    for template in unseen:
        print(f"  {template!r}")


@cache
def catalogue(code):
    with (CATALOGUES / f"{code}.po").open("rb") as file:
        return tuple(entry for entry in read_po(file) if entry.id)


def texts_of(code):
    """What a language says, every form of it. English is what the others translate."""
    entries = catalogue(OTHERS[0] if code == FIRST else code)
    several = [entry.id if code == FIRST else entry.string for entry in entries]
    return [text for one in several for text in ((one,) if isinstance(one, str) else one)]


def words_in(text):
    """How many words, and where a script sets none apart, how many letters. What is put in does not count."""
    plain = FIELD.sub(" ", text)
    return len(IDEOGRAPH.findall(plain)) + len(re.findall(r"\w+", IDEOGRAPH.sub(" ", plain)))


def unseen_of(heard):
    """The templates of the catalogues that were never asked for, in the order of the source."""
    ids = [entry.id if isinstance(entry.id, str) else tuple(entry.id) for entry in catalogue(OTHERS[0])]
    return [template for template in ids if template not in heard]


@contextmanager
def listening():
    """Whatever is said here is English, and its templates are collected in the set that this gives."""
    heard = Heard()
    with pytest.MonkeyPatch.context() as patch, spoken_by_all(patch, heard):
        patch.setattr("streamlit.testing.v1.element_tree._format_value_for_widget", label_of)
        yield heard.templates


def heard_on_all(only=None):
    """Every template that pages and lessons ask for while they are walked."""
    with listening() as heard:
        for entry in CONTENTS:
            if not only or entry.address in only:
                walk_page(entry.file.removesuffix(".py"))
        for lesson in LESSONS:
            if not only or lesson in only:
                walk_lesson(lesson)
    return heard


def walk_page(page):
    """Open a page, and from there choose every option of each control and press each button."""
    start = opened(page)
    for kind in (*CHOICES, *SWITCHES, "button"):
        for key in [widget.key for widget in start.get(kind)]:
            if key and not LEFT_ALONE.search(key):
                use(page, kind, key)


def use(page, kind, key):
    """All that can be done with one control, by somebody who has just come."""
    at = opened(page)
    for place in range(MOST_OPTIONS):
        widget = next((one for one in at.get(kind) if one.key == key), None)
        values = [] if widget is None or widget.disabled else values_of(kind, widget)
        if place >= len(values):
            return
        at = widget.click().run() if kind == "button" else widget.set_value(values[place]).run()
        if at.exception:  # no fault of the catalogues, but to be known
            print(f"{page}, {key}: {at.exception[0].message}", file=sys.stderr)
            return


def values_of(kind, widget):
    """What a control can be given."""
    if kind not in CHOICES:
        return [None] if kind == "button" else [not widget.value]
    labels = map(Label, widget.options)
    return [[label] for label in labels] if kind == "button_group" and not widget._is_single_select else list(labels)


class Label(str):
    """An option as a visitor reads it, which is all that a page tells of it."""


def label_of(write, value):
    """What AppTest tells the page of a value: a label as it is, any other written as the page writes it."""
    return str(value) if isinstance(value, Label) else write(value)


def opened(page):
    """The page as one finds it."""
    return visitor(page, example=None, cover="true", picture=None).run()


def walk_lesson(lesson):
    """Make the screens of a lesson for its choices, and say all that they say and ask."""
    module = file_of(lesson)
    own = getattr(module, "EXAMPLES", None)
    for trace in map(run_example, EXAMPLES if own is None else {own.example() for _ in EXAMPLES}):
        for choices in islice(module.cases(trace), MOST_CASES):
            say(module.screen(trace, 0, choices))


def say(screen):
    """All that a screen says, asks and derives."""
    questions = [screen.ask(number) for number in range(QUESTIONS_ASKED)] if screen.ask else []
    for one in (*messages_in(screen), *messages_in(questions)):
        language().template(one.template, one.many, one.count)  # a name that others complete cannot be rendered alone
    for question in questions:
        for step in screen.derive(*question.about) if screen.derive and question.about else ():
            render(step.meaning)
            equation(step)


def messages_in(thing):
    """Every message that stands somewhere in these data."""
    if isinstance(thing, Message):
        yield thing
        yield from messages_in(thing.arguments)
    elif is_dataclass(thing):
        yield from messages_in([getattr(thing, field.name) for field in fields(thing)])
    elif isinstance(thing, Mapping):
        yield from messages_in([*thing.values()])
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from messages_in(part)


if __name__ == "__main__":
    main()
