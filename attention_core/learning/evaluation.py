"""Evaluation: how good a model is at sequences its task holds out, and whether its heads attend where they should."""

import functools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from attention_core.base.arrays import Array, namespace, row_products
from attention_core.learning.batches import NO_TARGET, Batch
from attention_core.learning.losses import LossTrace, cross_entropy, squared_error
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.one_head.heads import linear
from attention_core.text.embeddings import one_hot


@dataclass(frozen=True)
class Goal:
    """From when on a task counts as learnt.

    `accuracy` is the least share of right answers, `role_weight` the least weight on the right cells that the best head
    has in each role.
    """

    accuracy: float
    role_weight: float

    def reached(self, accuracy: float, role_weights: Iterable[float]) -> bool:
        """Return whether enough answers are right, and some head plays each role, as far as there are any."""
        return accuracy >= self.accuracy and all(weight >= self.role_weight for weight in role_weights)


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """How good a model is at the sequences that its task holds out.

    `role_weights` holds, for each role that the task has for a head, the mean weight that each head puts on the right
    cells.
    """

    step: int
    loss: float  # as in training
    accuracy: float  # the share of answers that are right
    role_weights: Float[np.ndarray, "roles layers heads"]
    learnt: bool

    @property
    def best_role_weights(self) -> tuple[float, ...]:
        """The weight that the best head puts on the right cells, for each role of the task."""
        return best_of_each(self.role_weights)

    @property
    def weight(self) -> float:
        """The weight on the right cells in the role that is played worst; NaN where a task has no roles."""
        return min(self.best_role_weights, default=math.nan)


def evaluate(
    goal: Goal, model: Transformer, batch: Batch, step: int = 0, ablated: Collection[tuple[int, int]] = ()
) -> Evaluation:
    """Evaluate a model on a batch, perhaps with some (layer, head) pairs ablated: its answers, and its attention."""
    (evaluation,) = evaluate_together((goal,), model, batch, (step,), ablated)
    return evaluation


def evaluate_together(
    goals: Sequence[Goal],
    model: Transformer,
    batch: Batch,
    steps: Sequence[int],
    ablated: Collection[tuple[int, int]] = (),
) -> list[Evaluation]:
    """Evaluate each of the runs that lie side by side along the first axis of a model and a batch."""
    trace = model(batch.inputs, ablated)
    losses = loss_of(model, trace, batch.targets).loss.reshape(-1).tolist()
    accuracies = accuracy_of(predicted_ids(model, trace), batch.targets, model.run_axes).reshape(-1).tolist()
    if batch.target_attention is None:
        role_weights = [no_roles(len(trace.layers), trace.layers[0].attention.heads.weights.shape[-3])] * len(goals)
    else:
        found = np.asarray(weights_on_targets(trace, batch.target_attention, model.run_axes))
        role_weights = found.reshape(len(goals), *found.shape[-3:])
    return [
        Evaluation(step, loss, accuracy, found, goal.reached(accuracy, best_of_each(found)))
        for goal, step, loss, accuracy, found in zip(goals, steps, losses, accuracies, role_weights, strict=True)
    ]


def loss_of(model: Transformer, trace: ModelTrace, targets: Int[Array, "*batch tokens"]) -> LossTrace:
    """Compute each run's mean cross-entropy over the positions that count, or its mean squared error of vectors."""
    if model.config.output == "vectors":
        wanted = linear(one_hot(targets, model.config.vocabulary, model.table), model.table)
        return squared_error(trace.logits, wanted, model.run_axes)
    return cross_entropy(trace.logits, targets, model.run_axes)


def predicted_ids(model: Transformer, trace: ModelTrace) -> Int[Array, "*batch tokens"]:
    """Return the likeliest token at each position; where a model outputs vectors, the token whose vector is nearest."""
    xp = namespace(trace.logits)
    if model.config.output == "vectors":
        squares = row_products(
            model.table, model.table
        )  # |t|² − 2 x·t is |x − t|², less what is the same for all tokens
        return xp.argmin(squares - 2 * trace.logits @ model.table.mT, axis=-1)
    return xp.argmax(trace.logits, axis=-1)


def accuracy_of(
    predicted: Int[Array, "*batch tokens"], targets: Int[Array, "*batch tokens"], run_axes: int = 0
) -> Float[Array, "*runs"]:
    """Compute the share of the positions that count whose prediction is right, for each run."""
    of_a_run = tuple(range(run_axes, targets.ndim))
    return (predicted == targets).sum(axis=of_a_run) / (targets != NO_TARGET).sum(axis=of_a_run)


def weights_on_targets(
    trace: ModelTrace, target: Bool[Array, "*batch roles queries keys"], run_axes: int = 0
) -> Float[Array, "*runs roles layers heads"]:
    """Compute, for each run, role and head, the mean weight on the right cells, over all queries that have any."""
    xp = namespace(trace.logits)
    runs, batch = target.shape[:run_axes], tuple(range(run_axes, target.ndim - 3))
    cells = xp.asarray(target, dtype=trace.logits.dtype).reshape(*target.shape[:-2], -1)  # *batch roles cells
    rows = xp.any(target, axis=-1).sum(axis=(*batch, -1))  # *runs roles
    on_cells = []
    for layer in trace.layers:
        weights = layer.attention.heads.weights
        products = cells @ weights.reshape(*weights.shape[:-2], -1).mT  # *batch roles heads
        on_cells.append(products.reshape(*runs, -1, *products.shape[-2:]).sum(axis=run_axes))
    return xp.stack(on_cells, axis=-2) / rows[..., None, None]


def best_of_each(role_weights: Float[np.ndarray, "roles layers heads"]) -> tuple[float, ...]:
    """Return, for each role, the weight that the best head puts on the right cells."""
    return tuple(float(heads.max()) for heads in role_weights)


@functools.cache
def no_roles(n_layers: int, n_heads: int) -> Float[np.ndarray, "roles layers heads"]:
    """Return the empty role weights of a task without roles; shared, since a run keeps those of every evaluation."""
    return np.zeros((0, n_layers, n_heads), dtype=np.float32)


def batch_shape(batch: Batch) -> tuple:
    """Return the shapes of a batch: batches for which they are equal can be stacked by `side_by_side`."""
    return batch.inputs.shape, None if batch.target_attention is None else batch.target_attention.shape


def side_by_side(batches: Sequence[Batch]) -> Batch:
    """Stack batches of the same shape, with an axis of runs in front, as NumPy arrays."""
    attention = [batch.target_attention for batch in batches if batch.target_attention is not None]
    return Batch(
        np.stack([np.asarray(batch.inputs) for batch in batches]),
        np.stack([np.asarray(batch.targets) for batch in batches]),
        None if not attention else lambda: np.stack([np.asarray(target) for target in attention]),
    )
