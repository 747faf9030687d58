"""Lesson: what comes out?"""

import streamlit as st

from attention_core.attention import mix_values
from attention_ui.choices import asking_token, stepped
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.chain import chain_columns, chain_rows, chain_table
from attention_ui.figures.grid import Matrix
from attention_ui.figures.maps import maps_columns, maps_rows, maps_table
from attention_ui.lesson import covered, grid_template, pick_chart, show_caption
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.captions import output_caption
from lessons.changes import output_changes
from lessons.formulas import stage_formula
from lessons.sheets import chain_sheets, derivation_with, map_sheets, part_sheets
from lessons.single_lessons import contribution_caption, contributions

opening("output")
trace = current_trace()
head = head_choice(trace)
tokens, attention = trace.tokens, trace.heads.select(head)
n, d_v = attention.output.shape
st.latex(stage_formula("output", trace))
steps, asker = st.columns([3, 2], vertical_alignment="bottom")
with steps:
    view = stepped("of")
with asker:
    query = asking_token(trace) if view != "all" else n - 1
parts, changes = contributions(attention, query), output_changes(trace, head, query)
derivation = derivation_with(trace, head, attention)
visible = attention.visible.tolist()
if view == "one":
    table = chain_table(tokens, attention, query, ("q", "k", "v"), changes)
    columns, sheets = chain_columns(trace.example.d_k, d_v), chain_sheets(derivation, query)
elif view == "all":
    maps = [
        Matrix("weights", "weights", attention.weights.tolist(), "weight", "weight", visible),
        Matrix("output", "output", attention.output.tolist(), tone="v"),
    ]
    table, columns = maps_table(maps, tokens, tokens, changes), maps_columns([n, d_v])
    sheets = map_sheets(derivation, {matrix.key: matrix.title for matrix in maps})
else:
    shown = [[may] for may in visible[query]]
    maps = [
        Matrix("weight", "weight", parts.weights[:, None].tolist(), "weight", "weight", shown),
        Matrix("length", "× length", parts.value_lengths[:, None].tolist(), tone="v"),
        Matrix("share", "share", parts.shares[:, None].tolist(), "weight", "v", shown),
    ]
    table, columns = maps_table(maps, tokens, ("",) * 2 * n, changes), maps_columns([3, 3, 3])
    sheets = part_sheets(derivation, query, parts)
caption = contribution_caption(tokens, parts) if view == "parts" else output_caption(tokens, attention, query)
show_caption("output", caption)
chart = grid_template(columns, rows=chain_rows(n + 1) if view == "one" else maps_rows(n))
picked_cell = pick_chart(
    "output_figure",
    "The weighted sum of the values",
    chart,
    {"cells": table},
    alt=caption,
    lesson="output",
    given=("asker", "k", "score", "weight", "v", "weights"),
)
if not covered("output"):
    sheets_panel(sheets, picked_cell, first="weights" if view == "all" else "weight")

predict("output", trace, head, cover=True)
code_panel(attention, trace.scale, mix_values, formula=stage_formula("output", trace))
next_and_previous("output")
