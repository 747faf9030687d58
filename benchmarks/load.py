"""A class at work: many sessions that each move a slider every few seconds, with or without training beside them."""

import asyncio
import math
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from client import PATIENCE_SECONDS, Session, exceptions_on
from servers import OURS, Server

from tests.figures import FIGURE_KIND

THINK_SECONDS = (2.0, 3.0)
SLIDERS = {"d_k": (1, 8), "d_v": (1, 8)}  # of the first notebook's example
EXAMPLE = "example=journey&picture=steps"
AT_ONCE = 4  # how many sessions connect at the same time
DRAIN_SECONDS = 45.0  # how long reruns that were asked for in time may still take
SETTLE_SECONDS = 5.0  # a new server still prepares itself
TRAINING_STEPS = 5000  # the most that the app allows


@dataclass
class Load:
    """What a class measured: the latency of each rerun, and how the server fared."""

    latencies: list[float] = field(default_factory=list)  # seconds
    unfinished: int = 0  # reruns that took longer than anybody waited; counted with the time waited
    memory_first: float = 0.0
    memory_end: float = 0.0
    cores: float = 0.0  # processor seconds per second
    training_speeds: list[float] = field(default_factory=list)  # steps per second of all trainings together
    fairness: list[float] = field(default_factory=list)  # steps of the training least served ÷ most served
    trainings_over: int = 0  # trainings that ended before the class did; should be none
    errors: list[str] = field(default_factory=list)

    def percentile(self, percent: float) -> float:
        """A percentile of the latencies, in milliseconds."""
        return float(np.percentile(self.latencies, percent)) * 1000 if self.latencies else math.nan

    def note_failures(self, outcomes: list) -> None:
        """Keep what went wrong among these. Being called off is counted elsewhere. A control that is not on its page is
        no failure of the page: then the measurement is out of date, and says so.
        """
        failures = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        for out_of_date in (failure for failure in failures if isinstance(failure, LookupError)):
            raise out_of_date
        self.errors += [f"{type(failure).__name__}: {failure}" for failure in failures]

    def add(self, other: "Load") -> None:
        """Take over what another round measured."""
        self.latencies += other.latencies
        self.unfinished += other.unfinished
        self.memory_first = max(self.memory_first, other.memory_first)
        self.memory_end = max(self.memory_end, other.memory_end)
        self.cores = max(self.cores, other.cores)
        self.training_speeds += other.training_speeds
        self.fairness += other.fairness
        self.trainings_over += other.trainings_over
        self.errors += other.errors


def run_class(server: Server, *, sessions: int, seconds: float, training: bool, seed: int) -> Load:
    """One class at a server that nobody has visited yet."""
    return asyncio.run(_run_class(server, sessions, seconds, training, seed))


async def _run_class(server: Server, sessions: int, seconds: float, training: bool, seed: int) -> Load:
    load = Load()
    visitors = [Session(server.port, live=True) for _ in range(sessions)]
    try:
        await visitors[0].open("", EXAMPLE)
        load.memory_first = server.memory()
        await a_few_at_a_time([partial(visitor.open, "", EXAMPLE) for visitor in visitors[1:]])
        if training:
            begin = begin_in_the_app if server.folder == OURS else begin_in_the_ordinary_app
            beginnings = (begin(visitor, number) for number, visitor in enumerate(visitors))
            load.note_failures(await asyncio.gather(*beginnings, return_exceptions=True))
        await _move_sliders(server, visitors, seconds, training, seed, load)
        load.memory_end = server.memory()
        load.errors += [error for visitor in visitors for error in exceptions_on(visitor)] + server.complaints()
    finally:
        await asyncio.gather(*(visitor.close() for visitor in visitors))
    return load


async def a_few_at_a_time(actions: list[Callable[[], Awaitable]]) -> None:
    """All of these, at most AT_ONCE of them at any moment."""
    places = asyncio.Semaphore(AT_ONCE)

    async def take_turn(action: Callable[[], Awaitable]) -> None:
        async with places:
            await action()

    await asyncio.gather(*(take_turn(action) for action in actions))


async def begin_in_the_app(visitor: Session, number: int) -> None:
    """Start a training that nobody else has, and come back to the overview."""
    await visitor.goto("train")
    await visitor.set("train_seed", 1000 + number)
    await visitor.set("steps", TRAINING_STEPS)
    await visitor.click("start")
    await visitor.goto("")


async def begin_in_the_ordinary_app(visitor: Session, number: int) -> None:
    """Start a training; every session has its own in any case."""
    await visitor.click("start")


async def _move_sliders(
    server: Server, visitors: list[Session], seconds: float, training: bool, seed: int, load: Load
) -> None:
    began, cpu_before = time.perf_counter(), server.cpu_seconds()
    steps_before = [steps_made(visitor) for visitor in visitors] if training else []
    classmates = [
        asyncio.create_task(_move_one(visitor, random.Random(seed * 1000 + number), until(began + seconds), load))
        for number, visitor in enumerate(visitors)
    ]
    await asyncio.sleep(seconds)
    load.cores = (server.cpu_seconds() - cpu_before) / (time.perf_counter() - began)
    await asyncio.wait(classmates, timeout=DRAIN_SECONDS)
    if training:
        steps_after = [steps_made(visitor) for visitor in visitors]
        load.training_speeds.append((sum(steps_after) - sum(steps_before)) / (time.perf_counter() - began))
        served = [after - before for before, after in zip(steps_before, steps_after, strict=True)]
        load.fairness.append(min(served) / max(*served, 1))
        load.trainings_over += sum(steps >= TRAINING_STEPS - 1 for steps in steps_after)
    for classmate in classmates:
        classmate.cancel()
    load.note_failures(await asyncio.gather(*classmates, return_exceptions=True))


