"""Lesson: what goes in?"""

import streamlit as st

from attention_core.captions import tokens_caption
from attention_core.embeddings import embed
from attention_core.tokens import tokenize
from attention_ui.charts.embedding import embedding_columns, embedding_table
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.formulas import stage_formula
from attention_ui.lesson import grid_template, pick_chart
from attention_ui.quiz import predict
from attention_ui.trace_panel import trace_panel

opening("tokens")
trace = current_trace()
st.latex(stage_formula("x", trace))
caption = tokens_caption(trace)
st.text(caption)
chart = grid_template(embedding_columns(trace))
picked_cell = pick_chart("tokens_figure", "Tokens, ids and rows", chart, {"cells": embedding_table(trace)}, alt=caption)
trace_panel(trace, 0, picked_cell)

predict("tokens", trace, 0)
code_panel(trace.heads.select(0), trace.scale, tokenize, embed)
next_and_previous("tokens")
