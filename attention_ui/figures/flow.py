"""Tensors on their way through several heads: before and after, with their shapes; a feature lights up in both."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_ui.figures.grid import POINT_AT, POINT_AT_CELL, Grid, Matrix, cell_tag, column_tag, row_tag
from lessons.captions import name
from lessons.formatting import number, seen
from lessons.heads_example import MOST_FEATURES, HeadsTrace, Reach, SideBySide, home_of, shown_features

LABEL_COLUMNS = 2
HEADER_ROWS = 2  # title and shape
MAP_HEADER_ROWS = 3  # title, shape and slanted names
FEW = 8  # features of a wide matrix, where four matrices stand side by side
MOST_COLUMNS = 42  # of a band; what comes after goes below
TONES = {"q": "q", "k": "k", "v": "v", "heads": "v", "concatenated": "v"}


@dataclass(frozen=True)
class Block:
    """One matrix of a figure, with its shape in words and the true numbers of its columns."""

    matrix: Matrix
    shape: str
    features: tuple[int, ...]


def flow_blocks(trace: HeadsTrace, step: str, role: str) -> list[Block]:
    """The matrices before and after one step: project, split, concatenate or output."""
    if step == "project":
        return [whole(trace, key, key.upper(), FEW) for key in ("x", "q", "k", "v")]
    if step == "split":
        return [whole(trace, role, role.upper()), *parts(trace, role, getattr(trace.heads, role))]
    if step == "concatenate":
        return [*parts(trace, "heads", trace.heads.output), whole(trace, "concatenated", "concatenated")]
    made = "output = concatenated · W_o" + (" + bias" if trace.example.bias else "")
    return [whole(trace, "concatenated", "concatenated", FEW), map_of_output(trace), whole(trace, "output", made, FEW)]


def whole(trace: HeadsTrace, key: str, title: str, most: int = MOST_FEATURES) -> Block:
    """A matrix with the features of all heads, or with about `most` of them where they are many."""
    tensor = getattr(trace, key)
    features = shown_features(tensor.shape[-1], trace.n_heads, most)
    matrix = Matrix(key, title, tensor[:, features].tolist(), tone=TONES.get(key, "ink"))
    return Block(matrix, shape_text(tensor.shape, len(features)), tuple(features))


def map_of_output(trace: HeadsTrace) -> Block:
    """W_o as it stands between the two: a row for each feature of the heads, a column for each number it makes."""
    d_model = trace.output.shape[-1]
    features = shown_features(d_model, trace.n_heads, FEW)
    drawn = trace.module.W_o.weight.detach().T[features][:, features]
    shown = f", {len(features)}×{len(features)} shown" if len(features) < d_model else ""
    return Block(Matrix("w_o", "W_o", drawn.tolist()), f"{d_model}×{d_model}{shown}", tuple(features))


def parts(trace: HeadsTrace, role: str, tensor: Tensor) -> list[Block]:
    """The same features as a matrix for each head."""
    each = len(shown_features(trace.q.shape[-1], trace.n_heads)) // trace.n_heads
    return [
        Block(
            Matrix(f"{role}.{head}", f"head {head + 1}", tensor[head, :, :each].tolist(), tone=TONES[role]),
            shape_text(tensor.shape[1:], each),
            tuple(range(head * trace.d_head, head * trace.d_head + each)),
        )
        for head in range(trace.n_heads)
    ]


def shape_text(shape: Sequence[int], shown: int) -> str:
    """Rows × columns, and how many of the columns are drawn if not all."""
    return f"{shape[0]}×{shape[1]}" + (f", {shown} shown" if shown < shape[1] else "")


def bands(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks in rows that fit the page. A product, whose blocks differ in height, stays in one row."""
    rows, width, product = [[]], LABEL_COLUMNS, len({block.matrix.shape[0] for block in blocks}) > 1
    for block in blocks:
        if rows[-1] and not product and width + len(block.features) > MOST_COLUMNS:
            rows, width = [*rows, []], LABEL_COLUMNS
        rows[-1].append(block)
        width += room(block)
    return rows


