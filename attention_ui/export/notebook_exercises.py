"""The exercises of its lessons, at the end of a notebook: what is asked, the beginning of an answer, and its check.

A learner's functions may have the names of ours, so no cell of a screen comes after them.
"""

import inspect
import pprint
from collections.abc import Collection, Iterator

import numpy as np

from in_browser.driver import NotReady, call, given, number, output, outputs
from lessons.code.exercises.base import Exercise
from lessons.code.exercises.every import EXERCISES
from lessons.screen import message, render, translate

CASES_SEED = 1  # of the cases in every notebook
ALSO_NEEDS = {"import math", "from torch import nn", "from torch.nn import functional as F"}
LINE_OF_CASES = 112  # characters
TO_EXERCISES = message(
    "Write your answer in the cell below each question, then run it and the next cell, which "
    "compares your numbers with those that PyTorch found when this notebook was written, on cases "
    "drawn with seed {seed}. On the page *Exercises*, each run draws new cases and names known "
    "mistakes.",
    seed=CASES_SEED,
)


def try_answer(entry, returns: list[str], cases: list[dict], expected: list[list[dict]]) -> None:
    """Call an answer on every case, and print whether it gives what PyTorch gave, or where it does not."""
    try:
        found = [outputs(call(entry, case), returns) for case in cases]
    except Exception as error:  # whatever it is: the rest of the notebook shall run
        print(f"{type(error).__name__}: {error}. Go on in the cell above, and run both again.")
        return
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=True), start=1):
        for name, got, right in zip(returns, ours, theirs, strict=True):
            if got["shape"] != right["shape"]:
                print(f"In case {place} the shape of {name} is {got['shape']}; it should be {right['shape']}.")
                return
            numbers = ([float(x) for x in tensor["data"]] for tensor in (got, right))
            apart = ~np.isclose(*numbers, rtol=1e-3, atol=2e-4, equal_nan=True)
            if apart.any():
                print(f"In case {place}, {apart.sum()} of {apart.size} entries of {name} differ from PyTorch's.")
                return
    print(f"Right in all {len(cases)} cases.")


TRYING = (NotReady, given, number, output, outputs, call, try_answer)  # each after those that it needs


def exercises_of(lessons: Collection[str]) -> list[Exercise]:
    """The exercises that belong to these lessons, in their order, but for one with too many numbers to write out."""
    return [exercise for exercise in EXERCISES.values() if exercise.lesson in lessons and exercise.drawn]


def what_tries() -> str:
    """The functions that call an answer, as they call it on the page, and compare."""
    return "\n\n".join(inspect.getsource(function) for function in TRYING).rstrip()


def asked_in_prose(exercise: Exercise) -> str:
    """The question in our own words."""
    return f"## {render(exercise.title)}\n\n{render(exercise.asks)}"


def check_of(exercise: Exercise) -> str:
    """The cell that tries an answer: the cases, and what PyTorch found for them."""
    names = [shown.name for shown in exercise.returns]
    cases = exercise.cases(CASES_SEED)
    expected = [outputs(case.outputs(exercise.answer), names) for case in cases]
    return "\n".join(
        (
            f"cases = {plainly([dict(vars(case)) for case in cases])}",
            f"expected = {plainly(expected)}",
            f"try_answer({exercise.entry}, {names}, cases, expected)",
        )
    )


def plainly(value: object) -> str:
    """Lists and dictionaries of numbers as Python writes them."""
    return pprint.pformat(value, width=LINE_OF_CASES, compact=True, sort_dicts=False)


def written_exercises(lessons: Collection[str]) -> Iterator[tuple[str, str]]:
    """The cells, each with its kind; none where no exercise belongs to these lessons."""
    exercises = exercises_of(lessons)
    if exercises:
        yield "prose", "# " + translate("Can you write it yourself?") + "\n\n" + render(TO_EXERCISES)
        yield "code", "\n".join(sorted(ALSO_NEEDS, reverse=True))
        yield "definition", what_tries()
    for exercise in exercises:
        yield "prose", asked_in_prose(exercise)
        yield "code", exercise.starter.rstrip()
        yield "code", check_of(exercise)
