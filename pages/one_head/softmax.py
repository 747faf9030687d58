"""Lesson: how do scores become weights?"""

import streamlit as st

from attention_core.lessons import shift_caption, softmax_caption, softmax_row
from attention_ui.charts.steps import LABEL_COLUMNS, softmax_table
from attention_ui.choices import asking_token
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.formulas import stage_formula
from attention_ui.lesson import grid_template, show_chart
from attention_ui.quiz import predict

opening("softmax")
trace = current_trace()
head = head_choice(trace)
attention, tokens = trace.heads.select(head), trace.tokens
st.latex(stage_formula("weights", trace))
asker, cooler = st.columns(2)
with asker:
    query = asking_token(trace)
with cooler:
    heat = st.slider("Temperature: divide the scores by", 0.1, 5.0, 1.0, 0.1, key="temperature", bind="query-params")

row = softmax_row(attention, query, factor=1 / heat)
caption = softmax_caption(tokens, row)
st.text(caption)
chart = grid_template(LABEL_COLUMNS + len(row.keys))
show_chart("softmax_figure", "From scores to weights", chart, {"cells": softmax_table(tokens, row)}, alt=caption)

plain = softmax_row(attention, query)
shifted, doubled = softmax_row(attention, query, shift=5.0), softmax_row(attention, query, factor=2.0)
st.text(shift_caption(plain, shifted, doubled, 5.0, 2.0))

predict("softmax", trace, head)
code_panel(attention, trace.scale, softmax_row)
next_and_previous("softmax")
