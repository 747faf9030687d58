"""Lesson: what comes out?"""

import streamlit as st

from attention_core.attention import mix_values
from attention_core.captions import output_caption
from attention_core.lessons import contribution_caption, contributions
from attention_ui.charts.chain import chain_columns, chain_table
from attention_ui.charts.grid import Matrix
from attention_ui.charts.maps import maps_columns, maps_table
from attention_ui.choices import asking_token, picked
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.formulas import stage_formula
from attention_ui.lesson import grid_template, pick_chart
from attention_ui.quiz import predict
from attention_ui.trace_panel import trace_panel

opening("output")
trace = current_trace()
head = head_choice(trace)
tokens, attention = trace.tokens, trace.heads.select(head)
n, d_v = attention.output.shape
st.latex(stage_formula("output", trace))
view = picked("of")

query = asking_token(trace) if view != "all" else n - 1
parts = contributions(attention, query)
visible = attention.visible.tolist()
if view == "one":
    table, columns = chain_table(tokens, attention, query, ("q", "k", "v")), chain_columns(trace.example.d_k, d_v)
elif view == "all":
    maps = [
        Matrix("weights", "weights", attention.weights.tolist(), "weight", "weight", visible),
        Matrix("output", "output", attention.output.tolist(), tone="v"),
    ]
    table, columns = maps_table(maps, tokens, tokens), maps_columns([n, d_v])
else:
    shown = [[may] for may in visible[query]]
    maps = [
        Matrix("weight", "weight", parts.weights[:, None].tolist(), "weight", "weight", shown),
        Matrix("length", "× length", parts.value_lengths[:, None].tolist(), tone="v"),
        Matrix("share", "share", parts.shares[:, None].tolist(), "weight", "v", shown),
    ]
    table, columns = maps_table(maps, tokens, ("",) * 2 * n), maps_columns([3, 3, 3])
caption = contribution_caption(tokens, parts) if view == "parts" else output_caption(tokens, attention, query)
st.text(caption)
chart = grid_template(columns)
picked_cell = pick_chart("output_figure", "The weighted sum of the values", chart, {"cells": table}, alt=caption)
trace_panel(trace, head, picked_cell)

predict("output", trace, head)
code_panel(attention, trace.scale, mix_values)
next_and_previous("output")
