"""Lesson: what do today's models change?"""

from attention_ui.controls.variants import variant_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.variants import lesson as variants

page = open_lesson(variants)
page.show(variant_choices(page.example))
