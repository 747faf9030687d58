"""Lesson: who may look at whom?"""

from attention_ui.choices import chosen_mask, stepped
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace, head_choice
from attention_ui.figures.grid import Matrix
from attention_ui.figures.maps import maps_columns, maps_table
from attention_ui.figures.rows import blind_rows, rows_columns, rows_table
from attention_ui.formulas import mask_formula
from attention_ui.lesson import covered, grid_template, pick_chart, show_caption
from attention_ui.quiz import predict
from attention_ui.trace_panel import sheets_panel
from lessons.changes import masking_changes
from lessons.sheets import blind_sheets, derivation_with, mask_sheets
from lessons.single_lessons import blind_caption, blind_row, change_caption, mask_after_softmax, masking_caption

opening("mask")
trace = current_trace()
head = head_choice(trace)
attention, tokens, n = trace.heads.select(head), trace.tokens, len(trace.tokens)
may_attend = chosen_mask(n)
view = stepped("masking")
changes = masking_changes(trace, head, may_attend)

q, k, v = attention.q, attention.k, attention.v
free, masked = attend(q, k, v, scale=trace.scale), attend(q, k, v, may_attend, scale=trace.scale)
visible, mistake, blind = masked.visible.tolist(), mask_after_softmax(free, may_attend), blind_row(free, n - 1)
without, with_mask = derivation_with(trace, head, free), derivation_with(trace, head, masked)
sheets, first = mask_sheets(without, with_mask, mistake), "with"
before = Matrix("without", "weights without", free.weights.tolist(), "weight", "weight")
after = Matrix("with", "weights with the mask", masked.weights.tolist(), "weight", "weight", visible)
if view == "blind":
    rows = blind_rows(blind.scores, blind.large, blind.with_infinity, blind.with_number)
    table, columns, caption = rows_table(rows, tokens), rows_columns(n), blind_caption(blind)
    sheets, first = blind_sheets(without, n - 1, blind), "even"
elif view == "late":
    late = Matrix("late", "zeroed after the softmax", mistake.zeroed.tolist(), "weight", "k")
    sums = Matrix("sums", "row sum", mistake.row_sums[:, None].tolist(), "weight", "k")
    table, columns = maps_table([after, late, sums], tokens, tokens, changes), maps_columns([n, n, 2])
    caption = masking_caption(tokens, mistake)
else:
    change = Matrix("difference", "difference", (masked.weights - free.weights).tolist())
    maps = [before, after, change] if view == "difference" else [before, after]
    table, columns = maps_table(maps, tokens, tokens, changes), maps_columns([n] * len(maps))
    caption = change_caption(tokens, free, masked)
show_caption("mask", caption)
chart = grid_template(columns)
picked_cell = pick_chart(
    "mask_figure", "Weights with and without a mask", chart, {"cells": table}, alt=caption, lesson="mask"
)
if not covered("mask"):
    sheets_panel(sheets, picked_cell, first)

predict("mask", trace, head, cover=True)
formula = mask_formula(int((~masked.visible).sum()), n * n)
code_panel(masked, trace.scale, mask_scores, formula=formula)
next_and_previous("mask")
