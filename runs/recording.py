"""What `train` yields, recorded for all who ask for the same: all losses, and the weights of many steps."""

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.training import Evaluation, Snapshot, TrainingSettings, TrainingStep, train
from runs.shelf import Shelf

log = logging.getLogger(__name__)

MAX_SNAPSHOT_BYTES = 2_000_000
MAX_SNAPSHOTS = 512
FEWEST_SNAPSHOTS = 6


class Recording:
    """What `train` yields for some settings, recorded as far as anybody has wanted to see it.

    Only `grow` changes it, one caller at a time; everything else may be read at any moment
    from any thread. Losses are kept for every step, weights for as many evenly spaced steps as
    MAX_SNAPSHOTS and MAX_SNAPSHOT_BYTES allow, and always for the newest. `thin` makes room for others.
    """

    def __init__(self, settings: TrainingSettings):
        self.settings = settings
        self.newest = -1  # the newest recorded step
        self.ended = False  # no step will ever follow
        self.problem: str | None = None  # why it ended before its last step
        self._steps: Iterator[TrainingStep] | None = None  # while it grows
        self._losses = np.full(settings.steps + 1, np.nan)
        self._evaluations: list[Evaluation] = []
        self._snapshots: dict[int, Tensor] = {}
        self._shelf = Shelf()
        self._seconds = 0.0  # of processor time that the recorded steps took
        self._stride = 1
        self._growing = threading.Lock()

    def grow(
        self,
        until: int,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Record steps up to `until`; fewer when the seconds are over or it is `interrupted`.

        At least one step is trained each time. After a `rest` the first ones are those that are recorded already.
        """
        with self._growing:
            deadline = clock() + seconds
            while self.newest < until and not self.ended:
                self._record_one()
                if clock() >= deadline or interrupted():
                    return

    def thin(self, keep: Collection[int] = ()) -> None:
        """Forget every second of the recorded weights; never those of the newest step and of the steps in `keep`."""
        with self._growing:
            self._thin({self.newest, *keep})

    @property
    def in_training(self) -> bool:
        """True while its optimiser and batches are there."""
        return self._steps is not None

    @property
    def seconds(self) -> float:
        """About how long it would take to train once more what is recorded."""
        return self._seconds

    def rest(self) -> None:
        """Give back the optimiser and the batches until it grows again.

        Then what is recorded is trained once more, which gives the same, bit for bit.
        """
        with self._growing:
            self._stop_training()

    def losses(self, until: int) -> Float[np.ndarray, " steps"]:
        """The losses of steps 0 … until, as far as they are recorded."""
        return self._losses[: min(until, self.newest) + 1]

    def snapshot(self, step: int) -> Snapshot:
        """The weights of this step, or of the nearest recorded one before it."""
        for recorded in sorted(tuple(self._snapshots), reverse=True):
            weights = self._snapshots.get(recorded)
            if recorded <= step and weights is not None:
                return Snapshot(recorded, weights)
        raise ValueError(f"nothing is recorded up to step {step}; the newest step is {self.newest}")

    def evaluations(self, until: int) -> tuple[Evaluation, ...]:
        """The evaluations up to this step, the newest last."""
        return tuple(evaluation for evaluation in tuple(self._evaluations) if evaluation.step <= until)

    def snapshot_steps(self, until: int) -> list[int]:
        """The steps up to this one whose weights are recorded, in order."""
        return sorted(step for step in tuple(self._snapshots) if step <= until)

    @property
    def snapshot_bytes(self) -> int:
        """Memory of all recorded weights, which are equally many at each step."""
        return len(self._snapshots) * next((weights.nbytes for weights in tuple(self._snapshots.values())), 0)

    def can_be_thinned(self, fewest: int) -> bool:
        """True while the weights of more than so many steps are recorded."""
        return len(self._snapshots) > fewest

    def _record_one(self) -> None:
        if self._steps is None:
            self._steps = train(self.settings)
        began = time.thread_time()
        try:
            step = next(self._steps, None)
        except Exception as error:  # whatever one learner's run does, the thread that trains for all goes on
            log.exception("a training run failed")
            done = f"stopped after step {self.newest}" if self.newest >= 0 else "could not start"
            self._end(f"Training {done}: {error}")
            return
        if step is None:
            self._end(None)
        elif step.step <= self.newest:
            return  # recorded before a rest
        elif not math.isfinite(step.loss):
            self._end(
                f"After {step.step} updates the loss is no longer a number: the steps were too large. "
                f"What you see is the last good model, after {max(self.newest, 0)} updates. "
                f"Try a learning rate well below {self.settings.learning_rate:g}."
            )
        else:
            self._seconds += time.thread_time() - began
            self._losses[step.step] = step.loss
            if step.evaluation is not None:
                self._evaluations.append(step.evaluation)
            self._keep(step.step, step.weights)
            if step.step == self.settings.steps:
                self._end(None)

    def _end(self, problem: str | None) -> None:
        self.problem = problem
        self._stop_training()
        self.ended = True

    def _stop_training(self) -> None:
        if self._steps is not None:
            self._steps.close()
            self._steps = None

    def _keep(self, step: int, weights: Tensor) -> None:
        stays = step % self._stride == 0
        self._snapshots[step] = self._shelf.keep(weights) if stays else weights
        self.newest = step
        if (step - 1) % self._stride:
            self._snapshots.pop(step - 1, None)
        while len(self._snapshots) > max(2, min(MAX_SNAPSHOTS, MAX_SNAPSHOT_BYTES // weights.nbytes)):
            self._thin({step})

    def _thin(self, keep: Collection[int]) -> None:
        self._stride *= 2
        self._shelf = Shelf()
        left = {step: weights for step, weights in self._snapshots.items() if step % self._stride == 0 or step in keep}
        self._snapshots = {step: self._shelf.keep(weights) for step, weights in left.items()}
