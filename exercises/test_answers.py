"""What you wrote in the files beside this one, compared with PyTorch on cases that are drawn anew every time.

`pytest exercises` tries all of them, `pytest exercises -k softmax` those on the softmax. The sentences are those of the
page Exercises. `--cases 5` draws the cases of seed 5 again.
"""

import json
import secrets
from pathlib import Path

import pytest

from in_browser.driver import run  # with the torch that is installed in the place of the one in the browser
from lessons.code.exercises.as_files import exercise_files
from lessons.code.exercises.every import EXERCISES
from lessons.code.exercises.verdict import verdict_of
from lessons.screen.format import render

FILES = dict(zip(EXERCISES, exercise_files(), strict=True))


@pytest.mark.parametrize("key", EXERCISES)
def test_your_answer(key, pytestconfig):
    exercise, file = EXERCISES[key], Path(__file__).with_name(FILES[key])
    given = pytestconfig.getoption("--cases", default=None)
    seed = secrets.randbelow(10**6) if given is None else given
    cases = exercise.cases(seed)
    job = {"entry": exercise.entry, "returns": [it.name for it in exercise.returns], "cases": list(map(vars, cases))}
    verdict = verdict_of(exercise, cases, json.dumps(run(file.read_text(encoding="utf-8"), job)))
    if verdict.printed:
        print(verdict.printed)
    if not verdict.passed:
        tables = [f"{render(matrix.title)}\n{matrix.values}" for it in verdict.figures for matrix in it.matrices]
        says = [f"{file.name}: {' '.join(map(render, verdict.says))}", verdict.error, *tables]
        says += [f"The cases were drawn with seed {seed}."]
        pytest.fail("\n".join(filter(None, says)), pytrace=False)
