"""Lesson: why several heads?"""

from attention_ui.controls.heads import chosen_in_heads
from attention_ui.page.lesson_page import open_lesson
from lessons.heads import lesson as heads

page = open_lesson(heads, heads=False, own_sizes=True)
page.show(chosen_in_heads(page.example))
