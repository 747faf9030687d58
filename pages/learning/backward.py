"""Lesson: how does it learn from a mistake?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.learning.backward import lesson as backward

show_lesson(backward, heads=False, own_tokens=True, in_row=3)
