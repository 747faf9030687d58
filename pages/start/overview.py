"""Overview: a head at work on one sentence; one row of it carried through; and all matrices in one linked picture."""

from attention_ui.controls.look import carried_choices, chosen_picture, look_choices
from attention_ui.page.lesson_page import show_lesson
from lessons.overview import matrices_view as overview
from lessons.overview import row_view as carried
from lessons.overview import sentence_view as look

picture = chosen_picture()
if picture == "sentence":
    show_lesson(look, look_choices, address="home", controls_below=True)
elif picture == "row":
    show_lesson(carried, carried_choices, address="home")
else:
    show_lesson(overview, address="home")
