"""A question put to a class: the choices from which its screen is made again, the same in every process.

What travels is no picture but the choices, as a short text. Whoever has it computes the screen, so that the numbers
that a class looks at are computed there and then as well.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import msgspec
import torch
from torch import Tensor

from attention_core.base.errors import InputError
from lessons import name_of
from lessons.example.example import Example, learnt_example, run_example, unedited
from lessons.example.real_model import SMOLLM2, RealModel
from lessons.learning.train import lesson as train
from lessons.one_head.puzzle import class_task
from lessons.one_head.puzzle.lesson import BuildChoices
from lessons.screen import Question, Screen, diff
from lessons.shared.nesting import check_nesting
from lessons.start.overview import sentence_view
from lessons.teachers.class_vote.asked_runs import GenerateChoices, TrainChoices, screen_of_run

MOST_SCREENS_ASKED = 16  # kept at a time; a class looks at one


@dataclass(frozen=True, eq=False)
class ScreenLink:
    """The question with this `number` on one screen of a lesson."""

    lesson: str
    example: Example
    head: int
    choices: Any
    number: int = 0


@functools.cache
def askable() -> dict[str, tuple[ModuleType, object]]:
    """The lessons whose questions a class can be asked, by name, and their first choices on `first_asked`'s example."""
    from lessons.model.generate import lesson as generate  # and with it every lesson: the first page does without
    from lessons.model.read import lesson as read
    from lessons.order import lesson_path

    path = [*lesson_path(run_example(learnt_example("stories"))), (read, read.ReadChoices())]
    runs = {"train": (train, TrainChoices()), "generate": (generate, GenerateChoices())}
    return {name_of(module): (module, choices) for module, choices in path} | runs


@functools.cache
def known_screens() -> dict[str, tuple[ModuleType, object]]:
    """The same, the screens of plans that ask nothing by themselves, and the levels of building a head."""
    return askable() | {"overview": (sentence_view, sentence_view.Choices()), "build": (class_task, BuildChoices())}


def first_asked(lesson: str) -> ScreenLink:
    """The first question of a lesson that nobody has opened yet, on the model that a visit begins with."""
    return ScreenLink(lesson, learnt_example("stories"), 0, askable()[lesson][1])


def level_asked(level: str) -> ScreenLink:
    """A level of building a head, as the task of a class."""
    return ScreenLink("build", learnt_example("stories"), 0, BuildChoices(level))


def written_asked(asked: ScreenLink) -> str:
    """The question as a text. Raises ValueError, with a sentence, for a screen that nobody else can make."""
    if asked.example.given_by.needs_run:
        raise InputError("This screen shows a model of your own, which the students' screens do not have.")
    model = asked.example.real_model
    if model is not None and model.name != SMOLLM2:
        raise InputError(
            "This screen shows {model}, which is not on every machine: ask about SmolLM2.", model=model.name
        )
    example = replace(asked.example, real_model=None)  # whoever reads it has one of his own
    return msgspec.json.encode(vars(asked) | {"example": example}, enc_hook=mask_as_rows).decode()


def mask_as_rows(value: object) -> object:
    """A mask as rows of booleans: in the choices all tensors are masks."""
    if isinstance(value, Tensor):
        return value.tolist()
    raise NotImplementedError


def mask_of_rows(kind: type, value: object) -> Tensor:
    """The mask that was written so."""
    return torch.tensor(value, dtype=torch.bool)


def read_asked(text: str) -> ScreenLink:
    """The question that was written so. Raises ValueError for any other text."""
    try:
        check_nesting(text.encode())
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        lesson = msgspec.json.decode(parts["lesson"], type=str)
        kinds = {"example": Example, "head": int, "choices": type(known_screens()[lesson][1]), "number": int}
        read = {
            name: msgspec.json.decode(parts[name], type=kind, dec_hook=mask_of_rows) for name, kind in kinds.items()
        }
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise InputError("expected a question as this version of the app writes it, but got another text") from error
    return ScreenLink(lesson, **read)


@functools.lru_cache(maxsize=MOST_SCREENS_ASKED)
def screen_asked(
    text: str,
    model: RealModel | None = None,
    encoder: RealModel | None = None,
    written: Callable[[GenerateChoices], Screen] | None = None,
) -> tuple[Screen, Question | None]:
    """The screen and its question, made again from the text. Kept for all who look at it: never change one.

    `written` makes the screen of a text that a model writes. Raises InputError for a question on a real model where
    there is none.
    """
    asked = read_asked(text)
    if written is not None and asked.lesson == "generate":
        screen = written(asked.choices)
    else:
        screen = screen_of_lesson(asked, model, encoder)
    return screen, screen.ask and screen.ask(asked.number)


def needed(model: RealModel | None) -> RealModel:
    """The model that a question is about. Raises InputError where it is not on this machine."""
    if model is None:
        raise InputError("This question is about a real language model, which is not on this machine.")
    return model


def screen_of_lesson(asked: ScreenLink, model: RealModel | None, encoder: RealModel | None) -> Screen:
    """The screen; where numbers were changed by hand, with what that changed in it."""
    lesson, _ = known_screens()[asked.lesson]
    if asked.lesson == "train":
        return screen_of_run(asked.choices)
    if asked.lesson == "build":
        return lesson.task_screen(asked.choices)
    if asked.lesson == "read":  # which has a model and a text of its own
        return lesson.read_screen(asked.choices, needed(model), encoder)
    trace = run_example(asked.example.given_by.with_model(asked.example, model))
    screen = lesson.screen(trace, asked.head, asked.choices)
    return diff(screen, lesson.screen(unedited(trace), asked.head, asked.choices)) if asked.example.edits else screen
