"""Overview: a head at work on one sentence; and what happens in it, in one linked picture."""

from attention_ui.choices import chosen_stage
from attention_ui.controls.look import chosen_picture, look_choices
from attention_ui.lesson_page import open_lesson
from lessons import look, overview

if chosen_picture() == "sentence":
    page = open_lesson(look, address="home", controls_below=True)
    page.show(look_choices(page.example))
else:
    page = open_lesson(overview, address="home")
    page.show(overview.Choices(chosen_stage()))
