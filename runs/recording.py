"""What training yields, recorded for all who ask for the same: all losses, and the weights of many steps."""

import logging
import math
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import numpy as np
from jaxtyping import Float

from attention_core.base.errors import InputError, Phrase
from attention_core.learning.training import (
    Evaluation,
    Snapshot,
    TrainingSettings,
    TrainingStack,
    TrainingState,
    TrainingStep,
    begin_run,
)

log = logging.getLogger(__name__)

SNAPSHOTS = 36
FIRST_SHARE = 9  # one snapshot in so many is of the first steps, which learners go through one by one
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
        self._stride = 1
        self._block: Float[np.ndarray, "snapshots parameters"] | None = None
        self._kept: tuple[Snapshot, ...] = ()  # views of the block; replaced, never changed
        self._newest: TrainingStep | Snapshot | None = None

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
            return Snapshot(newest.step, newest.weights)
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
        return self._state

    def keep(self, step: TrainingStep) -> None:
        """Record a step, or end where it shows that the run is over."""
        if not math.isfinite(step.loss):
            self.end(
                Phrase(
                    "At training step {step} the loss is no longer a number: the steps were too large. You see "
                    "the last good model, that of step {newest}. Try a learning rate well below {rate}.",
                    step=step.step,
                    newest=max(self.newest, 0),
                    rate=f"{self.settings.learning_rate:g}",
                )
            )
            return
        self._losses[step.step] = step.loss
        if step.evaluation is not None:
            self._evaluations.append(step.evaluation)
        self._keep_weights(step)
        self.newest = step.step
        if step.step == self.settings.steps:
            self.end(None)

    def settle(self) -> None:
        """Take the newest weights out of the array of all runs that were trained together, so that it can go."""
        if self._newest is not None:
            self._newest = Snapshot(self._newest.step, self._newest.weights.copy())

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

    def _keep_weights(self, step: TrainingStep) -> None:
        """The newest stays with those of every `_stride` steps; where they are too many, only fewer of them stay."""
        if self._block is None:
            self._block = new_block(step.weights)
        if len(self._kept) == len(self._block):
            self._stride = 5 if self._stride == 1 else 2 * self._stride  # 10, 20, …: steps that are evaluated as well
            self._block = new_block(step.weights)
            staying = [snapshot for snapshot in self._kept if self._stays(snapshot.step)]
            self._kept = tuple(self._copied(i, kept.step, kept.weights) for i, kept in enumerate(staying))
        self._newest = step
        if self._stays(step.step):
            self._kept = (*self._kept, self._copied(len(self._kept), step.step, step.weights))

    def _stays(self, step: int) -> bool:
        assert self._block is not None
        return step % self._stride == 0 or step < len(self._block) // FIRST_SHARE

    def _copied(self, row: int, step: int, weights: Float[np.ndarray, " parameters"]) -> Snapshot:
        assert self._block is not None
        self._block[row] = weights
        return Snapshot(step, self._block[row])


def new_block(weights: Float[np.ndarray, " parameters"]) -> Float[np.ndarray, "snapshots parameters"]:
    """Room for as many snapshots as a recording keeps, in one piece: scattered, they would leave holes when they go."""
    return np.empty((max(2, min(SNAPSHOTS, MAX_BYTES // weights.nbytes)), len(weights)), weights.dtype)


def record_together(until: Mapping[Recording, int], over: Callable[[], bool] = lambda: False) -> None:
    """Record several runs of one shape, each up to its step; at least one step, but fewer when the time is `over`."""
    with ExitStack() as recording_now:
        for recording in until:
            recording_now.enter_context(recording.recording)
        while wanted := [one for one, step in until.items() if one.newest < step and not one.ended]:
            if advance(wanted, until, over):
                return


def advance(recordings: list[Recording], until: Mapping[Recording, int], over: Callable[[], bool]) -> bool:
    """Record steps until one run is as far as it should be, or at its end. True when the time is over before."""
    steps = min(until[one] - one.newest for one in recordings)
    try:
        stack = TrainingStack([recording.state for recording in recordings])
        try:
            with np.errstate(all="ignore"):  # a loss that is no number ends a recording
                for _ in range(steps):
                    for recording, step in zip(recordings, stack.step(), strict=True):
                        recording.keep(step)
                    if over():
                        return True
                    if any(one.ended for one in recordings):
                        return False
        finally:
            stack.write_back()
            for recording in recordings:
                recording.settle()
    except Exception as error:  # whatever one learner's run does, the thread that trains for all goes on
        if len(recordings) > 1:
            return any([advance([recording], until, lambda: True) for recording in recordings])
        log.exception("a training run failed")
        recordings[0].fail(error)
    return False
