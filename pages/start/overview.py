"""Overview: a head at work on one sentence; one row of it carried through; and all matrices in one linked picture."""

from attention_ui.controls.choices import chosen_stage
from attention_ui.controls.look import carried_choices, chosen_picture, look_choices
from attention_ui.page.lesson_page import open_lesson
from lessons.overview import matrices_view as overview
from lessons.overview import row_view as carried
from lessons.overview import sentence_view as look

picture = chosen_picture()
if picture == "sentence":
    page = open_lesson(look, address="home", controls_below=True)
    page.show(look_choices(page.example))
elif picture == "row":
    page = open_lesson(carried, address="home")
    page.show(carried_choices(page.example))
else:
    page = open_lesson(overview, address="home")
    page.show(overview.Choices(chosen_stage()))
