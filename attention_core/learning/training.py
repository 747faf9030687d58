"""Training: an iterator of steps, each with the loss, the weights, and now and then an evaluation.

What `train` yields depends on the settings alone, seed included, and not on who watches. So everybody who chooses the
same settings sees the same run.
"""

import functools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int

from attention_core.base.arrays import Array
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.randomness import generator
from attention_core.learning.backward import loss_backward, model_backward
from attention_core.learning.evaluation import Evaluation, batch_shape, evaluate_together, loss_of, side_by_side
from attention_core.learning.losses import LossTrace
from attention_core.learning.optimiser import OPTIMISERS, OptimiserName, clipped
from attention_core.learning.tasks import Batch, Task, fingerprints
from attention_core.model.small_model import ModelConfig, draw_model, model_with
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.model.weights import weights_of

MAX_STEPS = 5000
MAX_BATCH = 64
DRAWN_TOGETHER = 32  # batches drawn at once: drawing costs the same for one as for many
EVALUATE_EVERY = 20
HELD_OUT = 64  # sequences
EngineName = Literal["numpy", "autograd"]


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


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """The model after `step` updates, and its loss on the next batch.

    `weights` has all weights in one vector, which no later step changes.
    """

    step: int
    loss: float  # nats per position that counts; squared error where vectors are compared
    weights: Float[np.ndarray, " parameters"]
    evaluation: Evaluation | None = None  # every EVALUATE_EVERY steps, and at the last


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
class TrainingState:
    """The state of one run between two of its steps: all that the next step depends on.

    Batches that wait are kept as bytes, since most runs of a class wait most of the time.
    """

    settings: TrainingSettings
    random: torch.Generator
    weights: Float[np.ndarray, " parameters"]
    means: tuple[Float[np.ndarray, " parameters"], ...]  # of gradients, as many as the optimiser keeps
    inputs: Int[np.ndarray, "drawn batch tokens"]
    targets: Int[np.ndarray, "drawn batch tokens"]
    drawn: int = 0  # how many batches have been drawn
    step: int = 0  # the next one, and the number of updates made so far


def begin_run(settings: TrainingSettings) -> TrainingState:
    """Start a new run before its step 0: weights and batches come from one generator, in this order."""
    random = generator(settings.seed)
    weights = weights_of(draw_model(settings.model, random)).numpy()
    means = tuple(np.zeros_like(weights) for _ in range(OPTIMISERS[settings.optimiser].n_means))
    shape = DRAWN_TOGETHER, settings.batch_size, settings.task.window
    return TrainingState(settings, random, weights, means, np.zeros(shape, np.int8), np.zeros(shape, np.int8))


def stack_shape(settings: TrainingSettings) -> Hashable:
    """Return what determines the shapes of a run's arrays: runs for which it is equal can be trained together."""
    return settings.model, settings.optimiser, settings.engine, settings.batch_size, settings.task.window


