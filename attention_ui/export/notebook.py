"""A screen as a Jupyter notebook: the functions that ran, the numbers they ran on, pictures, and its own test.

Sources come from the files that ran, numbers to their last digit. What a learner has typed stands in code alone, as
Python writes a text: prose is read as HTML. The exercises of its lessons end it.
"""

import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from attention_ui.export.notebook_exercises import written_exercises
from lessons import name_of
from lessons.example.example import ExampleTrace
from lessons.screen import (
    PRINT_OPTIONS,
    Call,
    Code,
    Figure,
    Film,
    Matrix,
    Program,
    array_literal,
    labels_of,
    matrices_figures,
    plural,
    program_of,
    render,
    translate,
)

NEEDS = "`pip install torch numpy pandas altair`"
IMPORTS = {
    "from collections.abc import Sequence",
    "import altair as alt",
    "import numpy as np",
    "import pandas as pd",
    "import torch",
}
FUTURE = "from __future__ import annotations"
FOR_READING = "  # the shapes in the annotations are for reading: nothing evaluates them"
MOST_COMPARED = 1000  # numbers of one array in the test at the end; of a larger one its sum
MOST_DRAWN = 40  # rows or columns of a picture
AS_NEAR = "rtol=1e-4, atol=1e-5"  # what machines may differ by


@dataclass(frozen=True)
class Section:
    """One lesson of a notebook: its question in our own words, and the code and the figures of its screen.

    The exercises of the lesson at this `address` end the notebook.
    """

    heading: str
    code: Code
    figures: Sequence[Figure] = ()
    address: str = ""


def notebook_of(sections: Sequence[Section]) -> bytes:
    """The notebook of these screens, one after the other."""
    written = Notebook()
    for section in sections:
        written.add_section(section)
    kinds = {"prose": prose, "code": code, "definition": definition}
    asked = [kinds[kind](text) for kind, text in written_exercises({section.address for section in sections})]
    cells = [*opening_cells(len(sections), written.imports), *written.cells, *asked]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": numbered, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1).encode()


def notebook_of_path(trace: ExampleTrace, head: int) -> bytes:
    """All lessons on one example, in their order."""
    from lessons.order import lesson_path  # and with it every lesson: the first page does without

    sections = []
    for lesson, choices in lesson_path(trace):
        screen = lesson.screen(trace, head, choices)
        address = name_of(lesson)
        sections.append(Section(render(lesson.TOPIC), screen.code, screen.figures, address))
    return notebook_of(sections)


def opening_cells(screens: int, imports: set[str]) -> Iterator[dict]:
    """What the notebook is, what it imports, and how it draws."""
    yield prose(
        render(
            plural(
                "One screen of Attention Lab, computed again from the same numbers by the same functions. It "
                "needs {needs}. The last cell of each screen compares the results with what the screen showed.",
                "{count} screens of Attention Lab, computed again from the same numbers by the same functions. "
                "It needs {needs}. The last cell of each screen compares the results with what the screen "
                "showed.",
                screens,
                needs=NEEDS,
            )
        )
    )
    yield code("\n".join([FUTURE + FOR_READING, *sorted(imports)]))
    yield code(PRINT_OPTIONS.rstrip())
    # It brings Altair, for which no first visitor should wait.
    from attention_ui.figures.matrices.taken_home import picture

    yield definition(inspect.getsource(picture).rstrip())


