"""The pictures of the lesson on order: what is shuffled, what is added or turned, and likeness over distance."""

import pyarrow as pa

from attention_core.embeddings import rotate, rotation_angles
from attention_core.permutation import (
    PositionKind,
    Projections,
    Shuffle,
    Similarity,
    added_positions,
    similarity_of_query_and_key,
    similarity_of_rows,
)
from attention_ui.figures.grid import Matrix
from attention_ui.figures.side_by_side import (
    Block,
    moved_cell,
    same_cell,
    shuffle_blocks,
)
from attention_ui.fitting import fitted_blocks
from lessons.captions import name
from lessons.example import ExampleTrace
from lessons.order_captions import added_caption, rotation_caption, similarity_caption


def shuffle_figure(trace: ExampleTrace, shuffled: Shuffle, what: str) -> tuple[pa.Table, dict]:
    """The table and the template for output or weights in both orders."""
    return fitted_blocks(shuffle_blocks(trace.tokens, shuffled, what), moved_cell(shuffled.permutation, what))


def position_figure(trace: ExampleTrace, maps: Projections, kind: PositionKind) -> tuple[pa.Table, dict, str]:
    """The table, the template and the caption for what positions add to X, or how they turn queries and keys."""
    x, tokens, seed = trace.x, trace.tokens, trace.example.seed
    if kind == "rotary":
        q, k, angles = x @ maps.W_q, x @ maps.W_k, rotation_angles(len(tokens), maps.W_q.shape[-1])
        turned = {
            "q": ("Q", q, "q"), "angle": ("angles (radians)", angles, "ink"), "q_turned": ("Q turned", rotate(q), "q"),
            "k": ("K", k, "k"), "k_turned": ("K turned", rotate(k), "k"),
        }  # fmt: skip
        caption = rotation_caption(tokens, q, rotate(q), angles)
    else:
        added = added_positions(kind, *x.shape, seed)
        turned = {"x": ("X", x, "ink")}
        if kind != "none":
            turned |= {"p": (f"+ {kind}", added, "weight"), "sum": ("= what goes in", x + added, "ink")}
        caption = added_caption(kind, x, added, seed)
    blocks = [
        Block(Matrix(key, title, values.tolist(), tone=tone), tokens, named=place == 0)
        for place, (key, (title, values, tone)) in enumerate(turned.items())
    ]
    return *fitted_blocks(blocks, same_cell(blocks)), caption


def similarity_figure(trace: ExampleTrace, maps: Projections, kind: PositionKind, place: int) -> tuple[Similarity, str]:
    """Likeness over distance: of the rows that are added, or of one token's query and key set at every place."""
    if kind in ("none", "rotary"):
        row = trace.x[place]
        similarity = similarity_of_query_and_key(kind, row @ maps.W_q, row @ maps.W_k)
    else:
        similarity = similarity_of_rows(kind, trace.x.shape[-1], trace.example.seed)
    return similarity, similarity_caption(similarity, name(trace.tokens, place))
