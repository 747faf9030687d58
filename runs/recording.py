"""What training yields, recorded for all who ask for the same: all losses, and the weights of many steps."""

import functools
import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from attention_core.base.errors import InputError, Phrase
from attention_core.learning.evaluation import Evaluation
from attention_core.learning.steps import TrainingState
from attention_core.learning.training import Snapshot, TrainingSettings, begin_run
from runs.turn import RunTurn, Stay, come_back, take_turn

log = logging.getLogger(__name__)

SNAPSHOTS = 36
FIRST_SHARE = 9  # one snapshot in so many is of the first steps, which learners go through one by one
TakeTurn = Callable[..., list[RunTurn]]  # as `take_turn`
MAX_BYTES = 2_000_000  # of weights: a large model has fewer snapshots, and the largest has 2


class Recording:
    """The steps of a run with these settings, as far as anybody has wanted to see them.

    Only `record` and `record_together` change it, one caller at a time; everything else may be read at any moment from
    any thread. Losses are kept for every step; weights for a fixed number of steps, the first few and others evenly
    spaced, and always for the newest.
    """

    def __init__(self, settings: TrainingSettings):
        self.settings = settings
        self.newest = -1  # the newest recorded step
        self.ended = False  # no step will ever follow
        self.problem: Phrase | None = None  # why it ended before its last step
        self.recording = threading.Lock()  # held by the one who records
        self._state: TrainingState | None = None  # from the first step to the last
        self._losses = np.full(settings.steps + 1, np.nan)
        self._evaluations: list[Evaluation] = []
        self.stay = Stay(1, 0)  # which steps keep their weights
        self._block: Float[np.ndarray, "snapshots parameters"] | None = None
        self._kept: tuple[Snapshot, ...] = ()  # views of the block; replaced, never changed
        self._newest: Snapshot | None = None

    def record(self, until: int) -> None:
        """Record steps up to `until`."""
        record_together({self: until})

    def losses(self, until: int) -> Float[np.ndarray, " steps"]:
        """The losses of steps 0 … until, as far as they are recorded."""
        return self._losses[: min(until, self.newest) + 1]

    def evaluations(self, until: int) -> tuple[Evaluation, ...]:
        """The evaluations up to this step, the newest last."""
        return tuple(evaluation for evaluation in tuple(self._evaluations) if evaluation.step <= until)

    def snapshot(self, step: int) -> Snapshot:
        """The weights of this step, or of the nearest recorded one before it."""
        newest = self._newest  # read before the others: a step that comes meanwhile makes room among them
        if newest is not None and newest.step <= step:
            return newest
        for snapshot in reversed(self._kept):
            if snapshot.step <= step:
                return snapshot
        raise ValueError(f"nothing is recorded up to step {step}; the newest step is {self.newest}")

    def snapshot_steps(self, until: int) -> list[int]:
        """The steps up to this one whose weights are recorded, in order."""
        newest, kept = self._newest, [snapshot.step for snapshot in self._kept]
        if newest is not None and newest.step not in kept[-1:]:
            kept.append(newest.step)
        return [step for step in kept if step <= until]

    @property
    def state(self) -> TrainingState:
        """Where the run stands. It begins when it is first asked for."""
        if self._state is None:
            self._state = begin_run(self.settings)
            self._block = new_block(self._state.weights)
            self.stay = Stay(1, len(self._block) // FIRST_SHARE)
        return self._state

    def keep(self, turn: RunTurn) -> None:
        """Record the steps of a turn, or end where one shows that the run is over."""
        come_back(self.state, turn)
        evaluations = {evaluation.step: evaluation for evaluation in turn.evaluations}
        for step, loss in enumerate(turn.losses, start=turn.begin):
            if not math.isfinite(loss):
                self.end(
                    Phrase(
                        "At training step {step} the loss is no longer a number: the steps were too large. You see "
                        "the last good model, that of step {newest}. Try a learning rate well below {rate}.",
                        step=step,
                        newest=max(self.newest, 0),
                        rate=f"{self.settings.learning_rate:g}",
                    )
                )
                return
            self._losses[step] = loss
            if step in evaluations:
                self._evaluations.append(evaluations[step])
            if step in turn.kept:
                self._keep_weights(step, turn.kept[step])
                self.newest = step
        if self.newest == self.settings.steps:
            self.end(None)

    def fail(self, error: Exception) -> None:
        """End where the run cannot go on."""
        why = error if isinstance(error, InputError) else str(error)
        if self.newest < 0:
            self.end(Phrase("Training could not start: {why}", why=why))
        else:
            self.end(Phrase("Training stopped after step {step}: {why}", step=self.newest, why=why))

    def end(self, problem: Phrase | None) -> None:
        """End the recording: no step will follow."""
        self.problem = problem
        self._state = None  # and with it the means and the batches
        self.ended = True

    def _keep_weights(self, step: int, weights: Float[np.ndarray, " parameters"]) -> None:
        """The newest stays with those of every so many steps; where they are too many, only fewer of them stay."""
        assert self._block is not None
        if len(self._kept) == len(self._block):
            stride = 5 if self.stay.stride == 1 else 2 * self.stay.stride  # 10, 20, …: evaluated as well
            self.stay = replace(self.stay, stride=stride)
            self._block = new_block(weights)
            staying = [snapshot for snapshot in self._kept if snapshot.step in self.stay]
            self._kept = tuple(self._copied(i, kept.step, kept.weights) for i, kept in enumerate(staying))
        if step in self.stay:
            self._kept = (*self._kept, self._copied(len(self._kept), step, weights))
        # A copy: it may be a row of the array of all runs that were trained together, which is then free to go.
        self._newest = Snapshot(step, weights.copy())

    def _copied(self, row: int, step: int, weights: Float[np.ndarray, " parameters"]) -> Snapshot:
        assert self._block is not None
        self._block[row] = weights
        return Snapshot(step, self._block[row])


def new_block(weights: Float[np.ndarray, " parameters"]) -> Float[np.ndarray, "snapshots parameters"]:
    """Room for as many snapshots as a recording keeps, in one piece: scattered, they would leave holes when they go."""
    return np.empty((max(2, min(SNAPSHOTS, MAX_BYTES // weights.nbytes)), len(weights)), weights.dtype)


def record_together(
    until: Mapping[Recording, int], over: Callable[[], bool] = lambda: False, take: TakeTurn = take_turn
) -> None:
    """Record several runs of one shape, each up to its step; at least one step, but fewer when the time is `over`."""
    with ExitStack() as recording_now:
        for recording in until:
            recording_now.enter_context(recording.recording)
        while wanted := [one for one, step in until.items() if one.newest < step and not one.ended]:
            steps = min(until[one] - one.newest for one in wanted)
            record_turn(wanted, functools.partial(take, n_steps=steps, over=over))
            if over():
                return


def record_turn(recordings: Sequence[Recording], take: Callable[..., list[RunTurn]]) -> None:
    """Record one turn: until one run is as far as it should be, or at its end, or until the time is over."""
    try:
        turns = take([one.state for one in recordings], stay=[one.stay for one in recordings])
        for one, turn in zip(recordings, turns, strict=True):
            one.keep(turn)
    except Exception as error:  # whatever one learner's run does, the thread that trains for all goes on
        if len(recordings) > 1:
            for one in recordings:
                record_turn([one], take)
            return
        log.exception("a training run failed")
        recordings[0].fail(error)
