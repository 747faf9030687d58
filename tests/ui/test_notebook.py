"""What is taken home runs in an empty folder, without this app and without a network, and says the screen's numbers."""

import contextlib
import importlib
import io
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from test_every_screen import LESSONS, file_of

from attention_core.one_head.masks import causal_mask
from attention_ui.contents import CONTENTS
from attention_ui.export.notebook import Section, notebook_of, notebook_of_path
from lessons.code.exercises.every import EXERCISES
from lessons.example.edits import MOST_EDITS, Edit, parse_edits
from lessons.example.example import Example, learnt_example, run_example
from lessons.example.real_model import MAX_TOKENS
from lessons.one_head.mask import lesson as mask
from lessons.one_head.output import lesson as output
from lessons.one_head.softmax import lesson as softmax
from lessons.screen import render

HOSTILE = "</script><img src=x> {0} \\ \"a\" 'b' ''' `c`\nimport os"
EXAMPLES = {
    "first": learnt_example("pronouns"),
    "typed": Example(
        source="sentence", text=HOSTILE, d_k=3, n_heads=2, seed=7, causal=False, edits=(Edit("x", 1, 2, 2.5),)
    ),
    "language": Example(source="language", text="The boy gave the girl her book"),
}
ALONE = """
import os, socket, sys
def refused(*_): raise OSError("no network")
socket.socket.connect = refused
assert not os.listdir()
"""
DRAWN = sum(exercise.drawn for exercise in EXERCISES.values())
AFRESH = "get_ipython().run_line_magic('reset', '-f')"
NOT_OURS = "assert not {name.partition('.')[0] for name in __import__('sys').modules} & {'attention_core', 'lessons'}"


def sections(example, every):
    """Some screens of every lesson, the first among them."""
    trace = run_example(example)
    for lesson in LESSONS:
        module = importlib.import_module(LESSONS[lesson])
        for choices in [*file_of(lesson).cases(trace)][::every]:
            screen = module.screen(trace, len(trace.heads.q) - 1, choices)
            yield Section(render(module.TOPIC), screen.code, screen.figures)


def run(cells, folder, alone=ALONE):
    """Execute cells in a kernel of its own; what each of them printed."""
    cells = [nbformat.v4.new_code_cell(alone), *cells]
    for place, cell in enumerate(cells):  # of several notebooks
        cell.id = f"cell-{place}"
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return ["".join(out.get("text", "") for out in cell.get("outputs", ())) for cell in notebook.cells]


@pytest.mark.part(3)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_notebook_of_every_screen_gives_the_numbers_of_the_screen(name, tmp_path, whole):
    cells, count = [], 0
    for section in sections(EXAMPLES[name], 7 if whole and name == "first" else 29 if whole else 61):
        notebook = nbformat.reads(notebook_of([section]).decode(), as_version=4)
        nbformat.validate(notebook)
        count += 1
        cells += [nbformat.v4.new_code_cell(AFRESH), *notebook.cells]
    said = "".join(run([*cells, nbformat.v4.new_code_cell(NOT_OURS)], tmp_path))
    assert said.count("All numbers match the screen.") == count > 10


def run_cell_by_cell(cells):
    """Execute each cell for itself, as a notebook does that carries nothing over but names; what is printed."""
    names, printed = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for place, cell in enumerate(cell for cell in cells if cell.cell_type == "code"):
            exec(compile(cell.source, f"<cell {place}>", "exec", dont_inherit=True), names)
    return printed.getvalue()


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_cell_of_every_notebook_runs_for_itself(name, whole):
    count = 0
    for section in sections(EXAMPLES[name], 7 if whole else 61):
        said = run_cell_by_cell(cells_of([section]))
        assert said.count("All numbers match the screen.") == 1, section.heading
        count += 1
    assert count > 10


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_cell_of_all_lessons_runs_for_itself(name):
    written = notebook_of_path(run_example(EXAMPLES[name]), 0).decode()
    said = run_cell_by_cell(nbformat.reads(written, as_version=4).cells)
    assert said.count("All numbers match the screen.") == 13


def test_the_exercises_of_a_notebook_run_cell_by_cell_too(one_of_each):
    assert "still None" in run_cell_by_cell(cells_of([*one_of_each.values()]))
    assert run_cell_by_cell(cells_of([*one_of_each.values()], solved)).count("Right in all 3 cases.") == DRAWN


def longest():
    """The cells on the longest sentence with more edits than are taken."""
    asked = ";".join(f"x{row},{column}={row - column / 8}" for row in range(1, 13) for column in range(1, 6))
    edits, notes = parse_edits(asked)
    assert asked.count("=") == 60 and len(edits) == MOST_EDITS and notes
    text = " ".join(f"word{n}" * 20 for n in range(40))
    trace = run_example(Example(source="sentence", text=text, edits=edits, d_model=6))
    assert len(trace.tokens) == MAX_TOKENS and sum(map(len, trace.tokens)) > 100
    screens = {mask: mask.Choices(causal_mask(MAX_TOKENS)), output: output.Choices("all", MAX_TOKENS - 1)}
    shown = {module: module.screen(trace, 0, choices) for module, choices in screens.items()}
    return cells_of([Section(render(module.TOPIC), at.code, at.figures) for module, at in shown.items()])


