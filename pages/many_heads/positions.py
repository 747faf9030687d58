"""Lesson: does attention know the order?"""

from attention_core.permutation import attend_with_positions, measure_residual, shuffle
from attention_ui.choices import asking_token
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.distance import distance_chart, distance_table
from attention_ui.figures.template import template
from attention_ui.lesson import covered, pick_chart, show_caption, show_chart, show_rows
from attention_ui.order_controls import chosen_order, chosen_positions, chosen_view, mask_of, residuals_of
from attention_ui.order_view import position_figure, shuffle_figure, similarity_figure
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.old_arithmetic import divisor_of
from lessons.order_captions import leak_caption, residual_rows, shuffle_caption
from lessons.order_sheets import PlacedHead, position_sheets, shuffle_sheets
from lessons.single_lessons import head_projections

opening("positions")
trace = current_trace(own_mask=True)
head = head_choice(trace)
maps, seed, n = head_projections(trace, head), trace.example.seed, len(trace.tokens)
view = chosen_view()
kind, causal = chosen_positions(maps.W_q.shape[-1])
order = chosen_order(trace)

shuffled = shuffle(trace.x, maps, order, kind, seed, mask_of(causal, n))
caption = shuffle_caption(trace.tokens, shuffled, measure_residual(trace.x, maps, order, kind, seed, causal))
if view == "distance":
    place = asking_token(trace) if kind in ("none", "rotary") else n - 1
    similarity, caption = similarity_figure(trace, maps, kind, place)
    show_caption("positions", caption)
    chart = template(distance_chart, 760, 250)
    tables = {"distances": distance_table(similarity)}
    show_chart("distance_figure", "Likeness over distance", chart, tables, alt=caption, lesson="positions")
else:
    if view == "rows":
        table, chart, caption = position_figure(trace, maps, kind)
    else:
        table, chart = shuffle_figure(trace, shuffled, view)
    show_caption("positions", caption)
    tables, name = {"cells": table}, "Shuffled tokens, and positions"
    picked = pick_chart("positions_figure", name, chart, tables, alt=caption, lesson="positions", given=("x",))
    if not covered("positions"):
        placed = PlacedHead(trace.tokens, trace.x, maps, kind, seed)
        by_order = shuffle_sheets(placed, shuffled, view, divisor_of(trace))
        sheets = position_sheets(placed) if view == "rows" else by_order
        sheets_panel(sheets, picked, first=next(iter(sheets)))

residuals = residuals_of(trace.example, head, order)
show_caption("positions", f"The largest difference that this shuffle leaves, for every way. {leak_caption(residuals)}")
if not covered("positions"):
    show_rows(residual_rows(residuals), 420)

predict("positions", trace, head, cover=True)
code_panel(shuffled.plain, trace.scale, attend_with_positions, shuffle)
next_and_previous("positions")
