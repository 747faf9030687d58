"""Lesson: is this what PyTorch computes?"""

from attention_core.pytorch_parity import compare_with_pytorch, copy_to_pytorch, one_mask_for_both
from attention_ui.choices import chosen_mask
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.figures.differences import differences_chart, differences_table
from attention_ui.figures.template import template
from attention_ui.lesson import covered, pick_chart, show_caption, show_chart
from attention_ui.parity_controls import (
    chosen_cases,
    chosen_comparison,
    copied_panel,
    heads_of_lesson,
    predict_parity,
)
from attention_ui.parity_view import parity_figure, show_differences, show_levels, trace_parity
from lessons.parity import three_levels
from lessons.parity_captions import cases_caption, levels_caption

opening("pytorch")
trace = heads_of_lesson(current_trace(own_sizes=True, own_mask=True))
view = chosen_comparison()
may_attend = chosen_mask(len(trace.tokens))
parity = compare_with_pytorch(trace.tokens, trace.x, may_attend, trace.module)

if view == "cases":
    cases = chosen_cases()
    caption = cases_caption(cases)
    show_caption("pytorch", caption)
    chart, table = template(differences_chart, 760, 200), differences_table([case.difference for case in cases])
    show_chart("cases_figure", "How far apart random cases are", chart, {"bars": table}, alt=caption, lesson="pytorch")
elif view == "levels":
    levels = three_levels(parity)
    show_caption("pytorch", levels_caption(levels))
    if not covered("pytorch"):
        show_levels(levels)
else:
    table, chart, caption = parity_figure(parity, view)
    if view in ("module", "fused") and not covered("pytorch"):
        show_differences(parity)
    show_caption("pytorch", caption)
    tables, name = {"cells": table}, "Ours beside PyTorch's"
    picked = pick_chart("parity_figure", name, chart, tables, alt=caption, lesson="pytorch", given=("mask",))
    trace_parity(parity, view, picked)
    copied_panel(parity)

predict_parity(parity, trace)
attention = parity.trace.heads.select(0)
code_panel(attention, attention.q.shape[-1] ** -0.5, copy_to_pytorch, compare_with_pytorch, one_mask_for_both)
next_and_previous("pytorch")
