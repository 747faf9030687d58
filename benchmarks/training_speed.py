"""Steps per second of the app's training beside the notebook's loop: same model, same maths, one thread each."""

import asyncio
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from client import Session
from notebook_loop import train_in_notebook
from servers import OURS, Server

from attention_core.model import TinyTransformer, notebook_model
from attention_core.optimiser import AdamW
from attention_core.randomness import generator
from attention_core.sampling import continue_text
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings, draw_batches, gradient_of, predict
from attention_core.weights import model_with, pack_weights
from lessons.comparison import HEAD_WORDS
from lessons.formatting import english
from runs.recording import Recording
from runs.run import TrainingRun
from runs.scheduler import Scheduler

TASK = CharacterTask("hello world")
REFRESH_SECONDS = 0.5
NEW_CHARACTERS = 40
NOTEBOOK_STEPS = 200
OUR_STEPS = 500
DRAWN_STEPS = 2000
SERVER_STEPS = 3000
SERVER_PATIENCE_SECONDS = 60.0
NOTEBOOK_CONTROLS = {
    "learn": "hello world",
    "train_heads": "2",
    "features": "16",
    "kind": english(HEAD_WORDS["sliced"]),
    "residual": False,
    "batch": 4,
    "spread": 1.0,
    "rate": 1e-3,
}


@dataclass
class Speeds:
    """Steps per second, a number for each round."""

    notebook: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    unrecorded: list[float] = field(default_factory=list)
    notebook_beside: list[float] = field(default_factory=list)
    drawn: list[float] = field(default_factory=list)
    notebook_beside_server: list[float] = field(default_factory=list)
    in_server: list[float] = field(default_factory=list)

    def ratio(self, ours: str, notebook: str) -> float:
        """The middle one of the ratios of all rounds."""
        pairs = zip(getattr(self, ours), getattr(self, notebook), strict=True)
        return statistics.median(mine / its for mine, its in pairs)


def measure_training(rounds: int) -> Speeds:
    """Short rounds in turn, so that whatever else the machine does hits both."""
    torch.set_num_threads(1)
    time_notebook(seed=0)
    time_recording(seed=0)
    speeds = Speeds()
    for seed in range(1, rounds + 1):
        speeds.notebook.append(time_notebook(seed))
        speeds.alone.append(time_recording(seed))
        speeds.unrecorded.append(steps_per_second(OUR_STEPS, lambda seed=seed: train_only(seed)))
    scheduler = Scheduler()
    scheduler.start()
    try:
        for seed in range(1, rounds + 1):
            speeds.notebook_beside.append(time_notebook(seed))
            speeds.drawn.append(time_drawn(scheduler, 1000 + seed))
    finally:
        scheduler.stop()
    with Server(OURS) as server:
        asyncio.run(measure_in_server(server, rounds, speeds))
    return speeds


def settings(seed: int, steps: int) -> TrainingSettings:
    """The notebook's training, in the app's words."""
    model = notebook_model(len(TASK.vocabulary))
    return TrainingSettings(task=TASK, model=model, learning_rate=1e-3, steps=steps, seed=seed)


def steps_per_second(steps: int, work: Callable[[], None]) -> float:
    """How fast some work makes its steps."""
    started = time.perf_counter()
    work()
    return steps / (time.perf_counter() - started)


def time_notebook(seed: int) -> float:
    """The notebook's loop from beginning to end."""
    return steps_per_second(NOTEBOOK_STEPS, lambda: [None for _ in train_in_notebook(NOTEBOOK_STEPS, seed)])


def time_recording(seed: int) -> float:
    """The app's training, as it records everything that a learner may want to see."""
    return steps_per_second(OUR_STEPS, lambda: Recording(settings(seed, OUR_STEPS)).record(OUR_STEPS))


