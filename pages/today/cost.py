"""Lesson: what does it cost?"""

from attention_ui.controls.sliding_window import cost_choices
from attention_ui.page.lesson_page import show_lesson
from lessons.today.cost import lesson as cost

show_lesson(cost, cost_choices)
