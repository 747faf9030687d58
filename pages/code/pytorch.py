"""Lesson: is this what PyTorch computes?"""

from attention_ui.controls.pytorch import comparison_choices
from attention_ui.page.lesson_page import show_lesson
from lessons.code.pytorch import lesson as pytorch

show_lesson(pytorch, comparison_choices, heads=False, own_sizes=True, own_mask=True)
