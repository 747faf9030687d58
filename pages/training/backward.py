"""Lesson: how does it learn from a mistake?"""

from attention_ui.controls.backward import backward_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.backward import lesson as backward

page = open_lesson(backward, heads=False, own_tokens=True)
page.show(backward_choices())
