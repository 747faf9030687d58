"""Overview: a real model reads a sentence; a small one; one row of a head carried through; and all matrices linked."""

from attention_ui.controls.look import carried_choices, chosen_picture, look_choices
from attention_ui.page.first_screen import show_first_screen
from attention_ui.page.lesson_page import show_lesson
from lessons.overview import matrices_view as overview
from lessons.overview import row_view as carried
from lessons.overview import sentence_view as look

picture = chosen_picture()
if picture == "model":
    show_first_screen()
elif picture == "sentence":
    show_lesson(look, look_choices, address="home")
elif picture == "row":
    show_lesson(carried, carried_choices, address="home")
else:
    show_lesson(overview, address="home")