class TrainingStack:
    """Runs of one shape, trained together: all arrays have an axis of runs in front, and one operation serves all runs.

    The numbers of a run depend on that run alone, to the last bit, whatever is trained beside it, `evaluated` or not.
    """

    def __init__(self, states: Sequence[TrainingState], *, evaluated: bool = True):
        self.states, self.evaluated = states, evaluated
        first = states[0].settings
        self.optimiser, self.gradient_of = OPTIMISERS[first.optimiser], ENGINES[first.engine]
        self.weights = stacked([state.weights for state in states])
        self.means = tuple(stacked(list(means)) for means in zip(*(state.means for state in states), strict=True))
        self.inputs = stacked([state.inputs for state in states])
        self.targets = stacked([state.targets for state in states])
        self.learning_rates = [state.settings.learning_rate for state in states]
        self.weight_decays = [state.settings.weight_decay for state in states]
        self.longest = [math.inf if state.settings.clip is None else state.settings.clip for state in states]
        self.model = model_with(first.model, self.weights)

    def step(self) -> list[TrainingStep]:
        """Return the next step of each run: loss, weights, perhaps an evaluation. Then update the weights.

        NumPy warns where a loss becomes infinite or is not a number, unless its warnings are switched off.
        """
        losses, gradient = self.gradient_of(self.model, self.next_batch())
        if min(self.longest) < math.inf:
            gradient = clipped(gradient, self.longest)
        evaluations = self.evaluations() if self.evaluated else {}
        weights = self.weights.copy()
        updates = [state.step + 1 for state in self.states]
        self.optimiser.update(self.weights, gradient, self.means, updates, self.learning_rates, self.weight_decays)
        steps = []
        for i, (state, loss) in enumerate(zip(self.states, losses.tolist(), strict=True)):
            steps.append(TrainingStep(state.step, loss, weights[i], evaluations.get(i)))
            state.step += 1
        return steps

    def next_batch(self) -> Batch:
        """Return the next batch of each run. Many are drawn together: drawing costs the same for one as for many."""
        for i, state in enumerate(self.states):
            if state.step == state.drawn:
                self.inputs[i], self.targets[i] = draw_block(state.settings, state.random)
                state.drawn += DRAWN_TOGETHER
        places = [state.step % DRAWN_TOGETHER for state in self.states]
        if len(set(places)) == 1:  # runs that have begun together: a slice costs less than a choice
            return Batch(self.inputs[:, places[0]], self.targets[:, places[0]])
        which = np.arange(len(places)), np.array(places)
        return Batch(self.inputs[which], self.targets[which])

    def evaluations(self) -> dict[int, Evaluation]:
        """Evaluate those runs that have reached a step at which they are evaluated, and return the results by index."""
        groups: dict[Hashable, list[tuple[int, Batch]]] = {}
        for i, state in enumerate(self.states):
            if state.step % EVALUATE_EVERY == 0 or state.step == state.settings.steps:
                batch = held_out(state.settings)  # drawn anew: a run that waits would hold it for nothing
                if batch is not None:
                    groups.setdefault(batch_shape(batch), []).append((i, batch))
        found: dict[int, Evaluation] = {}
        for group in groups.values():
            which = [i for i, _ in group]
            states = [self.states[i] for i in which]
            model = self.model if len(which) == len(self.states) else model_with(self.model.config, self.weights[which])
            evaluations = evaluate_together(
                [state.settings.task for state in states],
                model,
                side_by_side([batch for _, batch in group]),
                [state.step for state in states],
            )
            found |= zip(which, evaluations, strict=True)
        return found

    def write_back(self) -> None:
        """Write the results back to the state of each run, which can then be trained alone or with others."""
        for i, state in enumerate(self.states):
            state.weights[:], state.inputs[:], state.targets[:] = self.weights[i], self.inputs[i], self.targets[i]
            for mine, all_means in zip(state.means, self.means, strict=True):
                mine[:] = all_means[i]


def stacked(arrays: list[np.ndarray]) -> np.ndarray:
    """Stack arrays along a new axis of runs in front; a single one needs no copy."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


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


def predict(model: Transformer, batch: Batch) -> tuple[ModelTrace, LossTrace]:
    """Compute what the model predicts for a batch, and the loss."""
    trace = model(batch.inputs)
    return trace, loss_of(model, trace, batch.targets)


def gradient_of(model: Transformer, batch: Batch) -> tuple[Float[Array, "*runs"], Float[Array, "*runs parameters"]]:
    """Compute the loss, and its gradient by the chain rule, with all weights in one vector."""
    trace, loss = predict(model, batch)
    _, d_model = model_backward(model, trace, loss_backward(loss))
    return loss.loss, weights_of(d_model)


def gradient_by_autograd(
    model: Transformer, batch: Batch
) -> tuple[Float[np.ndarray, "*runs"], Float[np.ndarray, "*runs parameters"]]:
    """Compute the loss, and its gradient by PyTorch's autograd through the forward functions, in one vector."""
    with torch.inference_mode(False), torch.enable_grad():
        vector = torch.tensor(weights_of(model), requires_grad=True)
        tensors = Batch(torch.tensor(batch.inputs).long(), torch.tensor(batch.targets).long())
        _, loss = predict(model_with(model.config, vector), tensors)
        (gradient,) = torch.autograd.grad(loss.loss.sum(), vector)
    return loss.loss.detach().numpy(), gradient.numpy()


ENGINES = {"numpy": gradient_of, "autograd": gradient_by_autograd}


def draw_block(
    settings: TrainingSettings, random: torch.Generator
) -> tuple[Int[np.ndarray, "drawn batch tokens"], Int[np.ndarray, "drawn batch tokens"]]:
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
