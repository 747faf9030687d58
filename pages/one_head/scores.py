"""Lesson: why divide by √d_k?"""

import streamlit as st

from attention_core.attention import scale_scores
from attention_core.captions import scaling_caption
from attention_core.measures import D_K_MEASURED, MEASURES, measure_scaling, scaling_story
from attention_ui.charts.curves import curve_chart, curves_table
from attention_ui.charts.template import template
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.lesson import show_chart
from attention_ui.quiz import predict

KEYS, DRAWS = 16, 400

opening("scores")
trace = current_trace()
head = head_choice(trace)
attention = trace.heads.select(head)
d_k = st.select_slider("d_k", D_K_MEASURED, 64, key="measured_d_k", bind="query-params")
measured = measure_scaling(KEYS, DRAWS, trace.example.seed)
story = scaling_story(measured, d_k)
st.text(f"{story} ({DRAWS} random queries with {KEYS} keys each.)")
table = curves_table(measured, d_k)
for row in (MEASURES[:2], MEASURES[2:]):
    for column, measure in zip(st.columns(2), row, strict=True):
        with column:
            chart = template(curve_chart, measure, 380, 170)
            show_chart(f"curve_{measure}", "A measure over d_k", chart, {"curves": table}, alt=story)
st.text(f"In the running example: {scaling_caption(trace, attention)}")

predict("scores", trace, head)
code_panel(attention, trace.scale, scale_scores, measure_scaling)
next_and_previous("scores")
