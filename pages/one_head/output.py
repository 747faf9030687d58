"""Lesson: what comes out?"""

from attention_ui.controls.choices import view_and_query
from attention_ui.page.lesson_page import open_lesson
from lessons.output import lesson as output

page = open_lesson(output)
page.show(output.Choices(*view_and_query("of", page.example, of_all=("all",))))
