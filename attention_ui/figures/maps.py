"""Matrices side by side, one row for each query: token × token maps and what hangs on them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, POINT_AT_CELL, Grid, Matrix, cell_tag, row_tag
from lessons.captions import name, number, seen, tiny_number
from lessons.changes import Changes

LABEL_COLUMNS = 2
HEADER_ROWS = 3
HINT_ROWS = 1
TITLE_LETTER = 0.26  # of the width of a cell
# Their columns are features, also where there are as many as tokens.
OF_FEATURES = ("x", "output", "loops", "matrices", "gap", "sums")


def maps_columns(widths: Sequence[int]) -> int:
    """Columns of the grid that matrices of these widths need."""
    return LABEL_COLUMNS + sum(widths) + len(widths) - 1


def maps_rows(n_queries: int) -> int:
    """Rows of the grid that matrices with so many rows need."""
    return HEADER_ROWS + n_queries + HINT_ROWS


def title_columns(title: str) -> int:
    """Columns that a title needs for itself, where its matrix is narrower."""
    return math.ceil(len(title) * TITLE_LETTER + 0.5)


def maps_table(
    matrices: Sequence[Matrix],
    queries: Sequence[str],
    keys: Sequence[str],
    changes: Changes | None = None,
    *,
    numbered: bool = True,
) -> pa.Table:
    """The matrices in a row. Those as wide as there are keys get the keys' names above their columns.

    With `changes`, what was changed by hand is marked in the matrices that are keyed by the name of a tensor.
    """
    if changes is not None:
        matrices = [replace(matrix, changed=changes.marked(matrix.key)) for matrix in matrices]
    titles = {matrix.key: matrix for matrix in matrices}
    rows, columns = ([name(tuple(tokens), i) for i in range(len(tokens))] for tokens in (queries, keys))

    def is_map(matrix: Matrix) -> bool:
        return matrix.key not in OF_FEATURES and matrix.shape == (len(queries), len(keys))

    def say(key: str, i: int, j: int) -> str:
        matrix = titles[key]
        what = f"{rows[i]} → {columns[j]}" if is_map(matrix) else f"{rows[i]}, {j + 1}"
        if matrix.visible is not None and not matrix.visible[i][j]:
            return f"{matrix.title}, {what}: masked"
        value = matrix.values[i][j]
        return f"{matrix.title}, {what}: {tiny_number(value) if matrix.tiny else number(value, 3)}"

    def lights(key: str, i: int, j: int) -> list[str]:
        if is_map(titles[key]):
            return [cell_tag(other.key, i, j) for other in matrices if is_map(other)]
        return [row_tag(other.key, i) for other in matrices]

    def say_all(key: str, i: int, j: int) -> str:
        return say(key, i, j) + (changes.remark(key, i, j) if changes is not None else "")

    grid = Grid(lights, say_all)
    left, top = LABEL_COLUMNS, HEADER_ROWS if any(map(is_map, matrices)) else HEADER_ROWS - 1
    for i, token in enumerate(queries):
        grid.text(seen(token), LABEL_COLUMNS - 1, top + i, "row")
    grid.text("queries ↓", LABEL_COLUMNS - 1, top - 1, "row")
    for matrix in matrices:
        grid.text(matrix.title, left, 0, "title", matrix.tone)
        if is_map(matrix):
            for j, token in enumerate(keys):
                grid.text(seen(token), left + j, top - 1, "column")
        grid.matrix(matrix, left, top, numbered=numbered)
        left += max(matrix.shape[1] + 1, title_columns(matrix.title))
    grid.text(POINT_AT if numbered else POINT_AT_CELL, 0, grid.height, "hint")
    return grid.table()