@pytest.mark.slow
def test_all_lessons_are_one_notebook(tmp_path):
    written = notebook_of_path(run_example(EXAMPLES["typed"]), 1).decode()
    notebook = nbformat.reads(written, as_version=4)
    nbformat.validate(notebook)
    said = run(notebook.cells, tmp_path)
    assert "".join(said).count("All numbers match the screen.") == 13
    prose = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "script" not in prose and "import os" not in prose, "what is typed never stands in prose"


# The exercises at the end: untouched they say what is missing, and the notebook runs on.


@pytest.fixture(scope="module")
def one_of_each():
    """One screen, for each of the lessons."""
    trace = run_example(Example())
    screen = mask.screen(trace, 0, mask.Choices(trace.heads.select(0).visible))
    return {
        entry.address: Section(render(mask.TOPIC), screen.code, screen.figures, entry.address) for entry in CONTENTS
    }


def cells_of(sections, fill=lambda source: source):
    notebook = nbformat.reads(notebook_of(sections).decode(), as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        cell.source = fill(cell.source)
    return notebook.cells


def solved(source):
    """A cell with the solution in the place of the beginning."""
    return next((it.solution for it in EXERCISES.values() if it.starter.rstrip() == source), source)


def unscaled(source):
    return solved(source).replace(" / math.sqrt(d_k)", "")


def test_a_notebook_ends_with_the_exercises_of_its_lesson_and_no_others(one_of_each):
    for address, section in one_of_each.items():
        sources = [cell.source for cell in cells_of([section])]
        asked = [key for key, it in EXERCISES.items() if it.starter.rstrip() in sources]
        assert asked == [key for key, it in EXERCISES.items() if it.lesson == address and it.drawn]
        assert ("# Can you write it yourself?" in "".join(sources)) == bool(asked)


@pytest.fixture(scope="module")
def said(one_of_each, tmp_path_factory):
    """What the cells of several notebooks print, run one after the other in one kernel, each from the beginning."""
    notebooks = {
        "untouched": cells_of([*one_of_each.values()]),
        "solved": cells_of([*one_of_each.values()], solved),
        "unscaled": cells_of([one_of_each["scores"]], unscaled),
        "longest": longest(),
    }
    cells = [cell for of_one in notebooks.values() for cell in (nbformat.v4.new_code_cell(AFRESH), *of_one)]
    _, *printed = run(cells, tmp_path_factory.mktemp("empty"))
    found = {}
    for name, of_one in notebooks.items():
        found[name], printed = printed[1 : 1 + len(of_one)], printed[1 + len(of_one) :]
    return found


@pytest.mark.slow
def test_the_longest_sentence_with_more_edits_than_are_taken_is_a_notebook_that_runs(said):
    assert "All numbers match the screen." in "".join(said["longest"])


@pytest.mark.slow
def test_untouched_they_say_so_and_the_notebook_runs(said):
    lines = [line for line in said["untouched"] if line][-DRAWN:]
    assert all(line.endswith(". Go on in the cell above, and run both again.\n") for line in lines if "None" in line)
    assert sum("still None" in line for line in lines) >= 8
    assert sum("differ from PyTorch's" in line for line in lines) == 1, "the loops begin with zeros"
    assert any("self.W_q should be nn.Linear(6, 6, bias=False)" in line for line in lines)


@pytest.mark.slow
def test_solved_they_are_right(said):
    assert "".join(said["solved"]).count("Right in all 3 cases.") == DRAWN


@pytest.mark.slow
def test_a_wrong_answer_is_told_where_it_differs(said):
    assert said["unscaled"][-1] == "In case 1, 12 of 12 entries of scores differ from PyTorch's.\n"


BEFORE = Path(__file__).parent / "before_rooms"  # made when the modules of the app had other names


def test_what_was_taken_home_before_modules_were_renamed_still_runs(tmp_path):
    notebook = nbformat.reads((BEFORE / "softmax.ipynb").read_text(encoding="utf-8"), as_version=4)
    said = "".join(run([*notebook.cells, nbformat.v4.new_code_cell(NOT_OURS)], tmp_path))
    assert said.count("All numbers match the screen.") == 1
    program = (BEFORE / "softmax_program.txt").read_text(encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    trace = run_example(Example())
    shown = softmax.screen(trace, 0, softmax.Choices(2)).code.call()
    weights = next(value for value in shown.shows.values() if getattr(value, "shape", ()))
    assert f"{float(weights.flatten()[0]):.4f}" in ran.stdout
