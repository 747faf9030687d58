"""The page of the lesson on the real model: what it draws with the model, and without."""

from types import ModuleType

from attention_ui.contents import draw_topic
from attention_ui.controls.get_model import get_model_panel, which_model
from attention_ui.controls.read import read_choices
from attention_ui.page.lesson_page import draw_screen, lay_out
from attention_ui.process.head_jobs import jobs_of
from attention_ui.process.kept import KeptByLanguage
from attention_ui.process.real_models import encoder_model, smollm2
from attention_ui.process.turns import outside_turn
from attention_ui.session import link_notes, show_notes
from attention_ui.session.chosen_model import real_model
from attention_ui.session.recent_screens import forget_screen, remember_screen
from lessons.example.example import Example
from lessons.model.read.reading import Reading, how_it_was_read
from lessons.screen import Screen
from models.opening import SharedModel
from models.wheels import MINILM

# Each holds on to what the model has computed of its text, some megabytes.
READINGS: KeptByLanguage[Screen] = KeptByLanguage(4)


def show_read(lesson: ModuleType) -> None:
    """The whole page; where the model is not on this machine, what will stand here."""
    which_model()
    model = real_model()
    if model is None:
        draw_topic(lesson)
        show_notes(*link_notes())
        get_model_panel(lesson.STANDS_HERE)
    else:
        with_model(lesson, model)


def with_model(lesson: ModuleType, model: SharedModel) -> None:
    """Controls, and the screen that they make. While the model computes, other pages go on."""
    room, encoder = lay_out(), encoder_model()
    with room.controls:
        choices = read_choices(model)
    with room.notes:
        show_notes(*link_notes(), *how_it_was_read(Reading(choices, model)))
    asked = choices, model, encoder, jobs_of(model)
    with outside_turn():
        screen = READINGS.get(asked, lambda: lesson.read_screen(*asked))
    draw_screen(lesson, screen, room, address="read", covers=False)
    if choices.view == "flip" and encoder is None:
        get_model_panel(lesson.ENCODER_STANDS_HERE, MINILM)
    if model is smollm2():
        remember_screen(lesson, "read", Example(), 0, choices)
    else:
        forget_screen(lesson)
