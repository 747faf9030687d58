"""What a page waits for, computed in the worker: small models of lessons, and passes of real ones.

Who moved a slider waits, and nobody else: others' pages are drawn meanwhile.
"""

from collections.abc import Sequence
from functools import partial

from attention_core.learning.steps import DRAWN_TOGETHER
from attention_ui.process.turns import outside_turn, page_lock
from lessons.example.task_models import ModelRecording
from models import opening
from models.shared import UNUSED_SECONDS, Once
from models.small import is_small
from runs.turn import RunTurn, come_back, sent_away, take_turn
from worker.process import WORKER

MOST_AT_ONCE = 4 * DRAWN_TOGETHER  # that are asked for at once: who has moved on meanwhile asks for no more
TURNS: Once[RunTurn] = Once(1, lambda _: 1, UNUSED_SECONDS)


def start_worker() -> None:
    """Where there is memory for it; from then on passes are made there."""
    if not is_small():
        WORKER.start()
        opening.pass_beside = passes_beside


def passes_beside() -> opening.Compute | None:
    """What makes passes in the worker, where there is one, for who waits outside the line of the pages."""
    return WORKER.compute if WORKER.runs and not page_lock().has_turn else None


def read_beside(model: object, ids: Sequence[int]) -> None:
    """Have the worker make a pass that a page is about to ask for, where there are ids."""
    if ids and isinstance(model, opening.SharedModel) and not model.has_read(ids):
        with outside_turn():
            model.read(ids)


def train_beside(recording: ModelRecording, updates: int) -> None:
    """Train a small model of a lesson in the worker; equal ones that several wait for once."""
    while not recording.is_trained(updates):
        turn = next_turn(recording, updates)
        if not recording.is_trained(updates) and turn.begin == recording.state.step:  # nobody who waited was quicker
            come_back(recording.state, turn)
            for step, loss in enumerate(turn.losses, start=turn.begin):
                recording.keep(step, loss, turn.kept.get(step))


def next_turn(recording: ModelRecording, updates: int) -> RunTurn:
    """The steps that come next; others' pages go on meanwhile."""
    state = recording.state
    n_steps = min(recording.wanted(updates) + 1 - state.step, MOST_AT_ONCE)
    away = sent_away(state, n_steps, evaluated=False)
    take = partial(take_turn, evaluated=False)
    with outside_turn():
        asked = recording.settings, state.step, n_steps
        return TURNS.get(asked, lambda: WORKER.compute(take, [away], n_steps, [recording.kept])[0])
