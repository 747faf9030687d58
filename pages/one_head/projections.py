"""Lesson: why queries, keys and values?"""

import streamlit as st

from attention_core.attention import dot_product_scores
from attention_ui.choices import stepped
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.editing import beside_the_tables, editing_panel
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.grid import Matrix
from attention_ui.figures.maps import maps_columns, maps_rows, maps_table
from attention_ui.figures.product import product_size, product_table
from attention_ui.lesson import covered, fitted_template, pick_chart, show_caption
from attention_ui.quiz import predict
from attention_ui.trace_panel import trace_panel
from lessons.changes import changed_by_edits, changes_caption
from lessons.example import projection_of, run_example
from lessons.formulas import stage_formula
from lessons.single_lessons import asymmetry_caption

opening("projections")
trace = current_trace()
head = head_choice(trace)
attention, tokens, n = trace.heads.select(head), trace.tokens, len(trace.tokens)
st.latex(stage_formula("qkv", trace))
view = stepped("role")
changes = changed_by_edits(trace, head)

if view == "mirror":
    columns, rows = maps_columns([n, n]), maps_rows(n)
    chart, numbered = fitted_template(columns, rows)
    plain = dot_product_scores(trace.x, trace.x)
    maps = [Matrix("xx", "X Xᵀ", plain.tolist()), Matrix("scores", "Q Kᵀ", attention.scores.tolist())]
    table = maps_table(maps, tokens, tokens, changes, numbered=numbered)
else:
    weight, result = projection_of(trace, view, head), getattr(attention, view)
    columns, rows = product_size(n, *weight.shape)
    chart, numbered = fitted_template(columns, rows)
    x = Matrix("x", "X", trace.x.tolist())
    W = Matrix(f"W_{view}", f"W_{view}", weight.tolist(), tone=view)
    product = Matrix(view, view.upper(), result.tolist(), tone=view)
    table = product_table(x, W, product, tokens, changes, numbered=numbered)
caption = asymmetry_caption(trace, head)
show_caption("projections", caption)
figure, tables = beside_the_tables(chart, columns)
with figure:
    picked_cell = pick_chart(
        "projections_figure",
        "Projections",
        chart,
        {"cells": table},
        alt=caption,
        lesson="projections",
        given=("x", "W_q", "W_k", "W_v"),
    )
with tables:
    editing_panel(trace, head, view)
if trace.example.edits:
    show_caption("projections", changes_caption(changes))
if not covered("projections"):
    trace_panel(trace, head, picked_cell)

predict("projections", trace, head, cover=True)
code_panel(attention, trace.scale, run_example)
next_and_previous("projections")
