"""Lesson: what comes out?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.one_head.output import lesson as output

show_lesson(output, columns=(3, 2))
