"""The film of what an answer shows: weights that are shared out anew, and rows that move.

Each square grows or shrinks from what the weight was before; each row of a shuffled matrix slides from where it stood.
"""

import itertools
import math
from collections.abc import Iterator

import pyarrow as pa

from attention_ui.figures.matrices.grid import COLOURED, cell_tag
from lessons.screen import Matrices, Matrix

LEAST = 1e-6  # a smaller weight is not seen, and nothing can be seen to become of it
MOVING_MARKS = (".quantities_marks path", ".numbers_marks text")
PLAYED = "--lab-reshares: lab-reshare; --lab-comes-late: lab-appear; --lab-appears: lab-appear"


def film_of_matrices(figure: Matrices, table: pa.Table) -> str:
    """A style that plays how the matrices of this figure became what they are; empty where nothing did.

    A square begins as large as the weight that it was, on the floor of its cell: its area is the weight, so its sides
    go with the root. `--cell` is the width of a cell.
    """
    became = [matrix for matrix in figure.matrices if matrix.began is not None or matrix.came_from is not None]
    if not became:
        return ""
    drawn = table.select(["kind", "gx", "gy", "cell_tag", "text"]).to_pylist()
    rules = (rule for matrix in became for rule in rules_of(f".st-key-{figure.key}", matrix, drawn))
    return "\n".join([f".st-key-{figure.key} {{ {PLAYED} }}", *rules])


def rules_of(figure: str, matrix: Matrix, drawn: list[dict]) -> Iterator[str]:
    """Where each mark of one matrix begins: the style knows a mark by its number in its layer."""
    if matrix.began is not None:
        for number, _, (i, j) in numbered_cells(matrix, drawn):
            yield from grown(figure, number, float(matrix.began[i][j]), float(matrix.values[i][j]))
    if matrix.came_from is not None:
        for number, _, (i, _) in numbered_cells(matrix, drawn):
            yield from (slid(f"{figure} {marks}", number, matrix, i) for marks in MOVING_MARKS)
        names = [row for row in drawn if row["kind"] == "row"]
        first = {i: row for _, row, (i, j) in numbered_cells(matrix, drawn) if j == 0}
        for number, row in enumerate(names, start=1):
            here = [i for i, one in first.items() if (one["gx"] - 1, one["gy"]) == (row["gx"], row["gy"])]
            yield from (slid(f"{figure} .rows_marks text", number, matrix, i) for i in here)


def numbered_cells(matrix: Matrix, drawn: list[dict]) -> Iterator[tuple[int, dict, tuple[int, int]]]:
    """The cells of a matrix that have a number: the place of each in its layer, its row of the table, and its cell."""
    cells = {cell_tag(matrix.key, i, j): (i, j) for i, j in itertools.product(*map(range, matrix.values.shape))}
    for number, row in enumerate((row for row in drawn if row["kind"] in COLOURED), start=1):
        if row["cell_tag"] in cells:
            yield number, row, cells[row["cell_tag"]]


def grown(figure: str, number: int, before: float, after: float) -> Iterator[str]:
    """Where a square begins; its number waits until it has grown."""
    yield f"{figure} .numbers_marks text:nth-child({number}) {{ animation-name: var(--lab-comes-late) }}"
    if min(before, after) > LEAST:
        mark = f"{figure} .quantities_marks path:nth-child({number})"
        yield f"{mark} {{ --begins: {math.sqrt(before / after):.5f}; animation-name: var(--lab-reshares) }}"


def slid(marks: str, number: int, matrix: Matrix, row: int) -> str:
    """How far above or below its place a mark of this row begins."""
    up = f"calc(var(--cell) * {matrix.came_from[row] - row})"
    return f"{marks}:nth-child({number}) {{ --up: {up}; animation: var(--lab-slides, none) }}"
