"""The pictures of the lesson on PyTorch: ours beside theirs, the averaged weights, one mask in two meanings."""

from collections.abc import Sequence

import pyarrow as pa
import streamlit as st

from attention_core.heads import merge_heads
from attention_core.pytorch_parity import Parity, one_mask_for_both
from attention_ui.code_panel import show_source
from attention_ui.figures.grid import Matrix
from attention_ui.figures.side_by_side import Block, same_cell
from attention_ui.fitting import fitted_blocks
from attention_ui.lesson import covered
from attention_ui.trace_panel import sheets_panel
from lessons.captions import magnitude
from lessons.heads_example import shown_features
from lessons.parity import Level
from lessons.parity_captions import averaged_caption, difference_caption, level_note, meanings_caption
from lessons.parity_sheets import averaged_sheets, output_sheets

TITLES = {"module": "nn.MultiheadAttention", "fused": "scaled_dot_product_attention"}
MOST_MAP_COLUMNS = 30  # of the heads that are shown beside their average


def show_differences(parity: Parity) -> None:
    """The two largest differences, in large type."""
    module, fused = st.columns(2)
    module.metric("Largest difference from nn.MultiheadAttention", magnitude(parity.module_difference))
    fused.metric("and from F.scaled_dot_product_attention", magnitude(parity.fused_difference))


def parity_figure(parity: Parity, view: str) -> tuple[pa.Table, dict, str]:
    """The table, the template and the caption of one comparison."""
    if view == "weights":
        blocks, caption = averaged_blocks(parity), averaged_caption(parity)
    elif view == "meanings":
        two = one_mask_for_both(parity)
        blocks, caption = meanings_blocks(parity, two), meanings_caption(two, 0, parity.tokens)
    else:
        blocks, caption = difference_blocks(parity, view), difference_caption(parity, view)
    return *fitted_blocks(blocks, same_cell(blocks)), caption


def trace_parity(parity: Parity, view: str, picked: tuple[str, int, int] | None) -> None:
    """The arithmetic of the numbers of a comparison; what a mask means is told by the figure alone."""
    if view == "meanings" or covered("pytorch"):
        return
    if view == "weights":
        sheets, first = averaged_sheets(parity, shown_maps(parity)), "map0"
    else:
        shown = shown_features(parity.trace.output.shape[-1], parity.ours.n_heads)
        sheets, first = output_sheets(parity, view, TITLES[view], shown), "theirs"
    sheets_panel(sheets, picked, first)


def difference_blocks(parity: Parity, view: str) -> list[Block]:
    """Ours, theirs and the difference, feature by feature; of very wide outputs some features of each head."""
    if view == "module":
        ours, theirs = parity.trace.output, parity.module
    else:
        ours, theirs = parity.trace.concatenated, merge_heads(parity.fused)
    shown = shown_features(ours.shape[-1], parity.ours.n_heads)
    named = {
        "ours": ("ours", ours, "v"),
        "theirs": (TITLES[view], theirs, "v"),
        "gap": ("difference", theirs - ours, "ink"),
    }
    return [
        Block(Matrix(key, title, values[:, shown].tolist(), tone=tone), parity.tokens, named=key == "ours")
        for key, (title, values, tone) in named.items()
    ]


def averaged_blocks(parity: Parity) -> list[Block]:
    """The weights of the first heads, and the average of all that PyTorch reports."""
    n_heads, visible = len(parity.per_head), parity.may_attend.tolist()
    maps = {f"head {head + 1}": parity.per_head[head] for head in range(shown_maps(parity))}
    maps[f"average of {n_heads}"] = parity.averaged
    return [
        map_block(parity, f"map{place}", title, values.tolist(), visible, named=place == 0)
        for place, (title, values) in enumerate(maps.items())
    ]


def shown_maps(parity: Parity) -> int:
    """How many heads are shown beside their average."""
    return min(len(parity.per_head), max(1, MOST_MAP_COLUMNS // len(parity.tokens)), 4)


def meanings_blocks(parity: Parity, two) -> list[Block]:
    """The mask, and the weights of head 1 that each function makes of it."""
    mask = two.mask
    return [
        map_block(parity, "mask", "mask: 1 is True", mask.float().tolist(), None, named=True),
        map_block(parity, "blocked", "nn.MultiheadAttention", two.blocked[0].tolist(), (~mask).tolist()),
        map_block(parity, "kept", "scaled_dot_product_attention", two.kept[0].tolist(), mask.tolist()),
    ]


def map_block(parity: Parity, key: str, title: str, values: list, visible: list | None, named: bool = False) -> Block:
    """A map of tokens on tokens."""
    return Block(Matrix(key, title, values, "weight", "weight", visible), parity.tokens, parity.tokens, named)


def show_levels(levels: Sequence[Level]) -> None:
    """The three ways side by side, each with its lines, its time, its error and its source."""
    for column, level in zip(st.columns(len(levels)), levels, strict=True):
        with column:
            st.subheader(level.title, anchor=False)
            st.text(level_note(level))
            show_source(*level.functions)