def train_only(seed: int) -> None:
    """The same updates with nothing recorded and nothing measured."""
    chosen, random = settings(seed, OUR_STEPS), generator(seed)
    model = TinyTransformer(chosen.model, random)
    weights = pack_weights(model)
    optimiser = AdamW(weights, chosen.learning_rate, weight_decay=chosen.weight_decay)
    batches = draw_batches(chosen, random)
    for _ in range(OUR_STEPS):
        batch = next(batches)
        trace, _ = predict(model, batch)
        optimiser.take(gradient_of(model, trace, batch))
        weights.copy_(optimiser.step(weights))


def time_drawn(scheduler: Scheduler, seed: int) -> float:
    """The app's training in its own thread, while another thread looks at it as the page does."""
    run = scheduler.open(settings(seed, DRAWN_STEPS))
    with watching(run):
        run.train()
        return steps_per_second(DRAWN_STEPS, lambda: wait_for(run))


def wait_for(run: TrainingRun) -> None:
    """Return as soon as the run is at its end."""
    while not run.finished:
        time.sleep(0.005)


@contextmanager
def watching(run: TrainingRun) -> Iterator[None]:
    """Somebody looks at the run, again and again, as long as the block lasts."""
    away = threading.Event()

    def watch() -> None:
        while not away.wait(REFRESH_SECONDS):
            look_once(run)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        away.set()
        watcher.join()


def look_once(run: TrainingRun) -> list[int]:
    """What the page computes each time it draws the run."""
    view = run.look()
    model = model_with(view.settings.model, view.snapshot.weights)
    ids = view.settings.task.windows[0, :-1]
    model(ids)
    return continue_text(model, ids.tolist(), NEW_CHARACTERS, generator=generator(view.settings.seed))


async def measure_in_server(server: Server, rounds: int, speeds: Speeds) -> None:
    """The real server, with one visitor who watches the training page; the notebook's loop in between."""
    async with Session(server.port, live=True) as visitor:
        await visitor.open("train")
        for control, value in NOTEBOOK_CONTROLS.items():
            await visitor.set(control, value)
        await visitor.set("steps", SERVER_STEPS)
        await watched_run(visitor, 1000)
        for seed in range(1, rounds + 1):
            speeds.notebook_beside_server.append(time_notebook(seed))
            speeds.in_server.append(await watched_run(visitor, 1000 + seed))


async def watched_run(visitor: Session, seed: int) -> float:
    """Steps per second between the first and the last refresh of the page while a run is trained."""
    await visitor.settle()
    await visitor.set("train_seed", seed)
    refreshes = [(time.perf_counter(), 0)]
    await visitor.click("start")
    seen, deadline = len(visitor.fragment_reruns), time.perf_counter() + SERVER_PATIENCE_SECONDS
    while (steps := updates_shown(visitor)) < SERVER_STEPS:
        if time.perf_counter() > deadline:
            raise TimeoutError(f"the run of {SERVER_STEPS} steps is still at step {steps}")
        if len(visitor.fragment_reruns) > seen:
            seen = len(visitor.fragment_reruns)
            refreshes.append((visitor.fragment_reruns[-1], steps))
        await asyncio.sleep(0.005)
    return speed_between(refreshes, (time.perf_counter(), SERVER_STEPS))


def speed_between(refreshes: list[tuple[float, int]], end: tuple[float, int]) -> float:
    """Steps per second between the first and the last refresh that shows a run under way.

    A run may be over before a second refresh: then from the click to the moment when its end was seen.
    """
    moving = refreshes[1:]
    (began, first), (ended, last) = (moving[0], moving[-1]) if len(moving) > 1 else (refreshes[0], end)
    if last == first:
        (began, first), (ended, last) = refreshes[0], end
    return (last - first) / (ended - began)


def updates_shown(visitor: Session) -> int:
    """How far the training page says that the run is."""
    found = re.search(r"([\d,]+) of [\d,]+ updates", " ".join(visitor.texts("progress")))
    return int(found[1].replace(",", "")) if found else 0
