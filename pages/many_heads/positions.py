"""Lesson: does attention know the order?"""

from attention_ui.controls.positions import position_choices
from attention_ui.lesson_page import open_lesson
from lessons import positions

page = open_lesson(positions, own_mask=True)
page.show(position_choices(page.example))
