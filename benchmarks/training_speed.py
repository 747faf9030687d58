"""Steps per second of the app's training beside the notebook's loop: same model, same maths, one thread each.

`python benchmarks/training_speed.py [--rounds 7] [--other FOLDER]` prints how many times as fast one run is, and thirty
different runs together, counted over all; where a bar is missed, what the time goes into. With another checkout of this
project it says how much sooner every preset task is trained here than there.
"""

import argparse
import asyncio
import cProfile
import gc
import pstats
import re
import statistics
import subprocess
import sys
import threading
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import attention_ui  # noqa: E402, F401  says how many threads NumPy has, before it is imported

# isort: split
import numpy as np  # noqa: E402
import torch  # noqa: E402
from client import Session  # noqa: E402
from notebook_loop import train_in_notebook  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402

from attention_core.base.randomness import generator  # noqa: E402
from attention_core.learning.optimiser import adamw  # noqa: E402
from attention_core.learning.steps import TrainingStack, gradient_of  # noqa: E402
from attention_core.learning.tasks import TASKS, CharacterTask  # noqa: E402
from attention_core.learning.tasks.text import notebook_model  # noqa: E402
from attention_core.learning.training import TrainingSettings, begin_run, recommended  # noqa: E402
from attention_core.model.sampling import continue_text  # noqa: E402
from attention_core.model.small_model import model_with  # noqa: E402
from attention_ui.process.memory import keep_heaps_small  # noqa: E402
from lessons.learning.train.compare_runs import HEAD_WORDS  # noqa: E402
from lessons.screen import render  # noqa: E402
from runs.recording import Recording, record_together  # noqa: E402
from runs.run import TrainingRun  # noqa: E402
from runs.scheduler import Scheduler  # noqa: E402

