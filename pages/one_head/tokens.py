"""Lesson: what goes in?"""

from attention_ui.choices import words_to_look_up
from attention_ui.lesson_page import open_lesson
from lessons import tokens

page = open_lesson(tokens, heads=False)
page.show(tokens.Choices(words_to_look_up()))
