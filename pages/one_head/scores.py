"""Lesson: why divide by √d_k?"""

from attention_ui.choices import measured_d_k
from attention_ui.lesson_page import open_lesson
from lessons import scores

page = open_lesson(scores, controls_below=True)
page.show(scores.Choices(measured_d_k()))
