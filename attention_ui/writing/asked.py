"""What a class is asked about a text that a model writes: the choices that make its screen again, and that screen."""

from dataclasses import replace

from attention_ui.process.real_models import smollm2
from attention_ui.session import get_state
from attention_ui.session.recent_screens import forget_screen, remember_screen
from attention_ui.writing.controls import BEGINNING, Request
from attention_ui.writing.screens import screen_so_far
from attention_ui.writing.writers import WRITER, Writer, shipped
from lessons.example.example import Example
from lessons.example.prompt import beginning_of
from lessons.model.generate import lesson as generate
from lessons.model.generate.lesson import in_no_order
from lessons.model.generate.real_writer import real_beginning
from lessons.screen import Parts, Screen
from lessons.teachers.class_vote.asked_runs import GenerateChoices
from lessons.teachers.class_vote.question_link import needed


def choices_of_writing(request: Request) -> GenerateChoices | None:
    """The choices from which others make this text again; None for a model that they do not have."""
    chosen = get_state(WRITER.name)
    named = "language" if request.writer.model else "notebook" if request.writer.waits_for else chosen
    if request.writer.model is not None and request.writer.model is not smollm2():
        return None
    if named not in ("language", "notebook", "sea") or (request.writer.notes and not request.writer.waits_for):
        return None
    begin = str(get_state(BEGINNING.name) or "")[: BEGINNING.most]
    return GenerateChoices(named, begin, request.sampling, request.length, request.seed, request.head)


def remember_writing(request: Request) -> None:
    """Keep this text, for a teacher who wants to ask about it, where others can make it again."""
    choices = choices_of_writing(request)
    if choices is None:
        forget_screen(generate)
    else:
        remember_screen(generate, "generate", Example(), 0, choices)


def screen_written(choices: GenerateChoices) -> Screen:
    """The newest token of the text. Its distribution is in no order: that would tell the likeliest."""
    model = needed(smollm2()) if choices.writer == "language" else None
    writer = shipped(choices.writer) if model is None else Writer(None, None, model=model)
    start = beginning_of(choices.begin, writer.task) if model is None else real_beginning(model, choices.begin)
    request = Request(writer, start, choices.how, choices.seed, choices.length, choices.head)
    screen = screen_so_far(request, choices.length)[1]
    figures = (
        replace(figure, parts=in_no_order(figure.parts)) if isinstance(figure, Parts) else figure
        for figure in screen.figures
    )
    return replace(screen, figures=tuple(figures))
