"""Lesson: who may look at whom?"""

from attention_ui.choices import chosen_mask, stepped
from attention_ui.lesson_page import open_lesson
from lessons import mask

page = open_lesson(mask, own_mask=True)
page.show(mask.Choices(chosen_mask(len(page.example.tokens)), stepped("masking")))
