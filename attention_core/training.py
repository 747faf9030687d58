"""Training: an iterator of steps, the tape that records them, and a learner's run along the tape.

`train` knows nothing of who watches. A `Tape` keeps what it yields: all losses and, within a bound of
memory, the weights of many steps. It depends on the settings alone, so that everybody who asks for the
same settings can share one. A `TrainingRun` is one learner's place on a tape: playing, pausing, stepping.
"""

import functools
import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from attention_core.gradients import NO_TARGET, cross_entropy_backward, mean_shares, squared_error_backward
from attention_core.model import ModelConfig, ModelTrace, TinyTransformer
from attention_core.optimiser import OPTIMISERS, OptimiserName, clipped
from attention_core.randomness import generator
from attention_core.shelf import Shelf
from attention_core.tasks import Batch, Task
from attention_core.weights import borrowed_model, weights_of

log = logging.getLogger(__name__)

MAX_STEPS = 5000
MAX_BATCH = 64
MAX_SNAPSHOT_BYTES = 2_000_000
MAX_SNAPSHOTS = 512
FEWEST_SNAPSHOTS = 6
DRAWN_TOGETHER = 32  # batches drawn at once: drawing costs the same for one as for many
MEASURE_EVERY = 20
HELD_OUT = 64  # sequences


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """All that determines a run. Raises ValueError that says which setting cannot be, and what could."""

    task: Task
    model: ModelConfig
    optimiser: OptimiserName = "adamw"
    learning_rate: float = 0.01
    weight_decay: float = 0.01
    clip: float | None = None  # the longest gradient; None leaves gradients as they are
    steps: int = 300
    batch_size: int = 4
    seed: int = 0

    def __post_init__(self):
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ValueError(f"a learning rate is a number above 0, but got {self.learning_rate}")
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise ValueError(f"a weight decay is a number from 0 up, but got {self.weight_decay}")
        if self.clip is not None and not (math.isfinite(self.clip) and self.clip > 0):
            raise ValueError(f"gradients are cut to a length above 0, but got {self.clip}")
        if self.optimiser not in OPTIMISERS:
            raise ValueError(f"an optimiser is one of {', '.join(OPTIMISERS)}, but got {self.optimiser}")
        generator(self.seed)
        if not 1 <= self.steps <= MAX_STEPS:
            raise ValueError(f"a run has 1 to {MAX_STEPS} steps, but got {self.steps}")
        if not 1 <= self.batch_size <= MAX_BATCH:
            raise ValueError(f"a batch has 1 to {MAX_BATCH} windows, but got {self.batch_size}")
        if self.model.vocabulary != len(self.task.vocabulary):
            raise ValueError(
                f"the {self.task.source} has {len(self.task.vocabulary)} different {self.task.unit}, "
                f"but the model was made for {self.model.vocabulary}"
            )
        if self.model.context < self.task.window:
            raise ValueError(
                f"the model sees {self.model.context} {self.task.unit} at once, "
                f"too few for a window of {self.task.window}"
            )
        if (wanted := self.task.model.get("output", "scores")) != self.model.output:
            raise ValueError(f"this task compares {wanted}, but the model gives {self.model.output}")


