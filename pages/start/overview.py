"""Overview: what happens in attention, in one linked picture."""

import streamlit as st

from attention_core.attention import attend
from attention_core.captions import STAGES, stage_caption
from attention_ui.charts.grid import cell_size, grid_chart
from attention_ui.charts.pipeline import pipeline_table, usual_columns
from attention_ui.charts.template import template
from attention_ui.example import current_trace, head_choice
from attention_ui.formulas import stage_formula
from attention_ui.lesson import code_that_ran, question, show_chart, stepper

FIGURE_WIDTH = 1010
NAMES = {"x": "X", "qkv": "Q K V", "output": "output"} | {stage: stage for stage in STAGES[2:]}

question(
    "What happens in attention, in one picture?",
    "Each token asks with its **query**, every token answers with its **key**, "
    "and the asker takes away a mixture of what the others carry, their **values**.",
)
trace = current_trace()
stage = stepper("step", STAGES, NAMES)
head = head_choice(trace)

st.latex(stage_formula(stage, trace))
caption = stage_caption(stage, trace, head)
st.text(caption)
cell = cell_size(usual_columns(*trace.x.shape), FIGURE_WIDTH)
tables = {"cells": pipeline_table(trace, head, stage)}
show_chart("pipeline", "All matrices of one attention head", template(grid_chart, cell), tables, alt=caption)

code_that_ran(attend)