TASK = CharacterTask("hello world")
REFRESH_SECONDS = 0.5
NEW_CHARACTERS = 40
NOTEBOOK_STEPS = 200
OUR_STEPS = 500
TOGETHER, TOGETHER_STEPS = 30, 200
BARS = {"alone": 7.0, "together": 35.0}  # times the steps per second of the notebook
DRAWN_STEPS = 2000
SERVER_STEPS = 3000
SERVER_PATIENCE_SECONDS = 60.0
NOTEBOOK_CONTROLS = {
    "learn": "hello world",
    "train_heads": "2",
    "features": "16",
    "kind": render(HEAD_WORDS["sliced"]),
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
    together: list[float] = field(default_factory=list)  # of all runs
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
    speeds = measure_recorded(rounds)
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


def measure_recorded(rounds: int) -> Speeds:
    """One run, thirty runs together, and one with nothing recorded; as in the app, the heap small and frozen."""
    torch.set_num_threads(1)
    keep_heaps_small()
    time_notebook(seed=0)
    time_recording(seed=0)
    time_together(seed=0)
    gc.collect()
    gc.freeze()
    speeds = Speeds()
    for seed in range(1, rounds + 1):
        speeds.notebook.append(time_notebook(seed))
        speeds.alone.append(time_recording(seed))
        speeds.together.append(time_together(1000 * seed))
        speeds.unrecorded.append(steps_per_second(OUR_STEPS, lambda seed=seed: train_only(seed)))
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


def time_together(seed: int) -> float:
    """Thirty different runs that begin together, recorded by the app's training thread; the steps of all."""
    scheduler = Scheduler()
    runs = [scheduler.open(settings(seed + i, TOGETHER_STEPS)) for i in range(TOGETHER)]
    for run in runs:
        run.train()
    scheduler.start()
    try:
        return steps_per_second(TOGETHER * TOGETHER_STEPS, lambda: [wait_for(run) for run in runs])
    finally:
        scheduler.stop()


def train_only(seed: int) -> None:
    """The same updates with nothing recorded and nothing measured."""
    chosen = settings(seed, OUR_STEPS)
    stack = TrainingStack([begin_run(chosen)])
    (state,) = stack.states
    for state.step in range(OUR_STEPS):
        _, gradient = gradient_of(stack.model, stack.next_batch())
        rates = [chosen.learning_rate], [chosen.weight_decay]
        adamw(stack.weights, gradient, stack.means, [state.step + 1], *rates)


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
    ids = view.settings.task.windows[0, :-1].numpy()
    model(ids)
    return continue_text(model, ids.tolist(), NEW_CHARACTERS, generator=generator(view.settings.seed))


async def measure_in_server(server: Server, rounds: int, speeds: Speeds) -> None:
    """The real server, with one visitor who watches the training page; the notebook's loop in between."""
    async with Session(server.port, live=True) as visitor:
        await visitor.open("train", "task=characters")
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
    found = re.search(r"([\d,]+) of [\d,]+ training steps", " ".join(visitor.texts("progress")))
    return int(found[1].replace(",", "")) if found else 0


def main() -> None:
    """Print how fast training is here, and what it waits for where it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--other", type=Path, help="the folder of another checkout, to compare the preset tasks with")
    options = options_of(parser, rounds=1, other=OURS)
    speeds = measure_recorded(options.rounds)
    print("| training | steps/s | the notebook's | ratio | bar |\n|---|--:|--:|--:|--:|")
    for name, bar in BARS.items():
        mine, its = statistics.median(getattr(speeds, name)), statistics.median(speeds.notebook)
        ratio = speeds.ratio(name, "notebook")
        print(f"| {name} | {mine:.0f} | {its:.0f} | {ratio:.1f} | {judged(ratio >= bar, f'≥ {bar:g}')} |")
    for name, work in (("alone", time_recording), ("together", time_together)):
        if speeds.ratio(name, "notebook") < BARS[name]:
            print_profile(name, work)
    if options.other is not None:
        compare_presets(options.other.resolve(), options.rounds)


def print_profile(name: str, work: Callable[[int], float]) -> None:
    """Where the time goes, function by function. In the scheduler's own thread a profile sees nothing."""
    profile, recordings = cProfile.Profile(), [Recording(settings(seed, TOGETHER_STEPS)) for seed in range(TOGETHER)]
    if name == "alone":
        profile.runcall(work, 1)
    else:
        profile.runcall(record_together, dict.fromkeys(recordings, TOGETHER_STEPS))
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


class Products(np.ndarray):
    """An array that takes down every matrix product it has a part in."""

    found: ClassVar[list[list[np.ndarray]]] = []

    def __array_ufunc__(self, ufunc, method, *inputs, **choices):
        """Compute as usual, with plain arrays."""
        plain = [one.view(np.ndarray) if isinstance(one, Products) else one for one in inputs]
        if ufunc is np.matmul:
            Products.found.append(plain)
        result = getattr(ufunc, method)(*plain, **choices)
        return result.view(Products) if isinstance(result, np.ndarray) else result


def product_seconds(name: str) -> float:
    """How long the matrix products of a preset task take by themselves: no way of calling NumPy is quicker."""
    chosen = recommended(TASKS[name], 1)
    stack = TrainingStack([begin_run(chosen)])
    Products.found.clear()
    gradient_of(model_with(chosen.model, stack.weights.view(Products)), stack.next_batch())
    took = min(timeit.repeat(lambda: [a @ b for a, b in Products.found], number=20, repeat=10)) / 20
    return took * (chosen.steps + 1)


WORKER = """
import os, sys, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, ".")
import torch
torch.set_num_threads(1)
from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from attention_ui.process.memory import keep_heaps_small
from runs.recording import Recording
keep_heaps_small()
for line in sys.stdin:
    name, seed = line.split()
    settings = recommended(TASKS[name], int(seed))
    began = time.perf_counter()
    Recording(settings).record(settings.steps)
    print(time.perf_counter() - began, flush=True)
"""


def compare_presets(other: Path, rounds: int) -> None:
    """Every preset task trained to its end in both checkouts, in turns."""
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER], cwd=folder, stdin=-1, stdout=-1, text=True)
        for folder in (OURS, other)
    ]

    def seconds(worker: subprocess.Popen, name: str, seed: int) -> float:
        worker.stdin.write(f"{name} {seed}\n")
        worker.stdin.flush()
        return float(worker.stdout.readline())

    print(
        "\n| preset task | here, s | there, s | times as fast | its matrix products alone, s |\n|---|--:|--:|--:|--:|"
    )
    for name in TASKS:
        pairs = [[seconds(worker, name, seed) for worker in workers] for seed in range(rounds + 1)][1:]
        ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(there / here for here, there in pairs)
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ratio:.1f} | {product_seconds(name):.2f} |", flush=True)
    for worker in workers:
        worker.communicate()


if __name__ == "__main__":
    main()