def until(deadline: float) -> Callable[[float], bool]:
    """Whether something that begins in so many seconds would begin after the deadline."""
    return lambda later: time.perf_counter() + later >= deadline


async def _move_one(visitor: Session, chance: random.Random, over: Callable[[float], bool], load: Load) -> None:
    """One visitor: think, move a slider, wait for the page, and again, until it is `over`."""
    while True:
        think = chance.uniform(*THINK_SECONDS) if load.latencies else chance.uniform(0, THINK_SECONDS[1])
        if over(think):
            return
        await asyncio.sleep(think)
        name = chance.choice(list(SLIDERS))
        asked = time.perf_counter()
        try:
            load.latencies.append(await visitor.set(name, chance.randint(*SLIDERS[name])))
        except (TimeoutError, asyncio.CancelledError):
            load.latencies.append(min(time.perf_counter() - asked, PATIENCE_SECONDS))
            load.unfinished += 1
            raise


@dataclass
class Starts:
    """A class that presses Start at the same moment, each for a run of its own, round after round.

    Seconds from the press until each saw its run move, and until each saw it finished, its film drawn; and the reruns
    of the visitors on a lesson beside them, while nothing is trained and while the class trains.
    """

    moved: list[float] = field(default_factory=list)
    finished: list[float] = field(default_factory=list)
    lessons_idle: Load = field(default_factory=Load)
    lessons_beside: Load = field(default_factory=Load)


def press_start_at_once(server: Server, task: str, sessions: int, readers: int, idle: float, rounds: int) -> Starts:
    """So many sessions train a task, while so many readers are on a lesson; first nothing happens for `idle` seconds.

    In every round every seed is new.
    """
    return asyncio.run(_press_start_at_once(server, task, sessions, readers, idle, rounds))


async def _press_start_at_once(
    server: Server, task: str, sessions: int, readers: int, idle: float, rounds: int
) -> Starts:
    starts = Starts()
    visitors, on_lesson = ([Session(server.port, live=True) for _ in range(n)] for n in (sessions, readers))
    try:
        opened = [partial(visitor.open, "train", f"task={task}") for visitor in visitors]
        await a_few_at_a_time([*opened, *(partial(reader.open, "", EXAMPLE) for reader in on_lesson)])
        await asyncio.sleep(SETTLE_SECONDS)
        await _read(on_lesson, 0, until(time.perf_counter() + idle), starts.lessons_idle)
        for number in range(1, rounds + 1):
            seeds = range(number * 1000, number * 1000 + sessions)
            await a_few_at_a_time([partial(v.set, "train_seed", s) for v, s in zip(visitors, seeds, strict=True)])
            await asyncio.sleep(1)
            all_done = asyncio.Event()
            reading = asyncio.create_task(
                _read(on_lesson, number, lambda _, done=all_done: done.is_set(), starts.lessons_beside)
            )
            for moved, finished in await asyncio.gather(*(_see_it_through(visitor) for visitor in visitors)):
                starts.moved.append(moved)
                starts.finished.append(finished)
            all_done.set()
            await reading
        starts.lessons_beside.errors += [error for v in visitors for error in v.exceptions] + server.complaints()
    finally:
        await asyncio.gather(*(visitor.close() for visitor in (*visitors, *on_lesson)))
    return starts


async def _read(readers: list[Session], seed: int, over: Callable[[float], bool], load: Load) -> None:
    """Visitors on a lesson, who move its sliders."""
    chances = (random.Random(seed * 1000 + number) for number in range(len(readers)))
    await asyncio.gather(*(_move_one(*pair, over, load) for pair in zip(readers, chances, strict=True)))


async def _see_it_through(visitor: Session) -> tuple[float, float]:
    """Press Start: how long until the page tells of an update, and until the whole run stands there as a film."""
    began, pressed = time.perf_counter(), asyncio.create_task(visitor.click("start"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not re.search(r"\b[1-9]\d* of \d+ training steps", " ".join(visitor.texts("progress"))):
            await asyncio.sleep(0.01)
        moved = time.perf_counter() - began  # its picture may not be there yet
        await pressed
        while not shows_whole_run(visitor):
            await asyncio.sleep(0.01)
    return moved, time.perf_counter() - began


def shows_whole_run(visitor: Session) -> bool:
    """True when the page says that all training steps are made, and has drawn its picture since."""
    told = re.search(r"(\d+) of (\d+) training steps", " ".join(visitor.texts("progress")))
    if told is None or told[1] != told[2]:
        return False
    ended = [
        shown.run for shown in visitor.elements("button") if shown.id.endswith("-one_step") and shown.proto.disabled
    ]
    return bool(ended) and any(shown.run >= ended[0] for shown in visitor.elements(FIGURE_KIND))


def steps_made(visitor: Session) -> int:
    """The steps that the page says its training has made. A page that says nothing any more saw it end."""
    found = re.search(r"(?:Step|Your model:) ([\d,]+)", " ".join(visitor.texts()))
    return int(found[1].replace(",", "")) if found else TRAINING_STEPS
