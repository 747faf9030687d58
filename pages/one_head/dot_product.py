"""Lesson: can tokens attend without learned parameters?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.one_head.dot_product import lesson as dot_product

show_lesson(dot_product, heads=False, x_alone=True, columns=(3, 2))
