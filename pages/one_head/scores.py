"""Lesson: why divide by √d_k?"""

import math

import streamlit as st

from attention_core.attention import attend, scale_scores
from attention_core.masks import causal_mask
from attention_core.measures import D_K_MEASURED, MEASURES, measure_head, measure_scaling
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.grid import Matrix
from attention_ui.figures.maps import maps_columns, maps_table
from attention_ui.figures.scaling import TITLES, curve_chart, curves_table
from attention_ui.figures.template import template
from attention_ui.lesson import covered, grid_template, offer_numbers, pick_chart, show_caption, show_chart, show_rows
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.changes import division_changes
from lessons.formulas import stage_formula
from lessons.measures_captions import own_scaling_caption, scaling_caption
from lessons.sheets import derivation_with, division_sheets

KEYS, DRAWS = 16, 200

opening("scores")
trace = current_trace()
head = head_choice(trace)
attention, tokens, n = trace.heads.select(head), trace.tokens, len(trace.tokens)
d_k = st.select_slider("d_k", D_K_MEASURED, 64, key="measured_d_k", bind="query-params")
measured = measure_scaling(KEYS, DRAWS, trace.example.seed)
story = scaling_caption(measured, d_k)
show_caption("scores", f"{story} ({DRAWS} random queries with {KEYS} keys each.)")
table = curves_table(measured, d_k)
for column, measures in zip(st.columns(2), (MEASURES[::2], MEASURES[1::2]), strict=True):
    with column:
        for measure in measures:
            chart = template(curve_chart, measure, 380, 170)
            show_chart(f"curve_{measure}", "A measure over d_k", chart, {"curves": table}, alt=story, lesson="scores")
offer_numbers("curves", table, "scores")

st.subheader("The running example", anchor=False)
may_attend = causal_mask(n) if trace.example.causal else None
q, k, v = attention.q, attention.k, attention.v
plain, divided = (attend(q, k, v, may_attend, scale=s) for s in (1.0, 1 / math.sqrt(q.shape[-1])))
own, own_divided = measure_head(plain), measure_head(divided)
caption = own_scaling_caption(own, own_divided, q.shape[-1])
show_caption("scores", caption)
visible = plain.visible.tolist()
maps = [
    Matrix("scores", "scores", plain.masked.tolist(), visible=visible),
    Matrix("scaled", "÷ √d_k", divided.masked.tolist(), visible=visible),
    Matrix("plain", "weights of the scores", plain.weights.tolist(), "weight", "weight", visible),
    Matrix("divided", "weights ÷ √d_k", divided.weights.tolist(), "weight", "weight", visible),
]
tables = {"cells": maps_table(maps, tokens, tokens, division_changes(trace, head))}
chart = grid_template(maps_columns([n] * len(maps)))
picked_cell = pick_chart(
    "scores_figure", "Scores with and without the division", chart, tables, alt=caption, lesson="scores"
)
ways = (("as they are", own), ("÷ √d_k", own_divided))
undone, done = derivation_with(trace, head, plain, "1"), derivation_with(trace, head, divided, f"√{q.shape[-1]}")
if not covered("scores"):
    show_rows([{"scores": way} | {TITLES[m]: round(getattr(one, m), 3) for m in MEASURES} for way, one in ways])
    sheets_panel(division_sheets(undone, done), picked_cell, first="divided")

predict("scores", trace, head, cover=True)
formula = stage_formula("scaled", trace)
code_panel(attention, trace.scale, scale_scores, measure_scaling, formula=formula)
next_and_previous("scores")
