"""Lesson: why divide by √d_k?"""

from attention_ui.controls.choices import measured_d_k
from attention_ui.page.lesson_page import open_lesson
from lessons.scores import lesson as scores

page = open_lesson(scores, controls_below=True)
page.show(scores.Choices(measured_d_k()))
