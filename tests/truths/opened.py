"""Opening a link as a visitor does, and reading all that its screen says, asks and shows as plain text and numbers."""

import dataclasses
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import torch
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import attention_ui.process.kept
import attention_ui.writing.growing
from attention_ui import contents
from attention_ui.page import drawing
from attention_ui.process.head_jobs import head_jobs
from attention_ui.process.real_models import smollm2
from attention_ui.training import view
from lessons.screen import (
    Axis,
    Card,
    Film,
    Fixed,
    Integer,
    ListOf,
    Magnitude,
    Matrix,
    Message,
    Percent,
    Points,
    Question,
    Screen,
    Table,
    Token,
    format_value,
    render,
)
from tests.quick_visits import quicken_visits

ROOT = Path(__file__).parents[2]
QUESTIONS, LAST_STEPS = 6, 8  # asked of every screen; of what leads to a number, the last lines
MOST_NUMBERS, MOST_SAYINGS = 600, 20  # of what is no matrix, and of the points of a cloud: of more, every n-th
LEFT_OVER, MILLISECONDS = 1e-5, re.compile(r"[\d.,]+ ms|\([\d.,]+ to [\d.,]+\)")  # what is never twice the same
NO_SCREEN = ("take_home", "class_vote", "exercises")  # pages that make screens of other pages, for what they hand out
SECONDS = 120  # that a page, or a training, may take
PRESSED = " > "  # stands before the button that is pressed once a link is open
SAID = (Token, Fixed, Percent, Magnitude, Integer, ListOf)
MADE: list[Screen] = []  # every screen that was made since a link was opened


def prepare() -> None:
    """Make this process ready to open links: nothing is drawn or kept, and each screen that is made is known."""
    torch.set_num_threads(1)
    quicken_visits()
    make = Screen.__init__

    def make_known(self: Screen, *args: Any, **fields: Any) -> None:
        make(self, *args, **fields)
        MADE.append(self)

    Screen.__init__ = make_known
    attention_ui.process.kept.KeptByLanguage.get = lambda self, key, compute: compute()
    attention_ui.writing.growing.WRITING_SECONDS = math.inf
    drawing.KINDS.update({kind: how._replace(draw=lambda *_: None) for kind, how in drawing.KINDS.items()})
    view.draw_film = lambda *_: None
    if smollm2() is None:
        sys.exit("The record needs SmolLM2, which is not on this machine: python -m models fetches it.")
    while head_jobs() is None:
        time.sleep(0.2)


def read_link(link: str, *, whole: bool) -> dict[str, Any]:
    """What a link opens: its page, what the address says then, and the numbers of its last screen.

    Of the `whole` screen also its sentences, its questions, and how one of its numbers comes about.
    """
    link, _, button = link.partition(PRESSED)
    path, _, query = link.partition("?")
    at = visit(path, dict(parse_qsl(query, keep_blank_values=True)))
    if button:
        press(at, button)
    errors = [error.message for error in at.exception]
    shown = MADE[-1] if MADE else None
    if errors:
        return {"page": "", "error": errors[0]}
    entry: dict[str, Any] = {"page": at.session_state["place"], "said": address_of(at)}
    if shown is not None and entry["page"] not in NO_SCREEN:
        entry["numbers"] = numbers_of(shown)
        entry |= words_of(shown) if whole else {}
    return entry


def matrices_of(link: str) -> dict[str, Any]:
    """The matrices of the screen that a link opens, by figure and name, with all their digits."""
    read_link(link, whole=False)
    figures = MADE[-1].figures
    return {
        f"{figure.key}/{matrix.key}": matrix.values.tolist() for figure in figures for matrix in matrices_in(figure)
    }


def visit(path: str, query: Mapping[str, str]) -> AppTest:
    """A visitor who has opened this page with this query, and nothing before."""
    at = AppTest.from_file(str(ROOT / "attention_ui" / "frame.py"), default_timeout=SECONDS)
    for name, value in query.items():
        at.query_params[name] = value
    files = {entry.address: entry.file for entry in contents.CONTENTS}
    if path not in ("", "home"):
        at.switch_page(str(ROOT / "pages" / files[path]))
        at._page_hash = calc_hash(path)  # which is of the address: it is the name of the file but once
    MADE.clear()
    return at.run()


def press(at: AppTest, button: str) -> None:
    """Press a button; where that begins a training, wait until it has ended."""
    at.button(key=button).click().run()
    ends = time.monotonic() + SECONDS
    while any(bar.proto.value < 100 for bar in at.get("progress")) and time.monotonic() < ends:
        time.sleep(0.05)
        MADE.clear()
        at.run()


def address_of(at: AppTest) -> str:
    """What the address says, in the order of its names."""
    last = {name: values[-1] if isinstance(values, list) else values for name, values in at.query_params.items()}
    return urlencode(sorted(last.items()))


