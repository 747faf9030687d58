"""Lesson: what does it cost?"""

from attention_ui.controls.cost import cost_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.cost import lesson as cost

page = open_lesson(cost, heads=True)
page.show(cost_choices(page.example))
