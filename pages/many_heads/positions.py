"""Lesson: does attention know the order?"""

from attention_ui.controls.positions import position_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.positions import lesson as positions

page = open_lesson(positions, own_mask=True)
page.show(position_choices(page.example))
