"""Training: an iterator of steps, the tape that records them, and a learner's run along the tape.

`train` knows nothing of who watches. A `Tape` keeps what it yields: all losses and, within a bound of
memory, the weights of many steps. It depends on the settings alone, so that everybody who asks for the
same settings can share one. A `TrainingRun` is one learner's place on a tape: playing, pausing, stepping.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attention_core.gradients import cross_entropy_backward
from attention_core.model import ModelConfig, ModelTrace, TinyTransformer
from attention_core.optimiser import AdamW
from attention_core.randomness import generator
from attention_core.tasks import Batch, CharacterTask

log = logging.getLogger(__name__)

MAX_STEPS = 5000
MAX_BATCH = 64
MAX_SNAPSHOT_BYTES = 4_000_000
MAX_SNAPSHOTS = 512


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """All that determines a run. Raises ValueError that says which setting cannot be, and what could."""

    task: CharacterTask
    model: ModelConfig
    learning_rate: float = 0.01
    weight_decay: float = 0.01
    steps: int = 300
    batch_size: int = 4
    seed: int = 0

    def __post_init__(self):
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ValueError(f"a learning rate is a number above 0, but got {self.learning_rate}")
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise ValueError(f"a weight decay is a number from 0 up, but got {self.weight_decay}")
        generator(self.seed)
        if not 1 <= self.steps <= MAX_STEPS:
            raise ValueError(f"a run has 1 to {MAX_STEPS} steps, but got {self.steps}")
        if not 1 <= self.batch_size <= MAX_BATCH:
            raise ValueError(f"a batch has 1 to {MAX_BATCH} windows, but got {self.batch_size}")
        if self.model.vocabulary != len(self.task.vocabulary):
            raise ValueError(
                f"the text has {len(self.task.vocabulary)} different characters, "
                f"but the model was made for {self.model.vocabulary}"
            )
        if self.model.context < self.task.window:
            raise ValueError(
                f"the model sees {self.model.context} characters at once, too few for a window of {self.task.window}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """The model after `step` updates, and its loss on the next batch.

    `weights` are the live weights, all in one vector; they change with the next step: copy what you keep.
    """

    step: int
    loss: float  # nats per character
    weights: Float[Tensor, " parameters"]


def train(settings: TrainingSettings) -> Iterator[TrainingStep]:
    """Train a new model, one update between two steps; step 0 is the untrained model.

    The same settings give the same steps, bit for bit, whatever else runs beside them.
    Ends early, after the step that shows it, when the loss is no longer a finite number.
    """
    random = generator(settings.seed)
    model = TinyTransformer(settings.model, random)
    weights = pack_weights(model)
    optimiser = AdamW(weights, settings.learning_rate, weight_decay=settings.weight_decay)
    for step in range(settings.steps + 1):
        batch = settings.task.batch(settings.batch_size, random)
        trace, loss = predict(model, batch)
        yield TrainingStep(step, loss, weights)
        if not math.isfinite(loss):
            return
        if step < settings.steps:
            improve(model, optimiser, trace, batch)


@torch.inference_mode()
def predict(model: TinyTransformer, batch: Batch) -> tuple[ModelTrace, float]:
    """What the model computes for a batch, and the mean cross-entropy of its predictions."""
    trace = model(batch.inputs)
    loss = cross_entropy(trace.logits.flatten(0, 1), batch.targets.flatten())
    return trace, loss.item()


@torch.inference_mode()
def improve(model: TinyTransformer, optimiser: AdamW, trace: ModelTrace, batch: Batch) -> None:
    """One update: the gradient of the loss by the chain rule, then a step of the optimiser."""
    model.backward(trace, cross_entropy_backward(trace.logits, batch.targets))
    optimiser.step(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))


def pack_weights(model: nn.Module) -> Float[Tensor, " parameters"]:
    """All weights of the model in one vector; the model's own become views of it.

    One long vector is much quicker to update and to copy than many short ones.
    """
    vector = parameters_to_vector(model.parameters()).detach()
    vector_to_parameters(vector, model.parameters())
    return vector


def model_with(config: ModelConfig, weights: Float[Tensor, " parameters"]) -> TinyTransformer:
    """A model of its own with the given weights, as a tape keeps them."""
    model = TinyTransformer(config, generator(0))
    vector_to_parameters(weights.clone(), model.parameters())
    return model.eval()


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The weights a model had after `step` updates."""

    step: int
    weights: Float[Tensor, " parameters"]


