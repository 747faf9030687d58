"""Losses: how wrong a model is, as one number, and every tensor on the way to it."""

import math
from dataclasses import dataclass

from jaxtyping import Float, Int

from attention_core.base.arrays import Array, namespace, numbers_of, row_max, row_products, row_sum
from attention_core.base.inputs import check_alike, check_ids
from attention_core.base.traces import Trace
from attention_core.learning.batches import NO_TARGET
from attention_core.text.embeddings import one_hot


@dataclass(slots=True, eq=False, repr=False)
class CrossEntropyTrace(Trace):
    """The mean surprise −ln p(target) over the positions that count, in nats, with the tensors behind it.

    `shares` is what each position counts in the mean: 1/n of the n that count, 0 where there is no target.
    """

    probabilities: Float[Array, "*batch vocabulary"]
    targets: Float[Array, "*batch vocabulary"]  # one-hot
    shares: Float[Array, "*batch"]
    loss: Float[Array, "*runs"]


@dataclass(slots=True, eq=False, repr=False)
class SquaredErrorTrace(Trace):
    """The mean square of all differences between the vectors that a model outputs and those that are wanted."""

    difference: Float[Array, "*batch d_model"]
    share: float  # of each difference in the mean
    loss: Float[Array, "*runs"]


LossTrace = CrossEntropyTrace | SquaredErrorTrace


def cross_entropy(
    logits: Float[Array, "*batch vocabulary"], targets: Int[Array, "*batch"], run_axes: int = 0
) -> CrossEntropyTrace:
    """Compute each run's mean surprise. NO_TARGET does not count; other targets that are no ids raise InputError."""
    xp = namespace(logits)
    check_ids(numbers_of(targets) * (numbers_of(targets) != NO_TARGET), logits.shape[-1])
    runs = targets.shape[:run_axes]
    counts = xp.asarray(targets != NO_TARGET, dtype=logits.dtype).reshape(*runs, -1)
    shares = counts / row_sum(counts)  # *runs positions
    right = one_hot(targets, logits.shape[-1], logits)
    shifted = logits - row_max(logits)
    exponentials = xp.exp(shifted)
    sums = row_sum(exponentials)
    # −ln p as ln Σ exp(s) − s[target], which stays finite where p is too small for a float
    surprises = (xp.log(sums[..., 0]) - row_products(shifted, right)).reshape(*runs, -1)
    loss = row_products(surprises, shares)
    return CrossEntropyTrace(exponentials / sums, right, shares.reshape(targets.shape), loss)


def squared_error(
    output: Float[Array, "*batch d_model"], wanted: Float[Array, "*batch d_model"], run_axes: int = 0
) -> SquaredErrorTrace:
    """Compute the mean squared error of each run's batch. Raises InputError where shape or type of number differ."""
    check_alike("what is wanted", wanted, output)
    difference, share = output - wanted, 1 / math.prod(output.shape[run_axes:])
    loss = (difference * difference).sum(axis=tuple(range(run_axes, output.ndim))) * share
    return SquaredErrorTrace(difference, share, loss)