def room(block: Block) -> int:
    """The columns that a block takes, with the gap after it; a narrow one needs some for its name."""
    return max(len(block.features), 2) + 1


def flow_columns(blocks: Sequence[Block]) -> int:
    """Columns of the grid that the figure needs."""
    return max(LABEL_COLUMNS + sum(map(room, band)) for band in bands(blocks))


def flow_rows(blocks: Sequence[Block]) -> int:
    """Rows of the grid that the figure needs."""
    return sum(HEADER_ROWS + height(band) for band in bands(blocks)) + len(bands(blocks))


def height(band: Sequence[Block]) -> int:
    """The rows of its highest matrix."""
    return max(block.matrix.shape[0] for block in band)


def flow_table(trace: HeadsTrace, blocks: Sequence[Block], step: str, *, numbered: bool = True) -> pa.Table:
    """The blocks in bands. Pointing at a feature lights it wherever else it stands, before and after."""
    grid = Grid(flow_lights(trace, blocks, step), flow_says(trace, blocks))
    top = HEADER_ROWS
    for band in bands(blocks):
        left = LABEL_COLUMNS
        for i, token in enumerate(trace.tokens):
            grid.text(seen(token), LABEL_COLUMNS - 1, top + i, "row")
        for block in band:
            grid.text(block.matrix.title, left, top - 2, "title", block.matrix.tone)
            grid.text(block.shape, left, top - 1, "shape")
            grid.matrix(block.matrix, left, top, numbered=numbered)
            left += room(block)
        top += height(band) + HEADER_ROWS + 1
    grid.text(POINT_AT if numbered else POINT_AT_CELL, 0, grid.height, "hint")
    return grid.table()


def flow_lights(trace: HeadsTrace, blocks: Sequence[Block], step: str) -> Callable[[str, int, int], list[str]]:
    """What a cell lights: the row it is made from, or the same number on the other side of a split.

    At W_o a number of the output lights a row and a column, whose products it sums; and each of those the other two.
    """
    by_key = {block.matrix.key: block for block in blocks}
    made_from_rows = {"q": "x", "k": "x", "v": "x"}

    def lights(key: str, i: int, j: int) -> list[str]:
        if step in ("split", "concatenate"):
            return list(same_feature(by_key, i, by_key[key].features[j]))
        if step == "output":
            return {
                "concatenated": [cell_tag(key, i, j), row_tag("w_o", j), row_tag("output", i)],
                "w_o": [cell_tag(key, i, j), column_tag("concatenated", i), column_tag("output", j)],
                "output": [cell_tag(key, i, j), row_tag("concatenated", i), column_tag("w_o", j)],
            }[key]
        source = made_from_rows.get(key)
        if source is None:
            return [row_tag(other, i) for other in by_key]
        return [cell_tag(key, i, j), row_tag(source, i)]

    return lights


def same_feature(by_key: dict[str, Block], i: int, feature: int) -> Iterator[str]:
    """The cells of row i that hold this feature."""
    for key, block in by_key.items():
        if feature in block.features:
            yield cell_tag(key, i, block.features.index(feature))


def flow_says(trace: HeadsTrace, blocks: Sequence[Block]) -> Callable[[str, int, int], str]:
    """What a cell says: its number, and in which head its feature lives."""
    by_key = {block.matrix.key: block for block in blocks}
    words = {"x": "X", "q": "query", "k": "key", "v": "value", "heads": "concatenated", "output": "output"}

    def say(key: str, i: int, j: int) -> str:
        block, role = by_key[key], key.split(".")[0]
        feature, value = block.features[j], number(block.matrix.values[i][j], 3)
        if role == "w_o":
            head, place = home_of(block.features[i], trace.d_head)
            return f"W_o: feature {place + 1} of head {head + 1} goes into number {feature + 1} of the output × {value}"
        what = f"{words.get(role, role)} of {name(trace.tokens, i)}, feature {feature + 1}"
        if role in ("x", "output"):
            return f"{what} = {value}"
        head, place = home_of(feature, trace.d_head)
        return f"{what}: feature {place + 1} of head {head + 1} = {value}"

    return say


# All heads side by side, and one of them large.


