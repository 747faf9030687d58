"""The exercises as files: what stands in them, and what `pytest exercises` says to an answer."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from lessons.code.exercises.as_files import exercise_files
from lessons.code.exercises.every import EXERCISES
from lessons.screen import render

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "exercises"


def test_the_files_are_those_of_the_exercises_on_the_page():
    written = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("[0-9]*.py"))}
    assert written == exercise_files(), "python -m lessons.code.exercises.as_files exercises"


def test_a_file_can_be_read_by_python_and_asks_what_the_page_asks():
    for text, exercise in zip(exercise_files().values(), EXERCISES.values(), strict=True):
        names = {}
        exec(text, names)
        assert " ".join(render(exercise.asks).split()) in " ".join(names["__doc__"].split())
        assert callable(names[exercise.entry]) and text.endswith(exercise.starter)


def said_of(*folders, seed):
    """What pytest says of the exercises in these folders."""
    pytest_here = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml"]
    person = {name: value for name, value in os.environ.items() if name != "CI"}  # where pytest says everything twice
    done = subprocess.run(
        [*pytest_here, "--cases", str(seed), *folders], cwd=ROOT, capture_output=True, text=True, env=person
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_every_solution_passes_and_what_is_not_written_yet_or_is_wrong_is_told_in_a_sentence(tmp_path):
    right, mine = (
        shutil.copytree(FOLDER, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("right", "mine")
    )
    for file, exercise in zip(exercise_files(), EXERCISES.values(), strict=True):
        text = (right / file).read_text(encoding="utf-8")
        (right / file).write_text(text.replace(exercise.starter, exercise.solution), encoding="utf-8")
    (mine / "conftest.py").unlink()  # which offers its option once
    (mine / "01_scores.py").write_text(EXERCISES["scores"].solution.replace(" / math.sqrt(d_k)", ""))
    (mine / "02_mask.py").write_text("import torch\n\ndef causal_scores(scores):\n    torch.nonsense(scores)\n")
    said = said_of(right, mine, seed=5)
    assert f"{len(EXERCISES)} failed, {len(EXERCISES)} passed" in said and "Traceback" not in said
    assert "01_scores.py: The scores are not divided by √d_k. In case 1, " in said
    assert "expected scores" in said and "yours" in said
    assert "02_mask.py: Your code stopped on line 4." in said
    assert re.search("AttributeError: module 'torch' has no attribute 'nonsense'$", said, re.MULTILINE)
    assert "03_softmax.py: Your code stopped. Something is still None: a step is not written yet" in said
    assert "return.\nNotReady: weights should be a tensor; it is still None" in said
    assert "04_context.py: The context vectors are still zero." in said
    assert "08_multi_head.py: Your code stopped. The weights of the cases are put into these four layers.\n" in said
    assert "NotReady: self.W_q should be nn.Linear(6, 6, bias=False)" in said
    assert said.count("The cases were drawn with seed 5.") == len(EXERCISES)


def test_the_tests_of_the_project_leave_the_answers_alone():
    assert 'testpaths = ["tests"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