def numbers_of(screen: Screen) -> dict[str, list]:
    """Every matrix by the names of its figure and its own; of other figures, and of long films, a part."""
    found: dict[str, list] = {}
    for figure in screen.figures:
        frames = figure.frames if isinstance(figure, Film) else (figure,)
        for place in sorted({0, len(frames) // 2, len(frames) - 1}):
            name = f"{figure.key} {place}" if len(frames) > 1 else figure.key
            for matrix in matrices_in(frames[place]):
                found[f"{name}/{matrix.key}"] = written(matrix.values)
        others = [*numbers_in(figure)]
        if others:
            found[figure.key] = written(others[:: -(-len(others) // MOST_NUMBERS)])
    return found


def matrices_in(figure: object) -> Iterable[Matrix]:
    """The matrices of a figure that has any."""
    return getattr(figure, "matrices", ())


def written(values: Any) -> list:
    """Numbers as lists, with seven digits of the largest."""
    array = np.asarray(values.tolist() if hasattr(values, "tolist") else values, dtype=float)
    largest = np.abs(array[np.isfinite(array)]).max(initial=0.0)
    decimals = 6 - math.floor(math.log10(largest)) if largest > 0 else 0
    return (np.round(array, decimals) + 0.0).tolist()


def numbers_in(thing: object) -> Iterator[float]:
    """The numbers in what is no matrix and no sentence, in the order of its fields."""
    match thing:
        case bool() | str() | Message() | Matrix() | Question() | Axis():
            return
        case Points() if is_rounding(thing):
            return
        case int() | float():
            yield float(thing)
        case torch.Tensor() | np.ndarray():
            yield from np.asarray(thing.tolist(), dtype=float).ravel().tolist()
        case tuple() | list() if not isinstance(thing, SAID):
            for each in thing:
                yield from numbers_in(each)
        case Film():
            yield from numbers_in((thing.curves, thing.at))
        case _ if dataclasses.is_dataclass(thing) and not isinstance(thing, SAID):
            for name in fields_of(thing):
                yield from numbers_in(getattr(thing, name))


def fields_of(thing: Any) -> Iterator[str]:
    """The names of its fields, but for those that say how it is drawn."""
    how = ("width", "height", "beside", "in_a_row", "least", "numbered", "x_domain", "y_domain")
    return (field.name for field in dataclasses.fields(thing) if field.name not in how)


def words_of(screen: Screen) -> dict[str, list[str]]:
    """Sentences without repetition, questions with cards and replies, and the lines that lead to one number."""
    said = (screen.headline, screen.lead, screen.remarks, screen.figures)
    asked = [question_in_words(screen.ask(number)) for number in range(QUESTIONS)] if screen.ask else []
    return {
        "sentences": sorted(set(sentences_in(said))),
        "questions": sorted(set(asked)),
        "derived": derivation(screen),
    }


def sentences_in(thing: object) -> Iterator[str]:
    """Everything that is said in it, as it is read in English."""
    match thing:
        case Message():
            yield MILLISECONDS.sub("… ms", render(thing))
        case str() | bool() | int() | float() | None:
            return
        case Table():
            yield from sentences_in((thing.name, thing.notice, thing.heading))
            yield from (" | ".join(map(format_value, row)) for row in (thing.columns, *thing.cells))
        case Points():
            says = () if is_rounding(thing) else thing.says[:: -(-len(thing.says) // MOST_SAYINGS)]
            yield from sentences_in((thing.name, thing.notice, says))
        case Token() | Fixed() | Percent() | Magnitude() | Integer() | ListOf():
            yield format_value(thing)
        case tuple() | list() if any(isinstance(each, str) for each in thing) and all(map(is_label, thing)):
            yield " | ".join(map(format_value, thing))
        case tuple() | list():
            for each in thing:
                yield from sentences_in(each)
        case _ if dataclasses.is_dataclass(thing):
            for name in fields_of(thing):
                if name not in ("key", "colour", "scale", "traced", "first", "apart", "of_step", "alike"):
                    yield from sentences_in(getattr(thing, name))


def is_rounding(cloud: Points) -> bool:
    """True for a cloud of what rounding left over: on another processor it is another one."""
    return max(map(abs, cloud.ys)) < LEFT_OVER


def is_label(thing: object) -> bool:
    """True for a token or a number on an axis."""
    return isinstance(thing, str | Token)


def question_in_words(question: Question) -> str:
    """A question, line by line: what it asks, then each card with its reply, the right one ticked."""
    ticks = ("✓" if place == question.right else "✗" for place in range(len(question.cards)))
    return "\n".join([render(question.prompt), *map(card_in_words, ticks, question.cards)])


def card_in_words(tick: str, card: Card) -> str:
    """A card, what is said to whoever chooses it, and the thought that leads to it."""
    reason = () if card.reason is None else (card.reason,)
    return " → ".join([f"{tick} {render(card.text)}", *map(render, (card.reply, *reason))])


def derivation(screen: Screen) -> list[str]:
    """How the last number of that matrix comes about whose derivation is offered first."""
    for figure in screen.figures:
        for matrix in matrices_in(figure):
            if matrix.key == figure.first and matrix.step is not None:
                row, column = (size - 1 for size in matrix.values.shape)
                steps = matrix.derive(row, column)[-LAST_STEPS:]
                return [f"{render(step.meaning)}: {step.text}" for step in steps]
    return []