def all_heads_columns(trace: SideBySide) -> int:
    """Columns of the grid that the small maps need; more where they would else be higher than wide."""
    n, across = len(trace.tokens), maps_in_a_row(trace)
    rows = -(-trace.n_heads // across) * (n + 2)
    return max(1 + min(trace.n_heads, across) * (n + 1), rows * 4 // 3)


def maps_in_a_row(trace: SideBySide) -> int:
    """As many small maps as stay beside the large one."""
    return max(1, min(4, 53 // (len(trace.tokens) + 1)))


def all_heads_table(trace: SideBySide, chosen: int) -> pa.Table:
    """A small map for each head, all with the same colours; the chosen one's name in the colour of weights."""
    n, across = len(trace.tokens), maps_in_a_row(trace)
    keys = [f"map.{head}" for head in range(trace.n_heads)]
    grid = Grid(lambda key, i, j: [cell_tag(other, i, j) for other in keys], weight_says(trace, trace.heads))
    for head in range(trace.n_heads):
        line, place = divmod(head, across)
        left, top = 1 + place * (n + 1), 1 + line * (n + 2)
        mark = " ▸" if head == chosen and trace.n_heads > 1 else ""
        grid.text(f"{head + 1}{mark}", left, top - 1, "title", "weight" if head == chosen else "ink")
        grid.matrix(weights_of(trace.heads, head), left, top, numbered=False)
    hint = "rows ask, columns answer" + (f"; click a {trace.noun} to see it large" if trace.n_heads > 1 else "")
    grid.text(hint, 0, grid.height, "hint")
    return grid.table()


def weights_of(heads: AttentionTrace, head: int, title: str = "", key: str = "map") -> Matrix:
    """The weights of one head."""
    weights, visible = heads.weights[head].tolist(), heads.visible[head].tolist()
    return Matrix(f"{key}.{head}", title, weights, "weight", "weight", visible)


def weight_says(trace: SideBySide, heads: AttentionTrace) -> Callable[[str, int, int], str]:
    """The weight of a cell, and whose it is."""
    names = [name(trace.tokens, place) for place in range(len(trace.tokens))]
    weights, visible = heads.weights.tolist(), heads.visible.tolist()

    def say(key: str, i: int, j: int) -> str:
        head = int(key.split(".")[1])
        pair = f"{trace.noun} {head + 1}: {names[i]} → {names[j]}"
        if not visible[head][i][j]:
            return f"{pair}: masked"
        return f"{pair}: weight {number(weights[head][i][j], 3)}"

    return say


def one_head_columns(trace: SideBySide) -> int:
    """Columns of the grid that the large map needs."""
    return LABEL_COLUMNS + len(trace.tokens)


def one_head_table(trace: SideBySide, head: int) -> pa.Table:
    """One map with its numbers."""
    grid = Grid(lambda key, i, j: [row_tag(key, i)], weight_says(trace, trace.heads))
    name_rows(grid, trace)
    draw_map(grid, trace, weights_of(trace.heads, head, f"{trace.noun} {head + 1}: weights"), LABEL_COLUMNS)
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()


def draw_map(grid: Grid, trace: SideBySide, matrix: Matrix, left: int) -> None:
    """A map with its title and the names of its columns."""
    grid.text(matrix.title, left, 0, "title", matrix.tone)
    for j, token in enumerate(trace.tokens):
        grid.text(seen(token), left + j, MAP_HEADER_ROWS - 1, "column")
    grid.matrix(matrix, left, MAP_HEADER_ROWS)


def name_rows(grid: Grid, trace: SideBySide) -> None:
    """The names of the rows, once, however many maps stand side by side."""
    grid.text("queries ↓", LABEL_COLUMNS - 1, MAP_HEADER_ROWS - 1, "row")
    for i, token in enumerate(trace.tokens):
        grid.text(seen(token), LABEL_COLUMNS - 1, MAP_HEADER_ROWS + i, "row")


# Dropout.


def dropout_columns(trace: SideBySide) -> int:
    """Columns of the grid that two maps and their sums need."""
    return LABEL_COLUMNS + 2 * (len(trace.tokens) + 5)


def dropout_rows(trace: SideBySide) -> int:
    """Rows of the grid that they need."""
    return MAP_HEADER_ROWS + len(trace.tokens) + 1


def dropout_table(trace: SideBySide, dropped: AttentionTrace, head: int) -> pa.Table:
    """The weights of one head at rest and in training, each with the sums of its rows; what was dropped is marked."""
    n, sets = len(trace.tokens), {"rest": trace.heads, "training": dropped}
    says = {key: weight_says(trace, heads) for key, heads in sets.items()}
    sums = {key: heads.weights[head].sum(dim=-1, keepdim=True).tolist() for key, heads in sets.items()}
    gone = ((dropped.weights[head] == 0) & trace.heads.visible[head]).tolist()

    def say(key: str, i: int, j: int) -> str:
        kind, *which = key.split(".")
        if which:
            return says[kind](key, i, j)
        mode = kind.removeprefix("sum_")
        return f"the row of {name(trace.tokens, i)} sums to {number(sums[mode][i][0], 3)}"

    def lights(key: str, i: int, j: int) -> list[str]:
        mode = key.split(".")[0].removeprefix("sum_")
        if key.startswith("sum_"):
            return [cell_tag(key, i, 0), row_tag(f"{mode}.{head}", i)]
        return [cell_tag(f"{other}.{head}", i, j) for other in sets]

    grid, left = Grid(lights, say), LABEL_COLUMNS
    name_rows(grid, trace)
    for mode, title in (("rest", "outside training"), ("training", "in training")):
        marked = gone if mode == "training" else None
        at = weights_of(sets[mode], head, title, mode)
        draw_map(grid, trace, Matrix(at.key, title, at.values, "weight", "weight", at.visible, changed=marked), left)
        grid.text("row sum", left + n + 1, 1, "shape")
        grid.matrix(Matrix(f"sum_{mode}", "", sums[mode], "weight", "ink"), left + n + 1, MAP_HEADER_ROWS)
        left += n + 5
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()


# Projection against slice.


def reach_columns(reach: Reach) -> int:
    """Columns of the grid that both ways need."""
    return LABEL_COLUMNS + 2 * (len(reach.features) + 5)


def reach_table(reach: Reach) -> pa.Table:
    """For projecting and for sliced heads: how much a head changes when a feature does; rows are heads."""
    ways = {"projected": ("each head projects X", reach.projected), "sliced": ("each head has a slice", reach.sliced)}
    n_heads, features = reach.projected.shape
    largest = {f"{key}_outside": reach.outside(changes)[:, None].tolist() for key, (_, changes) in ways.items()}
    values = {key: changes.tolist() for key, (_, changes) in ways.items()} | largest

    def say(key: str, i: int, j: int) -> str:
        value = values[key][i][j]
        if key in largest:
            change = number(value, 4) if value else "exactly 0"
            return f"head {i + 1}: the largest change by a feature outside its slice is {change}"
        change = f"changes by up to {number(value, 4)}" if value else "does not change at all"
        return f"add 1 to feature {reach.features[j] + 1} of every token: the output of head {i + 1} {change}"

    def lights(key: str, i: int, j: int) -> list[str]:
        if key in largest:
            return [row_tag(key.removesuffix("_outside"), i), cell_tag(key, i, j)]
        return [*(column_tag(way, j) for way in ways), row_tag(f"{key}_outside", i)]

    grid, left = Grid(lights, say), LABEL_COLUMNS
    for key, (title, _) in ways.items():
        grid.text(title, left, 0, "title", "v")
        for j, feature in enumerate(reach.features):
            grid.text(str(feature + 1), left + j, 2, "shape")
        grid.text("feature of X", left, 1, "shape")
        grid.matrix(Matrix(key, title, values[key], "weight", "v"), left, 3)
        grid.text("most outside", left + features + 1, 1, "shape")
        grid.matrix(Matrix(f"{key}_outside", "", largest[f"{key}_outside"], "weight", "v"), left + features + 1, 3)
        left += features + 5
    for head in range(n_heads):
        grid.text(f"head {head + 1}", LABEL_COLUMNS - 1, 3 + head, "row")
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()
