"""Lesson: how do scores become weights?"""

import streamlit as st

from attention_ui.choices import asking_token, beginning_temperature
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.steps import FACTOR, LABEL_COLUMNS, SHIFT, softmax_chart, softmax_table
from attention_ui.lesson import covered, own_template, pick_chart, picked_with, show_caption
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.example import unedited
from lessons.formulas import stage_formula
from lessons.sheets import derivation_with, softmax_sheets
from lessons.single_lessons import shift_caption, softmax_row, temperature_caption

opening("softmax")
trace = current_trace()
head = head_choice(trace)
attention, tokens = trace.heads.select(head), trace.tokens
st.latex(stage_formula("weights", trace))
with st.container(horizontal=True):
    query, begin = asking_token(trace), beginning_temperature()

plain = softmax_row(attention, query)
caption = temperature_caption(tokens, softmax_row(attention, query, factor=1 / begin), begin)
show_caption("softmax", caption)
chart = own_template(softmax_chart, LABEL_COLUMNS + len(plain.keys), round(10 * begin))
tables = {"cells": softmax_table(tokens, plain, softmax_row(unedited(trace).heads.select(head), query))}
picked_cell = pick_chart("softmax_figure", "From scores to weights", chart, tables, alt=caption, lesson="softmax")
shifted, doubled = softmax_row(attention, query, shift=SHIFT), softmax_row(attention, query, factor=FACTOR)
show_caption("softmax", shift_caption(plain, shifted, doubled, SHIFT, FACTOR))

temperature = picked_with("softmax_figure", "heat", begin)
row = softmax_row(attention, query, factor=1 / temperature)
added = softmax_row(attention, query, factor=1 / temperature, shift=SHIFT)
multiplied = softmax_row(attention, query, factor=FACTOR / temperature)
changed = {"added": (f"+ {SHIFT:g}", added), "multiplied": (f"· {FACTOR:g}", multiplied)}
derivation = derivation_with(trace, head, attention)
if not covered("softmax"):
    sheets_panel(softmax_sheets(derivation, query, row, temperature, changed), picked_cell, first="weights")

predict("softmax", trace, head, cover=True)
code_panel(attention, trace.scale, softmax_row, formula=stage_formula("weights", trace))
next_and_previous("softmax")
