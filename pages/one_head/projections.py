"""Lesson: why queries, keys and values?"""

from attention_ui.controls.editing import editing_panel
from attention_ui.controls.projections import OF_MANY, chosen_in_projections
from attention_ui.page.lesson_page import open_lesson
from lessons.one_head.projections import lesson as projections

page = open_lesson(projections)
with page.room.controls:
    choices, trace, head = chosen_in_projections(page.trace, page.head)
    page = page.about(trace, head)
    if choices.role != OF_MANY:
        editing_panel(page.trace, page.head, choices.role)
page.show(choices)
