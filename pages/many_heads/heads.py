"""Lesson: why several heads?"""

import streamlit as st

from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.heads_view import functions_of, show_step
from attention_ui.lesson import show_caption
from attention_ui.many_heads import (
    chosen_head,
    chosen_role,
    chosen_step,
    heads_controls,
    heads_formula,
    parameter_panel,
    predict_heads,
)
from lessons.heads_example import HeadsTrace, run_heads
from lessons.many_heads_captions import parameter_caption

opening("heads")
trace = run_heads(heads_controls(current_trace(own_sizes=True)))
steps, choice = st.columns([7, 3], vertical_alignment="bottom")
with steps:
    step = chosen_step(trace)
with choice:
    role = chosen_role() if step == "split" else "q"
    head = chosen_head(trace) if step in ("attend", "dropout") else 0

st.latex(heads_formula(trace))
show_step(trace, step, role, head)

if isinstance(trace, HeadsTrace):
    show_caption("heads", parameter_caption(trace))
    parameter_panel(trace.module)
predict_heads(trace, head)
code_panel(trace.heads.select(head), trace.scale, *functions_of(trace, step))
next_and_previous("heads")
