"""A matrix product drawn where it happens: left factor at the left, right factor above, the product where they meet."""

from dataclasses import replace

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, POINT_AT_CELL, Grid, Matrix, cell_tag, column_tag, row_tag
from lessons.captions import name, number, seen
from lessons.changes import Changes
from lessons.old_arithmetic import products

LABEL_COLUMNS = 2
HEADER_ROWS = 2
HINT_ROWS = 1


def product_size(n_tokens: int, inner: int, outer: int) -> tuple[int, int]:
    """Columns and rows of the grid that the product needs."""
    return LABEL_COLUMNS + inner + 1 + outer, 2 * HEADER_ROWS + inner + n_tokens + HINT_ROWS


def product_table(
    left: Matrix,
    right: Matrix,
    product: Matrix,
    tokens: tuple[str, ...],
    changes: Changes,
    *,
    numbered: bool = True,
) -> pa.Table:
    """left @ right = product; the rows of left and product belong to tokens. What was changed by hand is marked."""
    inner = left.shape[1]

    def say(key: str, i: int, j: int) -> str:
        if key == product.key:
            terms = products(list(left.values[i]), [row[j] for row in right.values])
            return f"{product.title} of {name(tokens, i)}, feature {j + 1} = {terms} = {number(product.values[i][j])}"
        matrix = left if key == left.key else right
        who = f"of {name(tokens, i)}, feature {j + 1}" if key == left.key else f"row {i + 1}, column {j + 1}"
        return f"{matrix.title} {who} = {number(matrix.values[i][j])}"

    def lights(key: str, i: int, j: int) -> list[str]:
        if key == product.key:
            return [cell_tag(key, i, j), row_tag(left.key, i), column_tag(right.key, j)]
        return [cell_tag(key, i, j), row_tag(product.key, i) if key == left.key else column_tag(product.key, j)]

    grid = Grid(lights, lambda key, i, j: say(key, i, j) + changes.remark(key, i, j))
    meet_x, meet_y = LABEL_COLUMNS + inner + 1, HEADER_ROWS + inner + HEADER_ROWS
    places = {left.key: (LABEL_COLUMNS, meet_y), right.key: (meet_x, HEADER_ROWS), product.key: (meet_x, meet_y)}
    for matrix in (left, right, product):
        x, y = places[matrix.key]
        grid.matrix(replace(matrix, changed=changes.marked(matrix.key)), x, y, numbered=numbered)
        grid.text(matrix.title, x, y - 2, "title", matrix.tone)
        grid.text("×".join(map(str, matrix.shape)), x, y - 1, "shape")
    for i, token in enumerate(tokens):
        grid.text(seen(token), LABEL_COLUMNS - 1, meet_y + i, "row")
    grid.text(POINT_AT if numbered else POINT_AT_CELL, 0, grid.height, "hint")
    return grid.table()
