"""The attention of every head at many moments of a run: a slider in the browser moves through time.

All frames travel in one table; which of them is seen is decided by the slider, without asking the server.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pyarrow as pa

from attention_core.attention import AttentionTrace
from attention_ui.figures.cells import cell_layers, coloured_cells, ink, layer, made_of_cells, name_layers
from attention_ui.figures.grid import Grid, Matrix, cell_text
from attention_ui.figures.heads import map_place, name_maps
from attention_ui.figures.layers import alt_layer
from lessons.captions import name
from lessons.watching import head_name

MOST_FRAMES = 40
ALWAYS = -1  # the frame number of what is seen in every frame
COLUMNS = ("place", "gx", "gy", "kind", "tone", "ink", "v", "text", "say")


def frame_steps(steps: Sequence[int], most: int = MOST_FRAMES) -> list[int]:
    """At most so many of the recorded steps, evenly spread, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


def replay_table(
    tokens: tuple[str, ...],
    frames: Sequence[tuple[AttentionTrace, ...]],
    said: Sequence[str],
    *,
    numbered: bool = True,
) -> pa.Table:
    """The maps of every frame, a trace for each layer, and the sentence said below each frame."""
    if not frames or len(frames) != len(said):
        raise ValueError(f"a replay needs a sentence for each frame, but got {len(frames)} frames, {len(said)} said")
    cells, still = still_grid(tokens, frames[0]).table().select(COLUMNS), len(said)
    kinds = cells["kind"].to_pylist()
    moving = np.isin(kinds, ["weight", "masked", "shape"])
    tables = [with_frames(cells.filter(pa.array(~moving)), ALWAYS, 1)]
    tables.append(with_frames(pa.concat_tables([cells.filter(pa.array(moving))] * still), 0, still))
    table = pa.concat_tables(tables).unify_dictionaries()
    return with_numbers(table, frames, said, numbered)


def with_frames(table: pa.Table, first: int, count: int) -> pa.Table:
    """The table, made of `count` equal parts, with the number of its frame in every row."""
    return table.append_column(
        "frame", pa.array(np.repeat(np.arange(first, first + count), len(table) // count), pa.int16())
    )


def with_numbers(
    table: pa.Table, frames: Sequence[tuple[AttentionTrace, ...]], said: Sequence[str], numbered: bool
) -> pa.Table:
    """The table with the weights of every frame in its cells, and its sentence."""
    kinds, at = np.array(table["kind"].to_pylist()), np.array(table["frame"])
    visible = np.concatenate([trace.visible.flatten().numpy() for trace in frames[0]])
    weights = [np.concatenate([trace.weights.flatten().numpy() for trace in frame])[visible] for frame in frames]
    v, text = np.full(len(table), np.nan, np.float32), np.array(table["text"].to_pylist(), object)
    is_weight, is_said = kinds == "weight", (kinds == "shape") & (at >= 0)
    v[is_weight] = np.concatenate(weights)
    if numbered:
        text[is_weight] = [cell_text(value) for value in v[is_weight].tolist()]
    text[is_said] = list(said)
    place = table.schema.get_field_index
    table = table.set_column(place("v"), "v", pa.array(v, from_pandas=True))
    return table.set_column(place("text"), "text", pa.array(text, pa.string()).dictionary_encode())


def still_grid(tokens: tuple[str, ...], layers: tuple[AttentionTrace, ...]) -> Grid:
    """One frame: names, cells, and the place of the sentence."""
    names, n = [name(tokens, i) for i in range(len(tokens))], len(tokens)

    def say(key: str, i: int, j: int) -> str:
        number, head = map(int, key.split("."))
        return f"{head_name(number, head)}: {names[i]} → {names[j]}"

    grid = Grid(lambda key, i, j: (), say)
    n_layers, n_heads = len(layers), layers[0].weights.shape[0]
    name_maps(grid, tokens, n_layers, n_heads)
    for number, trace in enumerate(layers):
        for head, (weights, visible) in enumerate(zip(trace.weights.tolist(), trace.visible.tolist(), strict=True)):
            matrix = Matrix(f"{number}.{head}", "", weights, "weight", "weight", visible)
            grid.matrix(matrix, *map_place(n, n_layers, n_heads, number, head), numbered=False)
    grid.text("", 1, grid.height, "shape", "ink")
    return grid


def replay_chart(n_frames: int) -> alt.LayerChart:
    """The template for so many frames; it opens at the last one."""
    bind = alt.binding_range(min=0, max=n_frames - 1, step=1, name="moment ")
    moment = alt.param(name="moment", value=n_frames - 1, bind=bind)
    now = f"datum.frame === {ALWAYS} || datum.frame === moment"
    weight = alt.Tooltip("v:Q", title="weight", format=".3f")
    pointed = layer("weight").mark_rect(fillOpacity=0).encode(tooltip=[alt.Tooltip("say:N", title=" "), weight])
    sentence = (
        layer("shape")
        .mark_text(aria=False, fontSize=13, align="left", dx=alt.ExprRef("-cell / 2"))
        .encode(ink(), text="text:N")
    )
    titles, _, *names = name_layers()
    parts = [*cell_layers(coloured_cells()), titles, *names, sentence, pointed]
    return made_of_cells(alt_layer(), *(part.transform_filter(now) for part in parts)).add_params(moment)
