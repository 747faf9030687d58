"""The attention of every head of every layer on one text: a row of maps for each layer."""

from collections.abc import Sequence

import pyarrow as pa
from jaxtyping import Bool
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_ui.figures.grid import SMALLEST_CELL, Grid, Matrix, cell_tag, row_tag
from lessons.captions import name
from lessons.formatting import number, seen
from lessons.watching import head_name

MOST_NUMBERED_COLUMNS = 12
HEADER_ROWS = 2  # the name of the head, and the characters that answer


def heads_size(n_tokens: int, n_layers: int, n_heads: int) -> int:
    """Columns of the grid that so many heads need."""
    return 1 + maps_in_a_row(n_layers, n_heads) * (n_tokens + 1)


def numbers_fit(n_tokens: int, n_layers: int, n_heads: int, width: int) -> bool:
    """True where so many heads fit a width with a number in every cell."""
    columns = heads_size(n_tokens, n_layers, n_heads)
    return n_tokens <= MOST_NUMBERED_COLUMNS and columns * SMALLEST_CELL <= width


def maps_in_a_row(n_layers: int, n_heads: int) -> int:
    """The heads of one layer; where each layer has a single head, all layers."""
    return n_heads if n_heads > 1 else n_layers


def map_place(n_tokens: int, n_layers: int, n_heads: int, layer: int, head: int) -> tuple[int, int]:
    """The left and the top of one head's map on the grid."""
    line, place = divmod(layer * n_heads + head, maps_in_a_row(n_layers, n_heads))
    return 1 + place * (n_tokens + 1), HEADER_ROWS + line * (n_tokens + HEADER_ROWS)


def name_maps(grid: Grid, tokens: tuple[str, ...], n_layers: int, n_heads: int) -> None:
    """The names of heads, rows and columns, where the maps will be."""
    labels, n = [seen(token) for token in tokens], len(tokens)
    for layer in range(n_layers):
        for head in range(n_heads):
            left, top = map_place(n, n_layers, n_heads, layer, head)
            grid.text(head_name(layer, head), left, top - HEADER_ROWS, "title", "weight")
            grid.column_names(labels, left, top - 1)
            for i, label in enumerate(labels if left == 1 else ()):
                grid.text(label, 0, top + i, "row")


def heads_table(
    tokens: tuple[str, ...],
    layers: Sequence[AttentionTrace],
    targets: Bool[Tensor, "queries keys"] | None = None,
    *,
    numbered: bool = True,
) -> pa.Table:
    """All weights of all heads; rows ask, columns answer. The cells where a perfect head attends carry a mark."""
    n = len(tokens)
    names = [name(tokens, i) for i in range(n)]
    wanted = None if targets is None else targets.tolist()
    weights = [layer.weights.tolist() for layer in layers]
    visible = [layer.visible.tolist() for layer in layers]

    def say(key: str, i: int, j: int) -> str:
        layer, head = map(int, key.split("."))
        pair = f"{head_name(layer, head)}: {names[i]} → {names[j]}"
        if not visible[layer][head][i][j]:
            return f"{pair}: masked"
        return f"{pair}: weight {number(weights[layer][head][i][j], 3)}"

    grid = Grid(lambda key, i, j: (row_tag(key, i), cell_tag(key, i, j)), say)
    n_layers, n_heads = len(layers), len(weights[0])
    name_maps(grid, tokens, n_layers, n_heads)
    for layer, heads in enumerate(weights):
        for head, values in enumerate(heads):
            matrix = Matrix(f"{layer}.{head}", "", values, "weight", "weight", visible[layer][head], changed=wanted)
            grid.matrix(matrix, *map_place(n, n_layers, n_heads, layer, head), numbered=numbered)
    grid.text("rows ask (queries), columns answer (keys)", 0, grid.height, "hint")
    return grid.table()
