"""What one layer of attention costs: multiplications, numbers moved, parameters, and what a cache keeps.

Every count is a formula in the sizes of the layer, and written so that it can be read as one.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from attention_core.base.arrays import Array

Count = int | Array  # one that remembers how it was counted (see `traced`), where its formula is wanted
CostStep = Literal["projections", "scores", "softmax", "mix", "join"]
GROWS_SQUARED: tuple[CostStep, ...] = ("scores", "softmax", "mix")  # with the square of the number of tokens


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """The sizes of one layer. Several query heads may share the keys and values of one of `n_kv_heads`."""

    tokens: Count
    d_model: Count
    n_heads: Count
    n_kv_heads: Count
    d_k: Count
    d_v: Count


class StepCounts(NamedTuple):
    """A number for each step of attention."""

    projections: Count
    scores: Count
    softmax: Count
    mix: Count
    join: Count


@dataclass(frozen=True, kw_only=True)
class LayerCounts:
    """What a layer costs: multiplications, numbers that are read and written, and numbers that are kept."""

    multiplications: StepCounts
    moved: StepCounts
    parameters: Count
    cache: Count
    squared_from: Count


def count_layer(sizes: LayerSizes) -> LayerCounts:
    """Count everything that a layer of these sizes costs."""
    return LayerCounts(
        multiplications=multiplications(sizes),
        moved=numbers_moved(sizes),
        parameters=layer_parameters(sizes),
        cache=cached_numbers(sizes),
        squared_from=squared_from(sizes),
    )


def multiplications(s: LayerSizes) -> StepCounts:
    """Count the multiplications of each step: a product of a × b and b × c numbers takes a · b · c of them.

    The softmax multiplies each score by the scale and divides each exponential by the sum of its row; a division counts
    as a multiplication. What is masked is computed all the same.
    """
    return StepCounts(
        projections=s.tokens * s.d_model * (s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v)),
        scores=s.n_heads * s.tokens * s.tokens * s.d_k,
        softmax=s.n_heads * s.tokens * s.tokens * 2,
        mix=s.n_heads * s.tokens * s.tokens * s.d_v,
        join=s.tokens * s.n_heads * s.d_v * s.d_model,
    )


def numbers_moved(s: LayerSizes) -> StepCounts:
    """Count the numbers that each step reads and writes, where it reads its inputs and writes its result once.

    Each of the three projections reads the rows of X. Keys and values are read once for all query heads that share
    them; the mask is computed, not read.
    """
    features = s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v)  # of queries, keys and values
    pairs = s.n_heads * s.tokens * s.tokens
    return StepCounts(
        projections=3 * s.tokens * s.d_model + (s.d_model + s.tokens) * features,
        scores=s.tokens * (s.n_heads + s.n_kv_heads) * s.d_k + pairs,
        softmax=2 * s.n_heads * s.tokens * s.tokens,
        mix=pairs + s.tokens * (s.n_kv_heads + s.n_heads) * s.d_v,
        join=(s.tokens + s.d_model) * s.n_heads * s.d_v + s.tokens * s.d_model,
    )


def layer_parameters(s: LayerSizes) -> Count:
    """Count the entries of W_q, W_k, W_v and W_o."""
    return s.d_model * (s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v) + s.n_heads * s.d_v)


def cached_numbers(s: LayerSizes) -> Count:
    """Count the numbers in the keys and values of all tokens, which a cache keeps for later tokens."""
    return s.tokens * s.n_kv_heads * (s.d_k + s.d_v)


def squared_from(s: LayerSizes) -> Count:
    """Compute from how many tokens on the steps that grow with n² take more than half of the multiplications.

    n is the number of tokens: n · linear < n² · squared where n > linear / squared.
    """
    squared = s.n_heads * (s.d_k + 2 + s.d_v)
    return layer_parameters(s) // squared + 1  # each token meets every parameter once
