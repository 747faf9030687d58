"""Lesson: does attention know the order?"""

from attention_ui.controls.positions import position_choices
from attention_ui.page.lesson_page import show_lesson
from lessons.model.positions import lesson as positions

show_lesson(positions, position_choices, own_mask=True)
