"""What is taken home runs in an empty folder, without this app and without a network, and says the screen's numbers."""

import importlib

import nbformat
import pytest
from nbclient import NotebookClient
from test_every_screen import LESSONS, file_of

from attention_ui.notebook import Section, notebook_of, notebook_of_path
from lessons.edits import Edit
from lessons.example import Example, learnt_example, run_example
from lessons.formatting import english

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
AFRESH = "get_ipython().run_line_magic('reset', '-f')"
NOT_OURS = "assert not {name.partition('.')[0] for name in __import__('sys').modules} & {'attention_core', 'lessons'}"


def sections(example, every):
    """Some screens of every lesson, the first among them."""
    trace = run_example(example)
    for lesson in LESSONS:
        module = importlib.import_module(f"lessons.{lesson}")
        for choices in [*file_of(lesson).cases(trace)][::every]:
            screen = module.screen(trace, len(trace.heads.q) - 1, choices)
            yield Section(english(module.HEADING), screen.code, screen.figures)


def run(cells, folder):
    """Execute cells in a kernel of its own; what each of them printed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ALONE), *cells])
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return ["".join(out.get("text", "") for out in cell.get("outputs", ())) for cell in notebook.cells]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_notebook_of_every_screen_gives_the_numbers_of_the_screen(name, tmp_path):
    cells, count = [], 0
    for section in sections(EXAMPLES[name], 7 if name == "first" else 29):
        notebook = nbformat.reads(notebook_of([section]).decode(), as_version=4)
        nbformat.validate(notebook)
        count += 1
        cells += [nbformat.v4.new_code_cell(AFRESH), *notebook.cells]
    said = "".join(run([*cells, nbformat.v4.new_code_cell(NOT_OURS)], tmp_path))
    assert said.count("All numbers are those of the screen.") == count > 10


def test_all_lessons_are_one_notebook(tmp_path):
    written = notebook_of_path(run_example(EXAMPLES["typed"]), 1).decode()
    notebook = nbformat.reads(written, as_version=4)
    nbformat.validate(notebook)
    said = run(notebook.cells, tmp_path)
    assert "".join(said).count("All numbers are those of the screen.") == 13
    prose = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "script" not in prose and "import os" not in prose, "what is typed never stands in prose"
