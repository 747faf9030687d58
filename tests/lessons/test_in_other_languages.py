"""Every lesson said in other languages: whatever a screen can say has its numbers in every one of them."""

from itertools import islice

import pytest
from screens import sentences, words
from test_every_screen import LESSONS, file_of

from attention_ui.figures.matrices.matrices import Layout, matrices_table
from lessons.example.example import Example, run_example
from lessons.screen.format import equation, render
from lessons.screen.screen import Matrices
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
    example = run_example(Example(source="sentence", text="the the cat, saw", causal=False))
    with speaking(code):
        for choices in islice(module.cases(example), MOST_CASES):
            screen = module.screen(example, 0, choices)
            for sentence in sentences(screen):
                assert render(sentence)
            for figure in screen.figures:
                if isinstance(figure, Matrices):
                    assert matrices_table(figure, Layout(figure), numbered=True)
            for number in range(QUESTIONS_ASKED if screen.ask else 0):
                question = screen.ask(number)
                assert all(map(render, words(question)))
                for step in screen.derive(*question.about) if screen.derive and question.about else ():
                    assert render(step.meaning) and equation(step)
