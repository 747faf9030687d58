"""Lesson: who may look at whom?"""

from attention_ui.page.lesson_page import show_lesson
from lessons.one_head.mask import lesson as mask

show_lesson(mask, own_mask=True)
