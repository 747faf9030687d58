"""Lesson: why queries, keys and values?"""

import streamlit as st

from attention_core.attention import dot_product_scores
from attention_core.examples import run_example
from attention_core.lessons import asymmetry_caption, projection_of
from attention_ui.charts.grid import Matrix
from attention_ui.charts.maps import maps_columns, maps_table
from attention_ui.charts.product import product_columns, product_table
from attention_ui.choices import picked
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.formulas import stage_formula
from attention_ui.lesson import grid_template, pick_chart
from attention_ui.quiz import predict
from attention_ui.trace_panel import trace_panel

opening("projections")
trace = current_trace()
head = head_choice(trace)
attention, tokens, n = trace.heads.select(head), trace.tokens, len(trace.tokens)
st.latex(stage_formula("qkv", trace))
view = picked("role")

if view == "mirror":
    plain = dot_product_scores(trace.x, trace.x)
    maps = [Matrix("xx", "X Xᵀ", plain.tolist()), Matrix("qk", "Q Kᵀ", attention.scores.tolist())]
    table, columns = maps_table(maps, tokens, tokens), maps_columns([n, n])
else:
    weight, result = projection_of(trace, view, head), getattr(attention, view)
    x = Matrix("x", "X", trace.x.tolist())
    table = product_table(
        x,
        Matrix("w", f"W_{view}", weight.tolist(), tone=view),
        Matrix(view, view.upper(), result.tolist(), tone=view),
        tokens,
    )
    columns = product_columns(*weight.shape)
caption = asymmetry_caption(trace, head)
st.text(caption)
chart = grid_template(columns)
picked_cell = pick_chart("projections_figure", "Projections", chart, {"cells": table}, alt=caption)
trace_panel(trace, head, picked_cell)

predict("projections", trace, head)
code_panel(attention, trace.scale, run_example)
next_and_previous("projections")
