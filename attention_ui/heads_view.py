"""The pictures of the lesson on heads: what is drawn at each step, what it shows, and the functions that ran."""

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import streamlit as st

from attention_core.attention import attend
from attention_core.heads import MultiHeadAttention, SlicedHeads, drop_weights, merge_heads, split_heads
from attention_ui.figures import flow
from attention_ui.fitting import fitted_below_controls
from attention_ui.lesson import covered, grid_template, pick_chart, show_caption, show_chart
from attention_ui.many_heads import SMALL_MAPS
from attention_ui.trace_panel import sheets_panel
from lessons.heads_example import HeadsTrace, SideBySide, dropped_out, reach_of_heads, total_variation
from lessons.many_heads_captions import difference_caption, dropout_caption, reach_caption, way_caption
from lessons.many_heads_sheets import HeadsArithmetic, dropout_sheets, weight_sheets
from lessons.sheets import Sheets

RAN: dict[str, tuple[Callable, ...]] = {
    "project": (MultiHeadAttention.project,),
    "split": (MultiHeadAttention.project, split_heads),
    "attend": (MultiHeadAttention.forward, total_variation),
    "concatenate": (MultiHeadAttention.forward, merge_heads),
    "output": (MultiHeadAttention.forward,),
    "slices": (MultiHeadAttention.project, SlicedHeads.project),
    "dropout": (drop_weights,),
}
SMALL_WIDTH, LARGE_WIDTH = 585, 325  # pixels


class Picture(NamedTuple):
    """A figure of one step: its template, its table, the sentence about it, and where its numbers come from."""

    chart: dict
    table: pa.Table
    caption: str
    sheets: Sheets
    first: str = ""


def functions_of(trace: SideBySide, step: str) -> tuple[Callable, ...]:
    """What ran at this step. Queries, keys and values that were drawn have no module to run."""
    return RAN[step] if step != "attend" or isinstance(trace, HeadsTrace) else (attend, total_variation)


def show_step(trace: SideBySide, step: str, role: str, head: int) -> None:
    """Draw one step with its caption, and the arithmetic of its numbers."""
    if step == "attend":
        show_all_heads(trace, head)
        return
    makers = {"slices": reach_picture, "dropout": dropout_picture}
    picture = makers[step](trace, head) if step in makers else way_picture(trace, step, role)
    show_caption("heads", picture.caption)
    tables = {"cells": picture.table}
    name = "A step of multi-head attention"
    if not picture.sheets:
        show_chart("way_figure", name, picture.chart, tables, alt=picture.caption, lesson="heads")
        return
    picked = pick_chart("way_figure", name, picture.chart, tables, alt=picture.caption, lesson="heads", given=("x",))
    if not covered("heads"):
        sheets_panel(picture.sheets, picked, picture.first)


def show_all_heads(trace: SideBySide, head: int) -> None:
    """A small map for each head, where there are several, and one of them large."""
    caption = difference_caption(trace)
    show_caption("heads", caption)
    all_heads, one_head = st.columns([3, 2]) if trace.n_heads > 1 else (None, st.container())
    if all_heads is not None:
        small = grid_template(flow.all_heads_columns(trace), SMALL_WIDTH, numbered=False)
        with all_heads:
            table = flow.all_heads_table(trace, head)
            pick_chart(SMALL_MAPS, "The weights of all heads", small, {"cells": table}, alt=caption, lesson="heads")
    with one_head:
        large = grid_template(flow.one_head_columns(trace), LARGE_WIDTH)
        table = flow.one_head_table(trace, head)
        picked = pick_chart("head_figure", "One head", large, {"cells": table}, alt=caption, lesson="heads")
    if not covered("heads"):
        sheets_panel(weight_sheets(trace), picked, first=f"map.{head}")


def way_picture(trace: HeadsTrace, step: str, role: str) -> Picture:
    """Before and after one step of the way; without numbers where they would not fit the screen."""
    blocks = flow.flow_blocks(trace, step, role)
    chart, numbered = fitted_below_controls(flow.flow_columns(blocks), flow.flow_rows(blocks))
    arithmetic, sheets = HeadsArithmetic.of(trace), {}
    for block in blocks:
        key = block.matrix.key
        sheets[key] = arithmetic.sheet(key, block.matrix.title, block.features)
    table = flow.flow_table(trace, blocks, step, numbered=numbered)
    return Picture(chart, table, way_caption(step, trace), sheets, first=key)


def reach_picture(trace: HeadsTrace, head: int) -> Picture:
    """What projecting and sliced heads can see."""
    reach = reach_of_heads(trace)
    return Picture(grid_template(flow.reach_columns(reach)), flow.reach_table(reach), reach_caption(reach), {})


def dropout_picture(trace: SideBySide, head: int) -> Picture:
    """The weights of one head at rest and in training."""
    dropped = dropped_out(trace)
    chart, _ = fitted_below_controls(flow.dropout_columns(trace), flow.dropout_rows(trace))
    table, caption = flow.dropout_table(trace, dropped, head), dropout_caption(trace, dropped, head)
    return Picture(chart, table, caption, dropout_sheets(trace, dropped, head), first=f"training.{head}")
