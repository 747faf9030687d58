"""Lesson: what do today's models change?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.today.variants import lesson as variants

show_lesson(variants)