@dataclass
class Notebook:
    """Cells written so far. A function that an earlier section needed already is not written again."""

    cells: list[dict] = field(default_factory=list)
    imports: set[str] = field(default_factory=lambda: set(IMPORTS))
    sources: set[str] = field(default_factory=set)

    def add_section(self, section: Section) -> None:
        """A lesson: what to notice, the functions, the numbers, what was done, the pictures, and the test."""
        call = section.code.call()
        program = program_of(call)
        self.imports |= set(program.imports)
        self.cells.append(prose(f"# {section.heading}"))
        if said := [render(line) for figure in section.figures for line in figure.notice]:
            self.cells.append(code("\n".join(f"print({line!r})" for line in said)))
        self.cells += [prose("## " + translate("The code that ran")), *self.new_sources(program)]
        self.cells += [prose("## " + translate("The numbers on this screen")), code("\n".join(program.values))]
        self.cells += [
            prose("## " + translate("What was done with them")),
            code("\n".join((program.line, *program.prints))),
        ]
        self.cells += map(code, pictures(call, section.figures))
        self.cells += [prose("## " + translate("As on the screen?")), code("\n".join(checks(call)))]

    def new_sources(self, program: Program) -> Iterator[dict]:
        """A cell for each definition that stands nowhere yet."""
        for source in program.sources:
            if source not in self.sources:
                self.sources.add(source)
                yield definition(source.strip("\n"))


def pictures(call: Call, figures: Sequence[Figure]) -> Iterator[str]:
    """The results that are matrices, or rows; where they stand on the screen, their cells are named as there."""
    on_screen = [matrix for figure in figures for matrix in matrices_of(figure)]
    for shown, value in call.shows.items():
        if isinstance(value, str | list) or not np.ndim(value):
            continue
        numbers = np.atleast_2d(np.asarray(value))
        if numbers.ndim != 2 or max(numbers.shape) > MOST_DRAWN or numbers.dtype.kind not in "fiu":
            continue
        same = next((matrix for matrix in on_screen if is_drawn_by(matrix, numbers)), None)
        rows, columns, axes = names_of(same) if same else ([""] * len(numbers), [""] * numbers.shape[1], ("", ""))
        yield f"picture({shown!r}, {shown}, {list(rows)!r}, {list(columns)!r}, {axes!r})"


def matrices_of(figure: Figure) -> tuple[Matrix, ...]:
    """All matrices of a figure; of a film those of its last frame."""
    figure = figure.frames[-1] if isinstance(figure, Film) else figure
    return tuple(matrix for one in matrices_figures([figure]) for matrix in one.matrices)


def is_drawn_by(matrix: Matrix, numbers: np.ndarray) -> bool:
    """True where the screen shows these very numbers."""
    values = np.asarray(matrix.values)
    return values.shape == numbers.shape and np.allclose(values, numbers, equal_nan=True)


def names_of(matrix: Matrix) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, str]]:
    """What each row and each column is called, and what they are."""
    axes = (matrix.rows, matrix.columns)
    return (
        labels_of(matrix.rows),
        labels_of(matrix.columns),
        tuple(render(axis.name) if axis.name else "" for axis in axes),
    )


def checks(call: Call) -> Iterator[str]:
    """Every result beside the number of the screen."""
    for shown, value in call.shows.items():
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, str) for part in parts):
            yield f"assert {shown} == {value!r}"
            continue
        got = f"np.ravel({shown})"
        if isinstance(value, list):
            got = f"np.concatenate([np.ravel(part) for part in {shown}])"
        numbers = np.concatenate([np.ravel(np.asarray(part)) for part in parts])
        if numbers.size > MOST_COMPARED:
            got = f"[{got}.size, {got}.astype(float).sum()]"
            numbers = np.array([numbers.size, numbers.astype(float).sum()])
        yield f"np.testing.assert_allclose({got}, {array_literal(numbers)}, {AS_NEAR})"
    all_right = translate("All numbers match the screen.")
    yield f"print({all_right!r})"


def prose(text: str) -> dict:
    """A cell of Markdown, in our own words."""
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def definition(text: str) -> dict:
    """A cell of definitions. It says for itself that nothing evaluates its annotations: not every reader of notebooks
    keeps that in mind from an earlier cell.
    """
    return code(f"{FUTURE}\n\n{text}")


def code(text: str) -> dict:
    """A cell of Python that has not run yet."""
    lines = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}
