"""Rows of numbers below each other, a column for each key: the stations of one query's row."""

from collections.abc import Sequence

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, Grid, Matrix, cell_tag
from lessons.captions import name, number, seen

LABEL_COLUMNS = 5


def rows_columns(n_keys: int) -> int:
    """Columns of the grid that the rows need."""
    return LABEL_COLUMNS + n_keys


def rows_table(rows: Sequence[Matrix], keys: tuple[str, ...]) -> pa.Table:
    """Matrices of one row each, with their titles at the left and the keys' names above."""
    titles = {row.key: row for row in rows}

    def say(key: str, i: int, j: int) -> str:
        row = titles[key]
        if row.visible is not None and not row.visible[i][j]:
            return f"{row.title}, {name(keys, j)}: masked"
        return f"{row.title}, {name(keys, j)}: {number(row.values[i][j], 3)}"

    def lights(key: str, i: int, j: int) -> list[str]:
        before = list(titles)[: list(titles).index(key) + 1]
        return [cell_tag(other, 0, j) for other in before]

    grid = Grid(lights, say)
    for j, token in enumerate(keys):
        grid.text(seen(token), LABEL_COLUMNS + j, 1, "column")
    for line, row in enumerate(rows):
        grid.text(row.title, LABEL_COLUMNS - 1, 2 + 2 * line, "row", "ink")
        grid.matrix(row, LABEL_COLUMNS, 2 + 2 * line)
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()


def blind_rows(scores: Sequence[float], large: float, nan: Sequence[float], even: Sequence[float]) -> list[Matrix]:
    """A query that may see nothing, hidden in two ways: scores, and what the softmax makes of each."""
    hidden = [[False] * len(scores)]
    return [
        Matrix("scores", "scores", [scores]),
        Matrix("infinity", "hidden with −∞", [scores], visible=hidden),
        Matrix("nan", "softmax", [nan], "weight", "weight"),
        Matrix("number", "hidden with −1e9", [[large] * len(scores)]),
        Matrix("even", "softmax", [even], "weight", "weight"),
    ]
