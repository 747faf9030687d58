"""Lesson: can tokens attend without learned parameters?"""

import streamlit as st

from attention_core.reference import loops_beside_matrices
from attention_ui.choices import asking_token, stepped
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.figures.chain import chain_columns, chain_rows, chain_table
from attention_ui.figures.grid import Matrix
from attention_ui.figures.maps import maps_columns, maps_rows, maps_table
from attention_ui.lesson import covered, grid_template, pick_chart, show_caption
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.captions import row_caption
from lessons.changes import dot_product_changes
from lessons.reference_captions import loops_caption
from lessons.sheets import chain_sheets, derivation_without_weights, map_sheets, ways_sheets
from lessons.single_lessons import attend_without_weights

opening("dot_product")
trace = current_trace()
tokens, x = trace.tokens, trace.x
n, d_model = x.shape
attention = attend_without_weights(x)
derivation = derivation_without_weights(tokens, attention)
steps, asker = st.columns([3, 2], vertical_alignment="bottom")
with steps:
    view = stepped("view")
with asker:
    query = asking_token(trace) if view == "one" else n - 1
changes = dot_product_changes(trace, query)

if view == "one":
    caption = row_caption(tokens, attention, query)
    table = chain_table(tokens, attention, query, ("x", "x", "x"), changes)
    columns = chain_columns(d_model, d_model)
    sheets = chain_sheets(derivation, query)
    st.latex(r"a_j = \mathrm{softmax}_j(x_i \cdot x_j), \qquad o_i = \textstyle\sum_j a_j x_j")
elif view == "equal":
    beside = loops_beside_matrices(attention, 1.0)
    caption = loops_caption(beside)
    maps = [
        Matrix("loops", "O by loops", beside.loops.tolist()),
        Matrix("matrices", "O by matrices", beside.matrices.tolist()),
        Matrix("gap", "difference", beside.gap.tolist(), tiny=True),
    ]
    table, columns = maps_table(maps, tokens, tokens, changes), maps_columns([d_model] * len(maps))
    sheets = ways_sheets(derivation, beside)
    st.latex(r"o_{ic} = \textstyle\sum_j a_{ij} x_{jc} \ \text{ for each } i, c \qquad O = A X \ \text{ at once}")
else:
    caption = row_caption(tokens, attention, int(attention.weights.max(dim=-1).values.argmax()))
    maps = [
        Matrix("x", "X", x.tolist()),
        Matrix("scores", "X Xᵀ", attention.scores.tolist()),
        Matrix("weights", "softmax of each row", attention.weights.tolist(), "weight", "weight"),
        Matrix("output", "weights × X", attention.output.tolist()),
    ]
    table = maps_table(maps, tokens, tokens, changes)
    columns = maps_columns([d_model, n, n, d_model])
    sheets = map_sheets(derivation, {matrix.key: matrix.title for matrix in maps})
    st.latex(rf"O = \mathrm{{softmax}}(X X^\top)\, X \qquad ({n}\times{n})\cdot({n}\times{d_model})")
show_caption("dot_product", caption)
chart = grid_template(columns, rows=chain_rows(n + 2) if view == "one" else maps_rows(n))
tables, given = {"cells": table}, ("x", "asker", "k", "v")
picked_cell = pick_chart(
    "dot_product_figure", "Attention without weights", chart, tables, alt=caption, lesson="dot_product", given=given
)
if not covered("dot_product"):
    sheets_panel(sheets, picked_cell, first={"one": "weight", "equal": "gap"}.get(view, "weights"))

predict("dot_product", trace, 0, cover=True)
formula = r"o_i = \sum_j \mathrm{softmax}_j(x_i \cdot x_j)\, x_j"
code_panel(attention, 1.0, attend_without_weights, formula=formula)
next_and_previous("dot_product")
