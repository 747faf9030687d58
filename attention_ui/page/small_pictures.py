"""The pictures of the first page beside the real model: a small one, one row carried through, and all matrices."""

from attention_ui.controls.look import carried_choices, look_choices
from attention_ui.page.lesson_page import show_lesson
from lessons.start.overview import matrices_view as overview
from lessons.start.overview import row_view as carried
from lessons.start.overview import sentence_view as look


def show_small_picture(picture: str) -> None:
    """The whole page."""
    if picture == "sentence":
        show_lesson(look, look_choices, address="home")
    elif picture == "row":
        show_lesson(carried, carried_choices, address="home")
    else:
        show_lesson(overview, address="home")
