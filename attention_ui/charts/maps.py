"""Matrices side by side, one row for each query: token × token maps and what hangs on them."""

from collections.abc import Sequence

import pyarrow as pa

from attention_core.captions import name, number, seen
from attention_ui.charts.grid import POINT_AT, Grid, Matrix, cell_tag, row_tag

LABEL_COLUMNS = 2
HEADER_ROWS = 3


def maps_columns(widths: Sequence[int]) -> int:
    """Columns of the grid that matrices of these widths need."""
    return LABEL_COLUMNS + sum(widths) + len(widths) - 1


def maps_table(matrices: Sequence[Matrix], queries: Sequence[str], keys: Sequence[str]) -> pa.Table:
    """The matrices in a row. Those as wide as there are keys get the keys' names above their columns."""
    titles = {matrix.key: matrix for matrix in matrices}
    rows, columns = ([name(tuple(tokens), i) for i in range(len(tokens))] for tokens in (queries, keys))

    def is_map(matrix: Matrix) -> bool:
        return matrix.shape == (len(queries), len(keys))

    def say(key: str, i: int, j: int) -> str:
        matrix = titles[key]
        what = f"{rows[i]} → {columns[j]}" if is_map(matrix) else f"{rows[i]}, {j + 1}"
        if matrix.visible is not None and not matrix.visible[i][j]:
            return f"{matrix.title}, {what}: masked"
        return f"{matrix.title}, {what}: {number(matrix.values[i][j], 3)}"

    def lights(key: str, i: int, j: int) -> list[str]:
        if is_map(titles[key]):
            return [cell_tag(other.key, i, j) for other in matrices if is_map(other)]
        return [row_tag(other.key, i) for other in matrices]

    grid = Grid(lights, say)
    left = LABEL_COLUMNS
    for i, token in enumerate(queries):
        grid.text(seen(token), LABEL_COLUMNS - 1, HEADER_ROWS + i, "row")
    grid.text("queries ↓", LABEL_COLUMNS - 1, HEADER_ROWS - 1, "row")
    for matrix in matrices:
        grid.text(matrix.title, left, 0, "title", matrix.tone)
        if is_map(matrix):
            for j, token in enumerate(keys):
                grid.text(seen(token), left + j, HEADER_ROWS - 1, "column")
        grid.matrix(matrix, left, HEADER_ROWS)
        left += matrix.shape[1] + 1
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()
