"""Lesson: what goes in?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.tokens import lesson as tokens

show_lesson(tokens, heads=False)
