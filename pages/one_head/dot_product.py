"""Lesson: can tokens attend without learned parameters?"""

from attention_ui.controls.choices import view_and_query
from attention_ui.page.lesson_page import open_lesson
from lessons.dot_product import lesson as dot_product

page = open_lesson(dot_product, heads=False)
page.show(dot_product.Choices(*view_and_query("view", page.example, of_all=("all", "equal"), masked=False)))
