"""What lives as long as the process, for all visitors together: the training room, and the pace of its pictures."""

import functools
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pandas  # noqa: F401  imported here so that it is frozen with the rest
import pyarrow as pa
import torch

from attention_core.tasks import TASKS
from attention_core.training import recommended
from attention_ui.streamlit_insides import check_rerun
from runs.page_lock import Hurry
from runs.recording import Recording
from runs.scheduler import Scheduler


@functools.lru_cache(maxsize=1)
def training_room() -> Scheduler:
    """The one scheduler of this process, running from its first use."""
    scheduler = Scheduler()
    scheduler.start()
    return scheduler


class LivePictures:
    """How often the pictures of all runs that play can be drawn without taking the processor from the lessons."""

    LEAST_SECONDS = 0.5
    SHARE = 0.15  # of one core, for all live pictures together
    SMOOTHING = 0.1

    def __init__(self):
        self.cost = 0.02  # seconds of processor time that one picture takes, as measured

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Around the drawing of one picture, on the thread that draws it."""
        began = time.thread_time()
        yield
        self.cost += self.SMOOTHING * (time.thread_time() - began - self.cost)

    def seconds(self, watched: int) -> float:
        """How long a picture stands when so many runs are watched: the more, the longer."""
        return max(self.LEAST_SECONDS, watched * self.cost / self.SHARE)


@contextmanager
def moving_picture() -> Iterator[None]:
    """Around what a page draws by itself again and again: it lets those pass who have pressed something."""
    with training_room().page(Hurry.CAN_WAIT, meanwhile=check_rerun):
        yield


def let_pass() -> None:
    """Between two parts of a page: a picture that moves by itself, or a page that takes long, lets others go first."""
    training_room().let_pass(meanwhile=check_rerun)


def take_long() -> None:
    """From here on the page lets those pass that are quicker to compute."""
    training_room().let_pass(Hurry.TAKES_LONG, meanwhile=check_rerun)


@functools.lru_cache(maxsize=1)
def live_pictures() -> LivePictures:
    """What this process has learnt about its pictures."""
    return LivePictures()


def fitting_pace() -> float:
    """How many seconds a picture that moves by itself should stand, with so many who watch."""
    return live_pictures().seconds(watched_at(int(time.monotonic() / LivePictures.LEAST_SECONDS)))


@functools.lru_cache(maxsize=1)
def watched_at(moment: int) -> int:
    """How many runs play before somebody's eyes: every picture asks, so it is counted once in a moment."""
    return training_room().watched()


def warm_up() -> None:
    """Before anything is computed. Importing this module has been the greater part of it."""
    # More threads for small matrices only fight each other, and the pages.
    torch.set_num_threads(1)
    # Arrow's own store keeps for each thread what it has freed, and here a thread lives for one run of a page.
    pa.set_memory_pool(pa.system_memory_pool())


def settle_down() -> None:
    """Do once what would make later visitors wait, then hide all there is from the garbage collector.

    A collection walks over everything imported so far, a tenth of a second each time, unless it is frozen. Only this
    holds up the pages; the rest shares the processor with them.
    """
    # Altair, and its schema, which comes with the first template. Half a second: the first page does without.
    from attention_ui.figures.cells import grid_chart
    from attention_ui.figures.template import template

    template(grid_chart)
    for task in TASKS.values():
        Recording(recommended(task, steps=1)).grow(1)
    with training_room().page(Hurry.CAN_WAIT):
        gc.collect()
        gc.freeze()
