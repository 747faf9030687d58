"""Lesson: why queries, keys and values?"""

from functools import partial

from attention_ui.controls.choices import chosen_in
from attention_ui.controls.editing import editing_panel
from attention_ui.page.lesson_page import open_lesson
from lessons.projections import lesson as projections

page = open_lesson(projections)
choices = chosen_in(projections.Choices, page.example)
page.show(choices, beside=partial(editing_panel, page.example, page.head, choices.role))
