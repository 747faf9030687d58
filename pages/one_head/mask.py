"""Lesson: who may look at whom?"""

import streamlit as st

from attention_core.attention import attend, mask_scores
from attention_core.lessons import blind_caption, blind_row, change_caption, mask_after_softmax, masking_caption
from attention_ui.charts.grid import Matrix
from attention_ui.charts.maps import maps_columns, maps_table
from attention_ui.choices import chosen_mask, picked
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.lesson import grid_template, show_chart
from attention_ui.quiz import predict

opening("mask")
trace = current_trace()
head = head_choice(trace)
attention, tokens, n = trace.heads.select(head), trace.tokens, len(trace.tokens)
may_attend = chosen_mask(n)
view = picked("masking")

q, k, v = attention.q, attention.k, attention.v
free, masked = attend(q, k, v, scale=trace.scale), attend(q, k, v, may_attend, scale=trace.scale)
visible = masked.visible.tolist()
mistake = mask_after_softmax(free, may_attend)
with_mask = Matrix("with", "weights with the mask", masked.weights.tolist(), "weight", "weight", visible)
if view == "change":
    other = Matrix("without", "weights without", free.weights.tolist(), "weight", "weight")
    table, columns = maps_table([other, with_mask], tokens, tokens), maps_columns([n, n])
    caption = change_caption(tokens, free, masked)
else:
    late = Matrix("late", "zeroed after the softmax", mistake.zeroed.tolist(), "weight", "k")
    sums = Matrix("sums", "row sum", mistake.row_sums[:, None].tolist(), "weight", "k")
    table, columns = maps_table([with_mask, late, sums], tokens, tokens), maps_columns([n, n, 2])
    caption = masking_caption(tokens, mistake)
st.text(caption)
chart = grid_template(columns)
show_chart("mask_figure", "Weights with and without a mask", chart, {"cells": table}, alt=caption)
st.text(blind_caption(blind_row(free, n - 1)))

predict("mask", trace, head)
code_panel(masked, trace.scale, mask_scores)
next_and_previous("mask")
