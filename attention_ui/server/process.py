"""What lives as long as the process, for all visitors together: the scheduler, the lock of pages, the redraw pace."""

import functools
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pandas  # noqa: F401  imported here so that it is frozen with the rest
import pyarrow as pa
import torch

from attention_core.tasks import TASKS
from attention_core.training import recommended
from attention_ui.server.memory import freeze
from attention_ui.streamlit_insides import check_rerun
from runs.page_lock import PageLock, Priority
from runs.recording import Recording
from runs.scheduler import Scheduler


@functools.lru_cache(maxsize=1)
def page_lock() -> PageLock:
    """The lock of this process: one page is computed at a time."""
    return PageLock()


@functools.lru_cache(maxsize=1)
def scheduler() -> Scheduler:
    """The one scheduler of this process, running from its first use."""
    running = Scheduler(page_lock())
    running.start()
    return running


@functools.lru_cache(maxsize=1)
def redraw_pace() -> "RedrawPace":
    """What this process has learnt about its pictures."""
    return RedrawPace()


class RedrawPace:
    """How often the pictures of all runs that play can be redrawn without taking the processor from the lessons."""

    LEAST_SECONDS = 0.5
    SHARE = 0.15  # of one core, for all these pictures together
    SMOOTHING = 0.1

    def __init__(self):
        self.cost = 0.02  # seconds of processor time that one picture takes, as measured

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Around the drawing of one picture, on the thread that draws it."""
        began = time.thread_time()
        yield
        self.cost += self.SMOOTHING * (time.thread_time() - began - self.cost)

    def seconds(self, watched: int) -> float:
        """How long a picture stands when so many runs are watched: the more, the longer."""
        return max(self.LEAST_SECONDS, watched * self.cost / self.SHARE)


def redraw_seconds() -> float:
    """How long a picture that is redrawn by itself should stand, with so many who watch."""
    return redraw_pace().seconds(scheduler().watched())


def page_turn(priority: Priority = Priority.SOMEBODY_WAITS) -> AbstractContextManager[None]:
    """Around all that a page computes and draws."""
    return page_lock().page(priority)


def redrawn_picture() -> AbstractContextManager[None]:
    """Around what a page draws by itself again and again."""
    return page_lock().page(Priority.NOBODY_WAITS, check_rerun)


def yield_turn() -> None:
    """Where figures are drawn: a page that nobody waits for lets the others go first."""
    page_lock().yield_turn(check_rerun)


def lower_priority() -> None:
    """This page takes long: from here on it counts as one that nobody waits for."""
    page_lock().lower_priority(check_rerun)


def warm_up() -> None:
    """Before anything is computed. Importing this module has been the greater part of it."""
    # More threads for small matrices only fight each other, and the pages.
    torch.set_num_threads(1)
    # Arrow's own store keeps for each thread what it has freed, and here a thread lives for one run of a page.
    pa.set_memory_pool(pa.system_memory_pool())


def settle_down() -> None:
    """Do once what would make later visitors wait. Only the last line holds up the pages."""
    # Altair, and its schema, which comes with the first template. Half a second: the first page does without.
    from attention_ui.figures.cells import grid_chart
    from attention_ui.figures.template import template

    template(grid_chart)
    for task in TASKS.values():
        Recording(recommended(task, steps=1)).record(1)
    with page_turn(Priority.NOBODY_WAITS):
        freeze()