def recommended(task: Task, seed: int = 0, **changes: object) -> TrainingSettings:
    """The settings that learn a task within seconds; `changes` replace some of the model's or the training's.

    Raises ValueError, as `TrainingSettings` does, for changes that cannot be.
    """
    names = set(ModelConfig.__dataclass_fields__)
    parts = dict(task.model) | {name: value for name, value in changes.items() if name in names}
    config = ModelConfig(**{"vocabulary": len(task.vocabulary), "context": task.window} | parts)
    plain = dict(task.training) | {name: value for name, value in changes.items() if name not in names}
    return TrainingSettings(**{"task": task, "model": config, "seed": seed} | plain)


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """How good a model is at sequences it is not trained on.

    `jobs` holds, for each job of the task, how much of its weight each head puts on the right cells.
    """

    step: int
    loss: float  # as in training
    accuracy: float  # the share of answers that are right
    jobs: Float[Tensor, "jobs layers heads"]
    learnt: bool

    @property
    def job_weights(self) -> tuple[float, ...]:
        """For each job of the task, the weight that the best head puts on the right cells."""
        return tuple(self.jobs.flatten(1).amax(dim=1).tolist()) if self.jobs.numel() else ()

    @property
    def weight(self) -> float:
        """The weight on the right cells in the job that is done worst; NaN where a task has no picture of success."""
        return min(self.job_weights, default=math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """The model after `step` updates, and its loss on the next batch.

    `weights` are all in one vector, which no later step changes.
    """

    step: int
    loss: float  # nats per place that counts; squared error where vectors are compared
    weights: Float[Tensor, " parameters"]
    measured: Measured | None = None  # every MEASURE_EVERY steps, and at the last


def train(settings: TrainingSettings) -> Iterator[TrainingStep]:
    """Train a new model, one update between two steps; step 0 is the untrained model.

    The same settings give the same steps, bit for bit, whatever else runs beside them.
    Ends early, after the step that shows it, when the loss is no longer a finite number.
    """
    random = generator(settings.seed)
    weights = weights_of(TinyTransformer(settings.model, random))
    optimiser = OPTIMISERS[settings.optimiser](weights, settings.learning_rate, weight_decay=settings.weight_decay)
    batches = draw_batches(settings, random)
    for step in range(settings.steps + 1):
        batch = next(batches)
        with borrowed_model(settings.model, weights) as model:
            trace, loss = predict(model, batch)
            gradient = gradient_of(model, trace, batch)
            measured = measure_now(settings, model, step)
        optimiser.take(gradient if settings.clip is None else clipped(gradient, settings.clip))
        del batch, model, trace, gradient  # by far the largest part of a run that waits
        yield TrainingStep(step, loss, weights, measured)
        if not math.isfinite(loss):
            return
        weights = optimiser.step(weights)


def draw_batches(settings: TrainingSettings, random: torch.Generator) -> Iterator[Batch]:
    """Batch after batch, many drawn together. Where a perfect head would look is left out: that is to be found.

    They wait as bytes, for most runs of a class wait most of the time.
    """
    size = settings.batch_size
    while True:
        drawn = settings.task.batch(size * DRAWN_TOGETHER, random)
        inputs, targets = drawn.inputs.to(torch.int8), drawn.targets.to(torch.int8)
        del drawn
        for first in range(0, len(inputs), size):
            yield Batch(inputs[first : first + size].long(), targets[first : first + size].long())


@torch.inference_mode()
def predict(model: TinyTransformer, batch: Batch) -> tuple[ModelTrace, float]:
    """What the model computes for a batch, and its loss."""
    trace = model(batch.inputs)
    return trace, loss_of(model, trace, batch)


def loss_of(model: TinyTransformer, trace: ModelTrace, batch: Batch) -> float:
    """The mean cross-entropy of the predictions that count, or the mean squared error of vectors."""
    if model.config.output == "vectors":
        return mse_loss(trace.logits, model.token_table[batch.targets]).item()
    return cross_entropy(trace.logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_TARGET).item()


@torch.inference_mode()
def gradient_of(model: TinyTransformer, trace: ModelTrace, batch: Batch) -> Float[Tensor, " parameters"]:
    """The gradient of the loss by the chain rule, all weights in one vector."""
    if model.config.output == "vectors":
        d_logits = squared_error_backward(trace.logits, model.token_table[batch.targets])
    else:
        answers = batch.targets.clamp(min=0)[..., None]
        d_logits = cross_entropy_backward(trace.logits, answers, mean_shares(batch.targets))
    model.backward(trace, d_logits)
    gradient = torch.cat([weight.grad.flatten() for weight in model.weights])
    for weight in model.weights:
        weight.grad = None  # a run that waits need not hold it twice
    return gradient


def held_out_batch(settings: TrainingSettings) -> Batch | None:
    """The sequences a run is measured on: the same at every step, from a stream of their own."""
    return settings.task.held_out(HELD_OUT, generator(settings.seed, "held out"))


def measure_now(settings: TrainingSettings, model: TinyTransformer, step: int) -> Measured | None:
    """The measures of this step, if it is one at which the model is measured."""
    if step % MEASURE_EVERY and step != settings.steps:
        return None
    held_out = held_out_batch(settings)  # drawn anew: a run that waits would hold it for nothing
    return None if held_out is None else measure(settings.task, model, held_out, step)


@torch.inference_mode()
def measure(
    task: Task, model: TinyTransformer, batch: Batch, step: int = 0, without: Collection[tuple[int, int]] = ()
) -> Measured:
    """How well a model answers a batch, perhaps without some (layer, head) pairs, and where its heads look."""
    trace = model(batch.inputs, without)
    accuracy = accuracy_of(predicted_ids(model, trace), batch.targets)
    jobs = job_weights(trace, batch.looks)
    measured = Measured(step, loss_of(model, trace, batch), accuracy, jobs, False)
    return replace(measured, learnt=task.learnt(accuracy, measured.job_weights))


def predicted_ids(model: TinyTransformer, trace: ModelTrace) -> Int[Tensor, "*batch tokens"]:
    """The likeliest token at each place; where vectors are given, the token whose vector is nearest."""
    if model.config.output == "vectors":
        return torch.cdist(trace.logits, model.token_table).argmin(dim=-1)
    return trace.logits.argmax(dim=-1)


def accuracy_of(predicted: Int[Tensor, "*batch tokens"], targets: Int[Tensor, "*batch tokens"]) -> float:
    """The share of the places that count whose prediction is right."""
    return float((predicted == targets).sum() / (targets != NO_TARGET).sum())


def job_weights(
    trace: ModelTrace, looks: Bool[Tensor, "*batch jobs queries keys"] | None
) -> Float[Tensor, "jobs layers heads"]:
    """For each job and head, the mean weight on the right cells, over all queries that have any."""
    n_heads = trace.layers[0].attention.heads.weights.shape[-3]
    if looks is None:
        return no_jobs(len(trace.layers), n_heads)
    rows = looks.any(dim=-1).flatten(0, -3).sum(dim=(0, 2)) if looks.dim() > 3 else looks.any(dim=-1).sum(dim=-1)
    on_cells = [
        torch.einsum("...hqk,...jqk->jh", layer.attention.heads.weights, looks.to(torch.float32))
        for layer in trace.layers
    ]
    return torch.stack(on_cells, dim=1) / rows[:, None, None]


@functools.cache
def no_jobs(n_layers: int, n_heads: int) -> Float[Tensor, "jobs layers heads"]:
    """The job weights of a task without jobs. One for all: a tape keeps what was measured at every step."""
    return torch.zeros(0, n_layers, n_heads)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The weights a model had after `step` updates."""

    step: int
    weights: Float[Tensor, " parameters"]


class Tape:
    """What `train` yields for some settings, recorded as far as anybody has wanted to see it.

    Only `grow` changes it, one caller at a time; everything else may be read at any moment
    from any thread. Losses are kept for every step, weights for as many evenly spaced steps as
    MAX_SNAPSHOTS and MAX_SNAPSHOT_BYTES allow, and always for the newest. `thin` makes room for others.
    """

    def __init__(self, settings: TrainingSettings):
        self.settings = settings
        self.head = -1  # the newest recorded step
        self.ended = False  # no step will ever follow
        self.problem: str | None = None  # why it ended before its last step
        self._steps: Iterator[TrainingStep] | None = None  # while it grows
        self._losses = np.full(settings.steps + 1, np.nan)
        self._measured: list[Measured] = []
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
            while self.head < until and not self.ended:
                self._record_one()
                if clock() >= deadline or interrupted():
                    return

    def thin(self, keep: Collection[int] = ()) -> None:
        """Forget every second of the recorded weights; never those of the newest step and of the steps in `keep`."""
        with self._growing:
            self._thin({self.head, *keep})

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
        return self._losses[: min(until, self.head) + 1]

    def snapshot(self, step: int) -> Snapshot:
        """The weights of this step, or of the nearest recorded one before it."""
        for recorded in sorted(tuple(self._snapshots), reverse=True):
            weights = self._snapshots.get(recorded)
            if recorded <= step and weights is not None:
                return Snapshot(recorded, weights)
        raise ValueError(f"nothing is recorded up to step {step}; the newest step is {self.head}")

    def measured(self, until: int) -> tuple[Measured, ...]:
        """What was measured up to this step, the newest last."""
        return tuple(measured for measured in tuple(self._measured) if measured.step <= until)

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
            done = f"stopped after step {self.head}" if self.head >= 0 else "could not start"
            self._end(f"Training {done}: {error}")
            return
        if step is None:
            self._end(None)
        elif step.step <= self.head:
            return  # recorded before a rest
        elif not math.isfinite(step.loss):
            self._end(
                f"After {step.step} updates the loss is no longer a number: the steps were too large. "
                f"What you see is the last good model, after {max(self.head, 0)} updates. "
                f"Try a learning rate well below {self.settings.learning_rate:g}."
            )
        else:
            self._seconds += time.thread_time() - began
            self._losses[step.step] = step.loss
            if step.measured is not None:
                self._measured.append(step.measured)
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
        self.head = step
        if (step - 1) % self._stride:
            self._snapshots.pop(step - 1, None)
        while len(self._snapshots) > max(2, min(MAX_SNAPSHOTS, MAX_SNAPSHOT_BYTES // weights.nbytes)):
            self._thin({step})

    def _thin(self, keep: Collection[int]) -> None:
        self._stride *= 2
        self._shelf = Shelf()
        left = {step: weights for step, weights in self._snapshots.items() if step % self._stride == 0 or step in keep}
        self._snapshots = {step: self._shelf.keep(weights) for step, weights in left.items()}


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
    measured: tuple[Measured, ...] = ()  # up to here, the newest last


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
            self.last_seen = self._clock()
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
            measured=self.tape.measured(position),
        )

    def _stand_at(self, step: int) -> None:
        self._from_step, self._from_time = step, self._clock()


def checked_pace(steps_per_second: float | int | None) -> float | None:
    """The pace, if it is one. Raises ValueError otherwise."""
    if steps_per_second is not None and not (math.isfinite(steps_per_second) and steps_per_second > 0):
        raise ValueError(f"a pace is a number of steps per second above 0, but got {steps_per_second}")
    return steps_per_second
