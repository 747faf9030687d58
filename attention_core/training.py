"""Training: an iterator of steps, each with the loss, the weights, and now and then an evaluation.

`train` knows nothing of who watches. What it yields depends on the settings alone, seed included, so that everybody
who asks for the same settings sees the same run.
"""

import functools
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from attention_core.backward import cross_entropy_backward, mean_shares, model_backward, squared_error_backward
from attention_core.model import ModelConfig, ModelTrace, TinyTransformer
from attention_core.optimiser import OPTIMISERS, OptimiserName, clipped
from attention_core.randomness import generator
from attention_core.tasks import NO_TARGET, Batch, Task
from attention_core.weights import pack_weights

MAX_STEPS = 5000
MAX_BATCH = 64
DRAWN_TOGETHER = 32  # batches drawn at once: drawing costs the same for one as for many
EVALUATE_EVERY = 20
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
class Evaluation:
    """How good a model is at sequences it is not trained on.

    `role_weights` holds, for each role that the task has for a head, how much of its weight each head puts on the
    right cells.
    """

    step: int
    loss: float  # as in training
    accuracy: float  # the share of answers that are right
    role_weights: Float[Tensor, "roles layers heads"]
    learnt: bool

    @property
    def best_role_weights(self) -> tuple[float, ...]:
        """For each role of the task, the weight that the best head puts on the right cells."""
        return tuple(self.role_weights.flatten(1).amax(dim=1).tolist()) if self.role_weights.numel() else ()

    @property
    def weight(self) -> float:
        """The weight on the right cells in the role that is played worst; NaN where a task has no roles."""
        return min(self.best_role_weights, default=math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """The model after `step` updates, and its loss on the next batch.

    `weights` are all in one vector, which no later step changes.
    """

    step: int
    loss: float  # nats per position that counts; squared error where vectors are compared
    weights: Float[Tensor, " parameters"]
    evaluation: Evaluation | None = None  # every EVALUATE_EVERY steps, and at the last


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The weights a model had after `step` updates."""

    step: int
    weights: Float[Tensor, " parameters"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingHistory:
    """A run from its beginning to one of its steps, and the weights there, or nearest before."""

    settings: TrainingSettings
    losses: Float[np.ndarray, " steps"] = field(repr=False)  # of step 0 and every later one
    evaluations: tuple[Evaluation, ...]  # the newest last
    snapshot: Snapshot = field(repr=False)


def train(settings: TrainingSettings) -> Iterator[TrainingStep]:
    """Train a new model, one update between two steps; step 0 is the untrained model.

    The same settings give the same steps, bit for bit, whatever else runs beside them.
    Ends early, after the step that shows it, when the loss is no longer a finite number.
    """
    random = generator(settings.seed)
    model = TinyTransformer(settings.model, random)
    model_weights = pack_weights(model)
    weights = model_weights.clone()
    optimiser = OPTIMISERS[settings.optimiser](weights, settings.learning_rate, weight_decay=settings.weight_decay)
    batches = draw_batches(settings, random)
    for step in range(settings.steps + 1):
        batch = next(batches)
        trace, loss = predict(model, batch)
        gradient = gradient_of(model, trace, batch)
        evaluation = evaluate_now(settings, model, step)
        optimiser.take(gradient if settings.clip is None else clipped(gradient, settings.clip))
        del batch, trace, gradient  # by far the largest part of a run that waits
        yield TrainingStep(step, loss, weights, evaluation)
        if not math.isfinite(loss):
            return
        weights = optimiser.step(weights)
        model_weights.copy_(weights)


def draw_batches(settings: TrainingSettings, random: torch.Generator) -> Iterator[Batch]:
    """Batch after batch, many drawn together. The target attention is left out: it is for the heads to find.

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
        targets = batch.targets.clamp(min=0)[..., None]
        d_logits = cross_entropy_backward(trace.logits, targets, mean_shares(batch.targets))
    model_backward(model, trace, d_logits)
    gradient = torch.cat([weight.grad.flatten() for weight in model.weights])
    for weight in model.weights:
        weight.grad = None  # a run that waits need not hold it twice
    return gradient


def held_out_batch(settings: TrainingSettings) -> Batch | None:
    """The sequences a run is evaluated on: the same at every step, from a stream of their own."""
    return settings.task.held_out(HELD_OUT, generator(settings.seed, "held out"))


def evaluate_now(settings: TrainingSettings, model: TinyTransformer, step: int) -> Evaluation | None:
    """The evaluation at this step, if it is one at which the model is evaluated."""
    if step % EVALUATE_EVERY and step != settings.steps:
        return None
    held_out = held_out_batch(settings)  # drawn anew: a run that waits would hold it for nothing
    return None if held_out is None else evaluate(settings.task, model, held_out, step)


@torch.inference_mode()
def evaluate(
    task: Task, model: TinyTransformer, batch: Batch, step: int = 0, ablated: Collection[tuple[int, int]] = ()
) -> Evaluation:
    """How well a model answers a batch, perhaps with some (layer, head) pairs ablated, and where its heads attend."""
    trace = model(batch.inputs, ablated)
    accuracy = accuracy_of(predicted_ids(model, trace), batch.targets)
    role_weights = weights_on_targets(trace, batch.target_attention)
    evaluation = Evaluation(step, loss_of(model, trace, batch), accuracy, role_weights, False)
    return replace(evaluation, learnt=task.learnt(accuracy, evaluation.best_role_weights))


def predicted_ids(model: TinyTransformer, trace: ModelTrace) -> Int[Tensor, "*batch tokens"]:
    """The likeliest token at each position; where vectors are given, the token whose vector is nearest."""
    if model.config.output == "vectors":
        return torch.cdist(trace.logits, model.token_table).argmin(dim=-1)
    return trace.logits.argmax(dim=-1)


def accuracy_of(predicted: Int[Tensor, "*batch tokens"], targets: Int[Tensor, "*batch tokens"]) -> float:
    """The share of the positions that count whose prediction is right."""
    return float((predicted == targets).sum() / (targets != NO_TARGET).sum())


def weights_on_targets(
    trace: ModelTrace, target: Bool[Tensor, "*batch roles queries keys"] | None
) -> Float[Tensor, "roles layers heads"]:
    """For each role and head, the mean weight on the right cells, over all queries that have any."""
    n_heads = trace.layers[0].attention.heads.weights.shape[-3]
    if target is None:
        return no_roles(len(trace.layers), n_heads)
    rows = target.any(dim=-1).flatten(0, -3).sum(dim=(0, 2)) if target.dim() > 3 else target.any(dim=-1).sum(dim=-1)
    on_cells = [
        torch.einsum("...hqk,...rqk->rh", layer.attention.heads.weights, target.to(torch.float32))
        for layer in trace.layers
    ]
    return torch.stack(on_cells, dim=1) / rows[:, None, None]


@functools.cache
def no_roles(n_layers: int, n_heads: int) -> Float[Tensor, "roles layers heads"]:
    """The role weights of a task without roles. One for all: a run keeps those of every evaluation."""
    return torch.zeros(0, n_layers, n_heads)
