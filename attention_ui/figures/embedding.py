"""Tokens, their ids, and the rows of the embedding table that they fetch: a word that comes twice has one row."""

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, Grid, Matrix, cell_tag, row_tag
from lessons.captions import name, number, seen
from lessons.example import ExampleTrace

LABEL_COLUMNS = 2
HEADER_ROWS = 2


def embedding_columns(trace: ExampleTrace) -> int:
    """Columns of the grid that the figure needs."""
    return 2 * LABEL_COLUMNS + 2 * trace.x.shape[-1] + 4


def embedding_table(trace: ExampleTrace) -> pa.Table:
    """Left: each token of the text with its id and its row of X. Right: the table, one row for each different token."""
    ids, x = trace.ids, trace.x.tolist()
    first = {token_id: place for place, token_id in reversed(list(enumerate(ids)))}
    rows = sorted(first)
    table = [x[first[token_id]] for token_id in rows]
    line_of = {token_id: line for line, token_id in enumerate(rows)}

    def say(key: str, i: int, j: int) -> str:
        if key == "table":
            return f"row {rows[i]} of the table, “{seen(trace.tokens[first[rows[i]]])}”: {number(table[i][j])}"
        return f"x of {name(trace.tokens, i)}, feature {j + 1}: row {ids[i]} of the table, {number(x[i][j])}"

    def lights(key: str, i: int, j: int) -> list[str]:
        token_id = rows[i] if key == "table" else ids[i]
        places = [place for place, other in enumerate(ids) if other == token_id]
        return [
            cell_tag(key, i, j),
            row_tag("table", line_of[token_id]),
            *(row_tag("x", place) for place in places),
        ]

    grid = Grid(lights, say)
    left, middle = LABEL_COLUMNS, LABEL_COLUMNS + 2
    right = middle + len(x[0]) + 1 + LABEL_COLUMNS
    for i, (token, token_id) in enumerate(zip(trace.tokens, ids, strict=True)):
        grid.text(seen(token), LABEL_COLUMNS - 1, HEADER_ROWS + i, "row")
        grid.text(str(token_id), left, HEADER_ROWS + i, "shape", "ink")
    for line, token_id in enumerate(rows):
        grid.text(f"{token_id}  {seen(trace.tokens[first[token_id]])}", right - 1, HEADER_ROWS + line, "row")
    for title, place in (("id", left), ("X", middle), ("their rows of the embedding table", right)):
        grid.text(title, place, 0, "title", "ink")
    grid.text("×".join(map(str, trace.x.shape)), middle, 1, "shape")
    grid.matrix(Matrix("x", "X", x), middle, HEADER_ROWS)
    grid.matrix(Matrix("table", "table", table), right, HEADER_ROWS)
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()
