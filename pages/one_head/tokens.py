"""Lesson: what goes in?"""

import streamlit as st

from attention_core.embeddings import embed
from attention_core.tokens import tokenize
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.figures.embedding import embedding_columns, embedding_table
from attention_ui.lesson import covered, grid_template, pick_chart, show_caption, show_rows
from attention_ui.quiz import predict
from attention_ui.trace_panel import trace_panel
from lessons.captions import tokens_caption
from lessons.formulas import stage_formula
from lessons.single_lessons import look_up, lookup_caption

opening("tokens")
trace = current_trace()
st.latex(stage_formula("x", trace))
caption = tokens_caption(trace)
show_caption("tokens", caption)
chart = grid_template(embedding_columns(trace))
picked_cell = pick_chart(
    "tokens_figure",
    "Tokens, ids and rows",
    chart,
    {"cells": embedding_table(trace)},
    alt=caption,
    lesson="tokens",
    given=("table",),
)
if not covered("tokens"):
    trace_panel(trace, 0, picked_cell)

asked = st.text_input("A word the table may not know", "dog", key="stranger", bind="query-params", max_chars=100)
lookup = look_up(trace, asked)
st.text(lookup_caption(lookup))
found = zip(lookup.tokens, lookup.ids, lookup.rows.tolist(), strict=True)
show_rows([{"token": token, "row": i, "its numbers": [round(x, 2) for x in row]} for token, i, row in found])

predict("tokens", trace, 0, cover=True)
code_panel(trace.heads.select(0), trace.scale, tokenize, embed, formula=stage_formula("x", trace))
next_and_previous("tokens")
