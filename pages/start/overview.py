"""Overview: what happens in attention, in one linked picture."""

import streamlit as st

from attention_core.attention import attend
from attention_ui.choices import STEPS
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.pipeline import pipeline_size, pipeline_table
from attention_ui.lesson import fitted_template, pick_chart, stepper
from attention_ui.trace_panel import trace_panel
from lessons.captions import STAGES, stage_caption
from lessons.changes import changed_by_edits, changes_caption
from lessons.formulas import stage_formula

opening("home")
trace = current_trace()
stage = stepper("step", STAGES, STEPS)
head = head_choice(trace)

st.latex(stage_formula(stage, trace))
caption = stage_caption(stage, trace, head)
st.text(caption)
chart, numbered = fitted_template(*pipeline_size(trace))
tables = {"cells": pipeline_table(trace, head, stage, numbered=numbered)}
picked = pick_chart("pipeline", "All matrices of one attention head", chart, tables, alt=caption)
if trace.example.edits:
    st.text(changes_caption(changed_by_edits(trace, head)))
trace_panel(trace, head, picked)

code_panel(trace.heads.select(head), trace.scale, attend)
next_and_previous("home")
