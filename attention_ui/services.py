"""What lives as long as the process, for all visitors together: the training room."""

import functools
import gc

import pandas  # noqa: F401  imported here so that it is frozen with the rest
import torch

from attention_core.model import notebook_model
from attention_core.scheduler import Scheduler
from attention_core.tasks import CharacterTask
from attention_core.training import Tape, TrainingSettings
from attention_ui.charts.grid import LARGEST_CELL, grid_chart
from attention_ui.charts.template import template


@functools.lru_cache(maxsize=1)
def training_room() -> Scheduler:
    """The one scheduler of this process, running from its first use."""
    scheduler = Scheduler()
    scheduler.start()
    return scheduler


def warm_up() -> None:
    """Do once what would make the first visitors wait, then hide it from the garbage collector.

    A collection walks over everything imported so far, a tenth of a second each time, unless it is frozen.
    """
    # More threads for small matrices only fight each other, and the pages.
    torch.set_num_threads(1)
    task = CharacterTask("hello world")
    Tape(TrainingSettings(task=task, model=notebook_model(len(task.vocabulary)), steps=2)).grow(2)
    # The first template brings Altair's schema with it.
    template(grid_chart, LARGEST_CELL)
    gc.collect()
    gc.freeze()
