"""Lesson: why several heads?"""

from attention_ui.controls.heads import chosen_in_heads
from attention_ui.page.lesson_page import show_lesson
from lessons.model.heads import lesson as heads

show_lesson(heads, chosen_in_heads, heads=False, own_sizes=True)
