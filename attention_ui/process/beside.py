"""What is computed beside the server, in the worker: what it is asked for, and how what it gives comes back.

On a small host there is no worker: trainings take their turns with the pages, as they do where it cannot be started.
"""

from collections.abc import Callable, Container, Sequence

from attention_core.learning.steps import DRAWN_TOGETHER, TrainingState
from runs.recording import TakeTurn
from runs.turn import RunTurn, TimeOver, sent_away, take_turn
from worker.process import WORKER

TURN_SECONDS = 0.05  # that a turn of a class's trainings takes at most: whoever moves a slider waits for it
MOST_STEPS = 2 * DRAWN_TOGETHER  # of such a turn


def turns_beside() -> TakeTurn | None:
    """What takes turns of training in the worker, where there is one."""
    return take_turn_beside if WORKER.runs else None


def take_turn_beside(
    states: Sequence[TrainingState], n_steps: int, stay: Sequence[Container[int]], over: Callable[[], bool]
) -> list[RunTurn]:
    """Have the worker take a turn of training with these runs of one shape; see `runs.turn`."""
    n_steps = min(n_steps, MOST_STEPS)
    away = [sent_away(state, n_steps) for state in states]
    return WORKER.compute(take_turn, away, n_steps, stay, TimeOver(TURN_SECONDS))
