"""The attention of every head of every layer on one text: a row of maps for each layer."""

import pyarrow as pa

from attention_core.captions import name, number, seen
from attention_core.watching import Watched, head_name
from attention_ui.charts.grid import Grid, Matrix, cell_tag, row_tag

MOST_NUMBERED_COLUMNS = 12
HEADER_ROWS = 2  # the name of the head, and the characters that answer


def heads_size(n_tokens: int, n_heads: int) -> int:
    """Columns of the grid that so many heads need."""
    return 1 + n_heads * (n_tokens + 1)


def heads_table(watched: Watched) -> pa.Table:
    """All weights of all heads; rows ask, columns answer."""
    tokens = watched.tokens
    n = len(tokens)
    names = [name(tokens, i) for i in range(n)]
    labels = [seen(token) for token in tokens]
    weights = [layer.weights.tolist() for layer in watched.layers]
    visible = [layer.visible.tolist() for layer in watched.layers]

    def say(key: str, i: int, j: int) -> str:
        layer, head = map(int, key.split("."))
        pair = f"{head_name(layer, head)}: {names[i]} → {names[j]}"
        if not visible[layer][head][i][j]:
            return f"{pair}: masked"
        return f"{pair}: weight {number(weights[layer][head][i][j], 3)}"

    grid = Grid(lambda key, i, j: (row_tag(key, i), cell_tag(key, i, j)), say)
    for layer, heads in enumerate(weights):
        top = HEADER_ROWS + layer * (n + HEADER_ROWS)
        for i, label in enumerate(labels):
            grid.text(label, 0, top + i, "row")
        for head, values in enumerate(heads):
            left = 1 + head * (n + 1)
            grid.text(head_name(layer, head), left, top - HEADER_ROWS, "title", "weight")
            for j, label in enumerate(labels):
                grid.text(label, left + j, top - 1, "column")
            matrix = Matrix(f"{layer}.{head}", "", values, "weight", "weight", visible[layer][head])
            grid.matrix(matrix, left, top, numbered=n <= MOST_NUMBERED_COLUMNS)
    grid.text("rows ask (queries), columns answer (keys)", 0, grid.height, "hint")
    return grid.table()
