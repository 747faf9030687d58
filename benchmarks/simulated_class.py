"""What visitors of a page do: open a link, move sliders, step, turn pages, train, and leave without a word.

Nothing here knows the pages: what can be done is read off what the server sent, so that new pages, and the
ordinary page, are visited in the same way.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from client import SETTERS, TRAINING_PAGES, Session, Shown

CUT_AFTER = 30  # actions after which a visitor is gone, on average
AWAY_SECONDS = (1.0, 4.0)  # until somebody else takes the seat
WATCH_SECONDS = (2.0, 5.0)  # how long a training is watched before the next action
PATIENCE_SECONDS = 30.0
SHARED_SEEDS = 5  # most of a class types the same few seeds
# Old links open a notebook's example, those of a model's sizes a model that is trained; one number is beyond its limit.
LINK_NUMBERS = {
    "d_k": (1, 9),
    "d_v": (1, 8),
    "seed": (0, 999),
    "heads": (1, 4),
    "model_d_k": (1, 8),
    "model_d_model": (1, 12),
    "model_heads": (1, 4),
}


@dataclass
class Seen:
    """What visitors waited for, in seconds, and what went wrong."""

    lessons: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    openings: list[float] = field(default_factory=list)
    watched: int = 0  # runs of fragments that nobody asked for: pages that move by themselves
    trainings: int = 0
    cut: int = 0
    lost: int = 0  # presses on what a rerun of the page had just replaced: nothing answers them
    errors: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """How many times a script, or a fragment of it, has run."""
        return len(self.lessons) + len(self.training) + len(self.openings) + self.watched

    def percentile(self, name: str, percent: float) -> float:
        """A percentile of these waits, in milliseconds; not a number where there are none."""
        waits = getattr(self, name)
        return float(np.percentile(waits, percent)) * 1000 if waits else float("nan")


@dataclass(frozen=True)
class Class:
    """The port for each seat, the pages, when the class ends, and how long one thinks between two actions."""

    port: Callable[[int], int]
    pages: tuple[str, ...]
    end: float
    think: tuple[float, float]
    seen: Seen


async def take_seat(room: Class, seat: int, chance: random.Random) -> None:
    """One seat of the class until its end: whoever leaves is followed by somebody new."""
    await asyncio.sleep(chance.uniform(0, room.think[1]))
    while time.perf_counter() < room.end:
        visitor = Session(room.port(seat), live=True)
        try:
            await stay(room, visitor, chance)
        except Exception as error:
            room.seen.errors.append(f"{type(error).__name__}: {error}")
        finally:
            await leave(room, visitor)
        await asyncio.sleep(chance.uniform(*AWAY_SECONDS))


async def stay(room: Class, visitor: Session, chance: random.Random) -> None:
    """One visit, from a link to the end of the class or of the visitor's patience."""
    opened = visitor.open(chance.choice(room.pages), some_link(room, chance))
    room.seen.openings.append(await asyncio.wait_for(opened, PATIENCE_SECONDS))
    while chance.random() > 1 / CUT_AFTER:
        left = room.end - time.perf_counter()
        await asyncio.sleep(max(0.0, min(left, chance.uniform(*room.think))))
        if time.perf_counter() >= room.end:  # who thought until the end stays: no one opens the link once more
            return
        await act(room, visitor, chance)
    room.seen.cut += 1


async def leave(room: Class, visitor: Session) -> None:
    """Cut the line, and hand in what the visit showed."""
    room.seen.errors += visitor.exceptions
    room.seen.watched += visitor.unasked
    if visitor.is_open:
        await visitor.cut()


def some_link(room: Class, chance: random.Random) -> str:
    """The address a teacher might have sent; the ordinary page has none."""
    if len(room.pages) == 1 or chance.random() < 0.3:
        return ""
    name = chance.choice(list(LINK_NUMBERS))
    return f"{name}={chance.randint(*LINK_NUMBERS[name])}"


async def act(room: Class, visitor: Session, chance: random.Random) -> None:
    """One action that the page offers, and its answer."""
    waits = room.seen.training if visitor.on_training_page else room.seen.lessons
    kind = chance.choices(("move", "step", "turn", "train"), (60, 20, 14, 6))[0]
    try:
        if kind == "turn" and len(room.pages) > 1:
            path = chance.choice(room.pages)
            waits = room.seen.training if path in TRAINING_PAGES else room.seen.lessons
            waits.append(await patiently(visitor.goto(path)))
        elif kind == "train":
            await train(room, visitor, chance)
        elif kind == "step" and (steps := stepping(visitor)):
            waits.append(await patiently(visitor.click(chance.choice(steps))))
        elif widgets := movable(visitor):
            widget = chance.choice(widgets)
            waits.append(await patiently(visitor.set(widget.id, some_value(widget, chance))))
    except LookupError:
        room.seen.lost += 1  # it was taken away while the visitor reached for it


async def train(room: Class, visitor: Session, chance: random.Random) -> None:
    """Start a training where there is one to start, and watch it for a moment."""
    if "train" in room.pages and visitor.path != "train":
        room.seen.training.append(await patiently(visitor.goto("train")))
    seed = chance.randint(0, SHARED_SEEDS - 1) if chance.random() < 0.7 else chance.randint(0, 9999)
    if "train" in room.pages:
        room.seen.training.append(await patiently(visitor.set("train_seed", seed)))
    start = visitor.widget("start")
    if start.proto.disabled:
        return
    room.seen.training.append(await patiently(visitor.click("start")))
    room.seen.trainings += 1
    await asyncio.sleep(chance.uniform(*WATCH_SECONDS))


async def patiently(action) -> float:
    """The wait for an action; TimeoutError that says so when it takes too long."""
    try:
        return await asyncio.wait_for(action, PATIENCE_SECONDS)
    except TimeoutError:
        raise TimeoutError(f"no answer within {PATIENCE_SECONDS:.0f} s") from None


def stepping(visitor: Session) -> list[str]:
    """The buttons that lead to the next step or back."""
    buttons = (shown for shown in visitor.elements("button") if not shown.proto.disabled)
    return [button.id for button in buttons if button.label in ("Back", "Next")]


def movable(visitor: Session) -> list[Shown]:
    """The widgets that have a few values to choose from."""
    return [shown for shown in visitor.elements() if has_values(shown)]


def has_values(shown: Shown) -> bool:
    """True for what a visitor can set without typing."""
    if shown.kind not in SETTERS or shown.proto.disabled:
        return False
    if shown.kind == "number_input":
        return shown.proto.has_max and shown.proto.step >= 1
    if shown.kind == "slider":
        return len(shown.proto.default) == 1
    if shown.kind in ("button_group", "selectbox", "select_slider"):
        return len(shown.proto.options) > 1
    return shown.kind == "checkbox"


def some_value(widget: Shown, chance: random.Random) -> object:
    """A value that the widget offers."""
    proto = widget.proto
    if widget.kind == "checkbox":
        return chance.random() < 0.5
    if widget.kind in ("selectbox", "select_slider"):
        return chance.choice(list(proto.options))
    if widget.kind == "button_group":
        return chance.choice([option.content for option in proto.options])
    steps = int((proto.max - proto.min) / proto.step)
    return proto.min + chance.randint(0, min(steps, 1000)) * proto.step
