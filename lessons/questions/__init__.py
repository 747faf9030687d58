"""Predict, then look: questions about the current tensors, and for each wrong choice the sentence that mends it.

Every kind of question is a function of the trace, the head and a random generator. It returns None where
the tensors make no fair question of it: a single token, a tie, numbers that look alike when printed.
The last kind of each lesson always makes one. Wrong choices are what a real misconception would predict.
"""

from lessons.example import ExampleTrace
from lessons.heads_example import SideBySide
from lessons.questions import (
    heads,
)
from lessons.questions.old_base import Maker, Question, first_fair

# Lessons of the section “Many heads”; the questions of some are about a trace of their own.
OWN_QUESTIONS: dict[str, tuple[Maker | heads.HeadsMaker, ...]] = {
    "heads": heads.QUESTIONS,
}


def ask(lesson: str, trace: ExampleTrace | SideBySide, head: int, seed: int) -> Question:
    """A question of this lesson about these tensors. The same arguments give the same question."""
    return first_fair(OWN_QUESTIONS[lesson], lesson, seed, trace, head)
