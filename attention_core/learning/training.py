"""Training: an iterator of steps, each with the loss, the weights, and now and then an evaluation.

What `train` yields depends on the settings alone, seed included, and not on who watches. So everybody who chooses the
same settings sees the same run.
"""

import functools
import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import torch
from jaxtyping import Float, Int

from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.randomness import generator
from attention_core.learning.evaluation import Evaluation
from attention_core.learning.optimiser import OPTIMISERS, OptimiserName
from attention_core.learning.steps import (
    DRAWN_TOGETHER,
    DrawnBatches,
    EngineName,
    StepSettings,
    TrainingStack,
    TrainingState,
    TrainingStep,
)
from attention_core.learning.tasks import Batch, Task, fingerprints
from attention_core.model.small_model import ModelConfig, blank, draw_model
from attention_core.model.weights import weights_of

MAX_STEPS = 5000
MAX_BATCH = 64
HELD_OUT = 64  # sequences


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """All settings that determine a run. Raises InputError that says which one cannot be, and what could."""

    task: Task
    model: ModelConfig
    optimiser: OptimiserName = "adamw"
    learning_rate: float = 0.01
    weight_decay: float = 0.01
    clip: float | None = None  # the longest gradient; None leaves gradients as they are
    steps: int = 300
    batch_size: int = 4
    seed: int = 0
    engine: EngineName = "numpy"  # what finds the gradients: `backward` with NumPy, or PyTorch's autograd

    def __post_init__(self):
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise InputError("a learning rate is a number above 0, but got {rate}", rate=self.learning_rate)
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise TechnicalError("a weight decay is a number from 0 up, but got {decay}", decay=self.weight_decay)
        if self.clip is not None and not (math.isfinite(self.clip) and self.clip > 0):
            raise TechnicalError("gradients are cut to a length above 0, but got {clip}", clip=self.clip)
        if self.optimiser not in OPTIMISERS:
            raise one_of("an optimiser", OPTIMISERS, self.optimiser)
        if self.engine not in get_args(EngineName):
            raise one_of("an engine", get_args(EngineName), self.engine)
        generator(self.seed)
        if not 1 <= self.steps <= MAX_STEPS:
            raise TechnicalError("a run has 1 to {most} steps, but got {steps}", most=MAX_STEPS, steps=self.steps)
        if not 1 <= self.batch_size <= MAX_BATCH:
            raise TechnicalError(
                "a batch has 1 to {most} windows, but got {size}", most=MAX_BATCH, size=self.batch_size
            )
        if self.model.vocabulary != len(self.task.vocabulary):
            raise TechnicalError(
                "the {source} has {count} different {unit}, but the model was made for {made_for}",
                source=self.task.source,
                count=len(self.task.vocabulary),
                unit=self.task.unit,
                made_for=self.model.vocabulary,
            )
        if self.model.context < self.task.window:
            raise TechnicalError(
                "the model sees {context} {unit} at once, too few for a window of {window}",
                context=self.model.context,
                unit=self.task.unit,
                window=self.task.window,
            )
        if (wanted := self.task.model.get("output", "scores")) != self.model.output:
            raise TechnicalError(
                "this task compares {wanted}, but the model gives {output}", wanted=wanted, output=self.model.output
            )


def one_of(what: str, known: Iterable[str], got: object) -> TechnicalError:
    """Return an InputError for a name that is none of the known ones."""
    return TechnicalError("{what} is one of {known}, but got {got}", what=what, known=", ".join(known), got=str(got))


