"""Every lesson said in other languages: whatever a screen can say has its numbers in every one of them."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from itertools import islice

import pytest
from hypothesis import find
from hypothesis import strategies as st
from screens import sentences, words
from test_every_screen import LESSONS, file_of

from attention_ui.figures.matrices.tables import tables_of
from lessons.example.example import Example, run_example
from lessons.screen import Matrices, Message, equation, render
from words import speaking

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")
MOST_CASES, QUESTIONS_ASKED = 6, 8


# Of those that write commas before decimals, and of those that have one form for every count.
@pytest.mark.parametrize("code", ["de", "ja"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_all_that_a_screen_says_can_be_said(lesson, code):
    module = file_of(lesson)
    if hasattr(module, "EXAMPLES"):
        pytest.skip("this lesson has examples of its own")
    trace = run_example(Example(source="sentence", text="the the cat, saw", causal=False))
    with speaking(code):
        for choices in islice(module.cases(trace), MOST_CASES):
            screen = module.screen(trace, 0, choices)
            for sentence in sentences(screen):
                assert render(sentence)
            for figure in screen.figures:
                if isinstance(figure, Matrices):
                    assert tables_of(figure)
            for number in range(QUESTIONS_ASKED if screen.ask else 0):
                question = screen.ask(number)
                assert all(map(render, words(question)))
                for step in screen.derive(*question.about) if screen.derive and question.about else ():
                    assert render(step.meaning) and equation(step)


def written_strings(thing, where=""):
    """All texts of a screen that are no messages, with the place of each; sequences that are computed when asked are
    left alone.
    """
    if isinstance(thing, str):
        yield where, thing
    elif isinstance(thing, Message | Callable):
        return
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from written_strings(getattr(thing, field.name), f"{where}.{field.name}")
    elif isinstance(thing, tuple | list):
        for place, one in enumerate(thing):
            yield from written_strings(one, f"{where}[{place}]")
    elif isinstance(thing, dict):
        for name, one in thing.items():
            yield from written_strings(name, f"{where}(key)")
            yield from written_strings(one, f"{where}[{name}]")


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_screen_that_is_kept_for_all_visitors_has_nothing_said_in_the_language_of_the_first(lesson):
    module = file_of(lesson)
    strategy = getattr(module, "EXAMPLES", st.just(Example(source="sentence", text="the the cat, saw", causal=False)))
    example = find(strategy, lambda _: True)
    trace = run_example(example) if isinstance(example, Example) else example
    for choices in islice(module.cases(trace), MOST_CASES):
        said = {}
        for code in ("en", "ja"):
            with speaking(code):
                said[code] = dict(written_strings(module.screen(trace, 0, choices)))
        assert said["ja"] == said["en"]
