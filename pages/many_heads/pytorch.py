"""Lesson: is this what PyTorch computes?"""

from attention_ui.controls.pytorch import comparison_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.pytorch import lesson as pytorch

page = open_lesson(pytorch, heads=False, own_sizes=True, own_mask=True)
page.show(comparison_choices(page.example))