def recommended(task: Task, seed: int = 0, **changes: Any) -> TrainingSettings:
    """Return settings that learn a task within seconds; `changes` replace some of the model's or the training's.

    Raises InputError, as `TrainingSettings` does, for changes that cannot be.
    """
    names = set(ModelConfig.__dataclass_fields__)
    parts: dict[str, Any] = {"vocabulary": len(task.vocabulary), "context": task.window, **task.model}
    parts |= {name: value for name, value in changes.items() if name in names}
    plain: dict[str, Any] = {"task": task, "model": ModelConfig(**parts), "seed": seed, **task.training}
    plain |= {name: value for name, value in changes.items() if name not in names}
    return TrainingSettings(**plain)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The weights of a model after `step` updates."""

    step: int
    weights: Float[np.ndarray, " parameters"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingHistory:
    """A run from its beginning to one of its steps, with the weights at that step or at the nearest one before."""

    settings: TrainingSettings
    losses: Float[np.ndarray, " steps"] = field(repr=False)  # of step 0 and every later one
    evaluations: tuple[Evaluation, ...]  # the newest last
    snapshot: Snapshot = field(repr=False)


@dataclass(eq=False)
class TaskDraws:
    """What a run draws from its task: the batches from one generator, the sequences for evaluation from another."""

    settings: TrainingSettings
    random: torch.Generator

    def block(self) -> DrawnBatches:
        """Draw the next batches."""
        return draw_block(self.settings, self.random)

    def held_out(self) -> Batch | None:
        """Draw the sequences for evaluation anew: a run that waits would hold them for nothing."""
        return held_out(self.settings)


def begin_run(settings: TrainingSettings) -> TrainingState:
    """Start a new run before its step 0: weights and batches come from one generator, in this order."""
    random = generator(settings.seed)
    weights = weights_of(draw_model(settings.model, random)).numpy()
    means = tuple(np.zeros_like(weights) for _ in range(OPTIMISERS[settings.optimiser].n_means))
    shape = DRAWN_TOGETHER, settings.batch_size, settings.task.window
    inputs, targets = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
    return TrainingState(step_settings(settings), TaskDraws(settings, random), weights, means, inputs, targets)


def step_settings(settings: TrainingSettings) -> StepSettings:
    """Return what of the settings determines the steps."""
    return StepSettings(
        model=blank(settings.model),
        goal=settings.task.goal,
        optimiser=settings.optimiser,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        clip=settings.clip,
        steps=settings.steps,
        engine=settings.engine,
    )


def stack_shape(settings: TrainingSettings) -> Hashable:
    """Return what determines the shapes of a run's arrays: runs for which it is equal can be trained together."""
    return settings.model, settings.optimiser, settings.engine, settings.batch_size, settings.task.window


def train(settings: TrainingSettings, *, evaluated: bool = True) -> Iterator[TrainingStep]:
    """Train a new model, one update between two steps; step 0 is the untrained model.

    The same settings give the same steps, bit for bit, whatever else runs beside them. Unless `evaluated`, steps have
    no evaluations, which take about an eighth of the time. Training ends early, after the step that shows it, when the
    loss is no longer a finite number.
    """
    stack = TrainingStack([begin_run(settings)], evaluated=evaluated)
    for _ in range(settings.steps + 1):
        with np.errstate(all="ignore"):  # a loss that is no number is seen below
            (step,) = stack.step()
        yield step
        if not math.isfinite(step.loss):
            return


def draw_block(settings: TrainingSettings, random: torch.Generator) -> DrawnBatches:
    """Draw the inputs and targets of the next batches. Target attention is left out: the heads are to find it."""
    aside = held_out_fingerprints(settings.task, settings.seed)
    drawn = settings.task.training_batch(settings.batch_size * DRAWN_TOGETHER, random, aside)
    shape = DRAWN_TOGETHER, settings.batch_size, settings.task.window
    return drawn.inputs.to(torch.int8).numpy().reshape(shape), drawn.targets.to(torch.int8).numpy().reshape(shape)


def draw_batches(settings: TrainingSettings, random: torch.Generator) -> Iterator[Batch]:
    """Yield the batches that a run is trained on, one after the other."""
    while True:
        for inputs, targets in zip(*draw_block(settings, random), strict=True):
            yield Batch(torch.tensor(inputs).long(), torch.tensor(targets).long())


def held_out(settings: TrainingSettings) -> Batch | None:
    """Return the sequences a run is evaluated on, from a separate random stream; None where the task has too few."""
    return settings.task.held_out(HELD_OUT, generator(settings.seed, "held out"))


def held_out_batch(settings: TrainingSettings) -> Batch:
    """Return the sequences a run is evaluated on. Raises InputError where the task has too few of them."""
    batch = held_out(settings)
    if batch is None:
        raise TechnicalError("a run is evaluated on sequences it is not trained on, but its task has too few of them")
    return batch


@functools.lru_cache(maxsize=256)  # as many runs as are trained at once have theirs at hand
def held_out_fingerprints(task: Task, seed: int) -> Int[torch.Tensor, " sequences"]:
    """Return fingerprints of what a run never trains on: the sequences for evaluation, and the example that is shown.

    There are none where the task does not draw afresh or has too few sequences.
    """
    batch = task.held_out(HELD_OUT, generator(seed, "held out")) if task.draws_afresh else None
    if batch is None:
        return torch.zeros(0, dtype=torch.long)
    watched = task.example.ids[None]
    return fingerprints(torch.cat([batch.inputs, watched]))
