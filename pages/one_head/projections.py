"""Lesson: why queries, keys and values?"""

from attention_ui.controls.projections import chosen_in_projections
from attention_ui.page.lesson_page import open_lesson
from lessons.one_head.projections import lesson as projections

page = open_lesson(projections)
with page.room.controls:
    choices, trace, head = chosen_in_projections(page.trace, page.head)
page.about(trace, head).show(choices)
