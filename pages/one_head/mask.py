"""Lesson: who may look at whom?"""

from attention_ui.controls.choices import chosen_mask, stepped
from attention_ui.page.lesson_page import open_lesson
from lessons.mask import lesson as mask

page = open_lesson(mask, own_mask=True)
page.show(mask.Choices(chosen_mask(len(page.example.tokens)), stepped("masking")))
