"""Lesson: why divide by √d_k?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.one_head.scores import lesson as scores

show_lesson(scores)
