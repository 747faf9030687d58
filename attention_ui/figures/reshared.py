"""The film of weights that are shared out anew: each square grows or shrinks from what the weight was before."""

import itertools
import math
from collections.abc import Iterator

import pyarrow as pa

from attention_ui.figures.grid import CELL_GAP, COLOURED, cell_tag
from lessons.screen import Matrices, Matrix

LEAST = 1e-6  # a smaller weight is not seen, and nothing can be seen to become of it


def film_of_weights(figure: Matrices, table: pa.Table, cell: int) -> str:
    """A style that plays the weights of this figure that `began` as others; empty where none did.

    Cells are `cell` pixels wide. A square begins around its own middle, as large as the weight that it was: its area is
    the weight, so its sides go with the root.
    """
    began = {matrix.key: matrix for matrix in figure.matrices if matrix.began is not None}
    if not began:
        return ""
    parts = "--lab-reshares: lab-reshare; --lab-comes-late: lab-appear; --lab-appears: lab-appear"
    return "\n".join([f".st-key-{figure.key} {{ {parts} }}", *rules(figure.key, began, table, cell)])


def rules(key: str, began: dict[str, Matrix], table: pa.Table, cell: int) -> Iterator[str]:
    """Where each square begins, and which numbers wait until the squares have grown."""
    tags = {cell_tag(name, i, j): (matrix, i, j) for name, matrix in began.items() for i, j in cells_of(matrix)}
    rows = (row for row in table.select(["kind", "gx", "gy", "cell_tag"]).to_pylist() if row["kind"] in COLOURED)
    for number, row in enumerate(rows, start=1):
        if row["cell_tag"] not in tags:
            continue
        matrix, i, j = tags[row["cell_tag"]]
        before, after = float(matrix.began[i][j]), float(matrix.values[i][j])
        x, y = (cell * (row[place] + (1 - CELL_GAP) / 2) for place in ("gx", "gy"))
        yield f".st-key-{key} .numbers_marks text:nth-child({number}) {{ animation-name: var(--lab-comes-late) }}"
        if min(before, after) > LEAST:
            begins = f"translate({x:.2f}px, {y:.2f}px) scale({math.sqrt(before / after):.5f})"
            mark = f".st-key-{key} .quantities_marks path:nth-child({number})"
            yield f"{mark} {{ --begins: {begins}; animation-name: var(--lab-reshares) }}"


def cells_of(matrix: Matrix) -> Iterator[tuple[int, int]]:
    """The rows and columns of all cells of a matrix."""
    return itertools.product(*map(range, matrix.values.shape))
