"""What `train` yields, recorded for all who ask for the same: all losses, and the weights of many steps."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.training import Evaluation, Snapshot, TrainingSettings, TrainingStep, train

log = logging.getLogger(__name__)

SNAPSHOTS = 36
FIRST_SHARE = 9  # one snapshot in so many is of the first steps, which learners go through one by one
MAX_BYTES = 2_000_000  # of weights: a large model has fewer snapshots, and the largest has 2


class Recording:
    """What `train` yields for some settings, as far as anybody has wanted to see it.

    Only `record` changes it, one caller at a time; everything else may be read at any moment from any thread.
    Losses are kept for every step; weights for a fixed number of steps, the first few and others evenly spaced, and
    always for the newest.
    """

    def __init__(self, settings: TrainingSettings):
        self.settings = settings
        self.newest = -1  # the newest recorded step
        self.ended = False  # no step will ever follow
        self.problem: str | None = None  # why it ended before its last step
        self._steps: Iterator[TrainingStep] | None = train(settings)
        self._losses = np.full(settings.steps + 1, np.nan)
        self._evaluations: list[Evaluation] = []
        self._stride = 1
        self._block: Float[Tensor, "snapshots parameters"] | None = None
        self._snapshots: tuple[Snapshot, ...] = ()  # views of the block, the newest apart; replaced, never changed
        self._recording = threading.Lock()

    def record(
        self,
        until: int,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Record steps up to `until`; at least one, but fewer when the seconds are over or it is `interrupted`."""
        with self._recording:
            deadline = clock() + seconds
            while self.newest < until and not self.ended:
                self._record_one()
                if clock() >= deadline or interrupted():
                    return

    def losses(self, until: int) -> Float[np.ndarray, " steps"]:
        """The losses of steps 0 … until, as far as they are recorded."""
        return self._losses[: min(until, self.newest) + 1]

    def evaluations(self, until: int) -> tuple[Evaluation, ...]:
        """The evaluations up to this step, the newest last."""
        return tuple(evaluation for evaluation in tuple(self._evaluations) if evaluation.step <= until)

    def snapshot(self, step: int) -> Snapshot:
        """The weights of this step, or of the nearest recorded one before it."""
        for snapshot in reversed(self._snapshots):
            if snapshot.step <= step:
                return snapshot
        raise ValueError(f"nothing is recorded up to step {step}; the newest step is {self.newest}")

    def snapshot_steps(self, until: int) -> list[int]:
        """The steps up to this one whose weights are recorded, in order."""
        return [snapshot.step for snapshot in self._snapshots if snapshot.step <= until]

    def _record_one(self) -> None:
        try:
            step = next(self._steps)
        except Exception as error:  # whatever one learner's run does, the thread that trains for all goes on
            log.exception("a training run failed")
            done = f"stopped after step {self.newest}" if self.newest >= 0 else "could not start"
            self._end(f"Training {done}: {error}")
            return
        if not math.isfinite(step.loss):
            self._end(
                f"After {step.step} updates the loss is no longer a number: the steps were too large. "
                f"What you see is the last good model, after {max(self.newest, 0)} updates. "
                f"Try a learning rate well below {self.settings.learning_rate:g}."
            )
            return
        self._losses[step.step] = step.loss
        if step.evaluation is not None:
            self._evaluations.append(step.evaluation)
        self._keep(Snapshot(step.step, step.weights))
        self.newest = step.step
        if step.step == self.settings.steps:
            self._end(None)

    def _end(self, problem: str | None) -> None:
        self.problem = problem
        self._steps.close()
        self._steps = None  # and with it the optimiser and the batches
        self.ended = True

    def _keep(self, newest: Snapshot) -> None:
        """Put the newest beside those of every `_stride` steps; where they are too many, every second of them goes."""
        kept = list(self._snapshots)
        if kept and not self._stays(kept[-1]):
            kept.pop()
        if self._block is None:
            self._block = new_block(newest.weights)
        if len(kept) == len(self._block):
            self._stride *= 2
            self._block = new_block(newest.weights)
            kept = [self._copied(i, snapshot) for i, snapshot in enumerate(filter(self._stays, kept))]
        if self._stays(newest):
            newest = self._copied(len(kept), newest)
        self._snapshots = (*kept, newest)

    def _stays(self, snapshot: Snapshot) -> bool:
        return snapshot.step % self._stride == 0 or snapshot.step < len(self._block) // FIRST_SHARE

    def _copied(self, row: int, snapshot: Snapshot) -> Snapshot:
        return Snapshot(snapshot.step, self._block[row].copy_(snapshot.weights))


def new_block(weights: Float[Tensor, " parameters"]) -> Float[Tensor, "snapshots parameters"]:
    """Room for as many snapshots as a recording keeps, in one piece: scattered, they would leave holes when they go."""
    return torch.empty(max(2, min(SNAPSHOTS, MAX_BYTES // weights.nbytes)), len(weights))
