"""The film of what an answer shows: weights that are shared out anew, and rows that move.

Each square grows or shrinks from what the weight was before; each row of a shuffled matrix slides from where it stood.
"""

import itertools
import math
from collections.abc import Iterator

import pyarrow as pa

from attention_ui.figures.matrices.grid import CELL_GAP, COLOURED, cell_tag
from attention_ui.figures.roles import FULL
from lessons.screen.screen import Matrices, Matrix

LEAST = 1e-6  # a smaller weight is not seen, and nothing can be seen to become of it
MOVING_MARKS = (".quantities_marks path", ".numbers_marks text")
PLAYED = "--lab-reshares: lab-reshare; --lab-comes-late: lab-appear; --lab-appears: lab-appear"


def film_of_matrices(figure: Matrices, table: pa.Table, cell: int) -> str:
    """A style that plays how the matrices of this figure became what they are; empty where nothing did.

    Cells are `cell` pixels wide. A square begins as large as the weight that it was, around its own middle or, below a
    number, on the floor of its cell: its area is the weight, so its sides go with the root.
    """
    became = [matrix for matrix in figure.matrices if matrix.began is not None or matrix.came_from is not None]
    if not became:
        return ""
    drawn = table.select(["kind", "gx", "gy", "cell_tag", "text"]).to_pylist()
    rules = (rule for matrix in became for rule in rules_of(f".st-key-{figure.key}", matrix, drawn, cell))
    return "\n".join([f".st-key-{figure.key} {{ {PLAYED} }}", *rules])


def rules_of(figure: str, matrix: Matrix, drawn: list[dict], cell: int) -> Iterator[str]:
    """Where each mark of one matrix begins: the style knows a mark by its number in its layer."""
    if matrix.began is not None:
        for number, row, (i, j) in numbered_cells(matrix, drawn):
            yield from grown(figure, number, row, float(matrix.began[i][j]), float(matrix.values[i][j]), cell)
    if matrix.came_from is not None:
        for number, _, (i, _) in numbered_cells(matrix, drawn):
            yield from (slid(f"{figure} {marks}", number, matrix, i, cell) for marks in MOVING_MARKS)
        names = [row for row in drawn if row["kind"] == "row"]
        first = {i: row for _, row, (i, j) in numbered_cells(matrix, drawn) if j == 0}
        for number, row in enumerate(names, start=1):
            here = [i for i, one in first.items() if (one["gx"] - 1, one["gy"]) == (row["gx"], row["gy"])]
            yield from (slid(f"{figure} .rows_marks text", number, matrix, i, cell) for i in here)


def numbered_cells(matrix: Matrix, drawn: list[dict]) -> Iterator[tuple[int, dict, tuple[int, int]]]:
    """The cells of a matrix that have a number: the place of each in its layer, its row of the table, and its cell."""
    cells = {cell_tag(matrix.key, i, j): (i, j) for i, j in itertools.product(*map(range, matrix.values.shape))}
    for number, row in enumerate((row for row in drawn if row["kind"] in COLOURED), start=1):
        if row["cell_tag"] in cells:
            yield number, row, cells[row["cell_tag"]]


def grown(figure: str, number: int, row: dict, before: float, after: float, cell: int) -> Iterator[str]:
    """Where a square begins; its number waits until it has grown."""
    x, y = (cell * (row[place] + (1 - CELL_GAP) / 2) for place in ("gx", "gy"))
    yield f"{figure} .numbers_marks text:nth-child({number}) {{ animation-name: var(--lab-comes-late) }}"
    if row["text"]:  # it stands on the floor of its cell, before as after
        y += FULL * cell * (1 - math.sqrt(before)) / 2
    if min(before, after) > LEAST:
        begins = f"translate({x:.2f}px, {y:.2f}px) scale({math.sqrt(before / after):.5f})"
        mark = f"{figure} .quantities_marks path:nth-child({number})"
        yield f"{mark} {{ --begins: {begins}; animation-name: var(--lab-reshares) }}"


def slid(marks: str, number: int, matrix: Matrix, row: int, cell: int) -> str:
    """How far above or below its place a mark of this row begins."""
    up = cell * (matrix.came_from[row] - row)
    return f"{marks}:nth-child({number}) {{ --up: {up}px; animation: var(--lab-slides, none) }}"