class Tape:
    """What `train` yields for some settings, recorded as far as anybody has wanted to see it.

    Only `grow` changes it, one caller at a time; everything else may be read at any moment
    from any thread. Losses are kept for every step, weights for as many evenly spaced steps as
    MAX_SNAPSHOTS and MAX_SNAPSHOT_BYTES allow, and always for the newest.
    """

    def __init__(self, settings: TrainingSettings):
        self.settings = settings
        self.head = -1  # the newest recorded step
        self.ended = False  # no step will ever follow
        self.problem: str | None = None  # why it ended before its last step
        self._steps = train(settings)
        self._losses = np.full(settings.steps + 1, np.nan)
        self._snapshots: dict[int, Tensor] = {}
        self._stride = 1
        self._growing = threading.Lock()

    def grow(self, until: int, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        """Record steps up to `until`, or until the seconds are over; at least one if any is left."""
        with self._growing:
            deadline = clock() + seconds
            while self.head < until and not self.ended:
                self._record_one()
                if clock() >= deadline:
                    return

    def losses(self, until: int) -> Float[np.ndarray, " steps"]:
        """The losses of steps 0 … until, as far as they are recorded."""
        return self._losses[: min(until, self.head) + 1]

    def snapshot(self, step: int) -> Snapshot:
        """The weights of this step, or of the nearest recorded one before it."""
        for recorded in sorted(tuple(self._snapshots), reverse=True):
            weights = self._snapshots.get(recorded)
            if recorded <= step and weights is not None:
                return Snapshot(recorded, weights)
        raise ValueError(f"nothing is recorded up to step {step}; the newest step is {self.head}")

    @property
    def snapshot_bytes(self) -> int:
        """Memory of all recorded weights."""
        return sum(weights.nbytes for weights in tuple(self._snapshots.values()))

    def _record_one(self) -> None:
        try:
            step = next(self._steps, None)
        except Exception as error:  # whatever one learner's run does, the thread that trains for all goes on
            log.exception("a training run failed")
            done = f"stopped after step {self.head}" if self.head >= 0 else "could not start"
            self._end(f"Training {done}: {error}")
            return
        if step is None:
            self._end(None)
        elif not math.isfinite(step.loss):
            self._end(
                f"After {step.step} updates the loss is no longer a number: the steps were too large. "
                f"What you see is the last good model, after {max(self.head, 0)} updates. "
                f"Try a learning rate well below {self.settings.learning_rate:g}."
            )
        else:
            self._losses[step.step] = step.loss
            self._keep(step.step, step.weights.clone())
            self.ended = step.step == self.settings.steps

    def _end(self, problem: str | None) -> None:
        self.problem = problem
        self.ended = True

    def _keep(self, step: int, weights: Tensor) -> None:
        self._snapshots[step] = weights
        self.head = step
        if (step - 1) % self._stride:
            self._snapshots.pop(step - 1, None)
        while len(self._snapshots) > max(2, min(MAX_SNAPSHOTS, MAX_SNAPSHOT_BYTES // weights.nbytes)):
            self._stride *= 2
            self._snapshots = {s: w for s, w in self._snapshots.items() if s % self._stride == 0 or s == step}


@dataclass(frozen=True, eq=False)
class RunView:
    """What a learner sees of a run at one moment."""

    settings: TrainingSettings
    position: int  # the step on screen
    playing: bool
    finished: bool  # the end is on screen
    problem: str | None
    losses: Float[np.ndarray, " steps"] = field(repr=False)
    snapshot: Snapshot = field(repr=False)


class TrainingRun:
    """One learner's place on a tape. Starts at step 0, standing still.

    While it plays, the place moves by `steps_per_second`, or as fast as the tape grows where that is None.
    It may be used from several threads of one visitor. Raises ValueError when the tape has not even a step 0.
    """

    LOOK_AHEAD_SECONDS = 2.0

    def __init__(
        self,
        tape: Tape,
        steps_per_second: float | int | None = None,
        *,
        wake: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.tape = tape
        self.steps_per_second = checked_pace(steps_per_second)
        self.last_seen = clock()
        self._wake = wake
        self._clock = clock
        self._lock = threading.RLock()
        self._playing = False
        self._from_step = 0
        self._from_time = clock()
        tape.grow(0)
        if tape.head < 0:
            raise ValueError(tape.problem)

    def play(self) -> None:
        """Go on from here."""
        with self._lock:
            self._stand_at(self.position)
            self._playing = True
            self.last_seen = self._clock()
        self._wake()

    def pause(self) -> None:
        """Stand still here; nothing is lost."""
        with self._lock:
            self._stand_at(self.position)
            self._playing = False

    def step_once(self) -> None:
        """Stand still one step further on."""
        with self._lock:
            self.pause()
            self.tape.grow(self._from_step + 1)
            self._stand_at(min(self._from_step + 1, self.tape.head))

    def set_pace(self, steps_per_second: float | int | None) -> None:
        """Move at another speed from here on."""
        with self._lock:
            self._stand_at(self.position)
            self.steps_per_second = checked_pace(steps_per_second)
        self._wake()

    @property
    def position(self) -> int:
        """The step this learner is at: never beyond what is recorded."""
        with self._lock:
            head = max(self.tape.head, 0)
            if not self._playing:
                return self._from_step
            if self.steps_per_second is None:
                return head
            moved = (self._clock() - self._from_time) * self.steps_per_second
            wished = self._from_step + max(int(moved), 0)
            if wished > head:
                self._stand_at(head)  # time lost waiting for the tape is not made up for in a rush
            return min(wished, head)

    @property
    def playing(self) -> bool:
        """True while the place moves, or waits for the tape to grow."""
        return self._playing and not self.finished

    @property
    def finished(self) -> bool:
        """True when the end of the tape is reached."""
        return self.tape.ended and self.position >= self.tape.head

    @property
    def wanted(self) -> int:
        """The step up to which the tape should be recorded for this learner."""
        if not self._playing:
            return -1
        if self.steps_per_second is None:
            return self.tape.settings.steps
        ahead = math.ceil(self.steps_per_second * self.LOOK_AHEAD_SECONDS)
        return min(self.position + max(ahead, 1), self.tape.settings.steps)

    def look(self) -> RunView:
        """What to show now. Looking is also the sign that somebody still watches."""
        self.last_seen = self._clock()
        if self._playing:
            self._wake()
        with self._lock:
            position, finished = self.position, self.finished
            playing = self._playing and not finished
        return RunView(
            settings=self.tape.settings,
            position=position,
            playing=playing,
            finished=finished,
            problem=self.tape.problem if finished else None,
            losses=self.tape.losses(position),
            snapshot=self.tape.snapshot(position),
        )

    def _stand_at(self, step: int) -> None:
        self._from_step, self._from_time = step, self._clock()


def checked_pace(steps_per_second: float | int | None) -> float | None:
    """The pace, if it is one. Raises ValueError otherwise."""
    if steps_per_second is not None and not (math.isfinite(steps_per_second) and steps_per_second > 0):
        raise ValueError(f"a pace is a number of steps per second above 0, but got {steps_per_second}")
    return steps_per_second
