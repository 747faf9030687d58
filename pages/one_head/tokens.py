"""Lesson: what goes in?"""

from attention_ui.controls.choices import words_to_look_up
from attention_ui.page.lesson_page import open_lesson
from lessons.tokens import lesson as tokens

page = open_lesson(tokens, heads=False)
page.show(tokens.Choices(words_to_look_up()))
