"""Overview: what happens in attention, in one linked picture."""

from attention_ui.choices import chosen_stage
from attention_ui.lesson_page import open_lesson
from lessons import overview

page = open_lesson(overview, address="home")
page.show(overview.Choices(chosen_stage()))
