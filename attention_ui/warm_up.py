"""What is done once in a process so that nobody waits for it later."""

import pyarrow as pa

from attention_ui.process.memory import collect_new
from attention_ui.process.turns import page_turn
from runs.page_lock import Priority


def warm_up() -> None:
    """Before anything is computed. Importing what the first page needs has been the greater part of it."""
    # Arrow's own store keeps for each thread what it has freed, and here a thread lives for one run of a page.
    pa.set_memory_pool(pa.system_memory_pool())


def settle_down() -> None:
    """Do once what would make later visitors wait. Only the last line holds up the pages."""
    import pandas  # noqa: F401  so that it is frozen with the rest
    import torch

    from attention_core.learning.tasks import TASKS
    from attention_core.learning.training import recommended

    # Altair, and its schema, which comes with the first template. Half a second: the first page does without.
    from attention_ui.figures.shares.sharing_chart import sharing_chart
    from attention_ui.figures.template import template
    from runs.recording import Recording

    template(sharing_chart, 0)
    # More threads for small matrices only fight each other, and the pages.
    torch.set_num_threads(1)
    for task in TASKS.values():
        Recording(recommended(task, steps=1)).record(1)
    with page_turn(Priority.NOBODY_WAITS):
        collect_new()
