"""Lesson: how do scores become weights?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.one_head.softmax import lesson as softmax

show_lesson(softmax, columns=(1, 1))
