"""Measurements of what the size of d_k does to scores, weights and the gradient of the softmax."""

import functools
import math
from dataclasses import asdict, dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace, softmax_rows

D_K_MEASURED = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
MEASURES = ("std", "largest", "entropy", "jacobian")


@dataclass(frozen=True)
class RowMeasures:
    """Four measures of rows of scores and of the weights that softmax makes of them, over all rows together."""

    std: float  # standard deviation of all the scores
    largest: float  # largest weight of a row
    entropy: float  # of a row of weights, in nats
    jacobian: float  # Frobenius norm of the derivative of the weights with respect to the scores


@dataclass(frozen=True, kw_only=True)
class ScaleMeasures(RowMeasures):
    """Measures of rows of weights, averaged over many random draws, for one d_k and one way of scaling."""

    d_k: int
    divided: bool


@functools.lru_cache(maxsize=32)
def measure_scaling(
    n_keys: int, n_draws: int, seed: int, sizes: tuple[int, ...] = D_K_MEASURED
) -> tuple[ScaleMeasures, ...]:
    """Measure scores of random queries and keys for several d_k, with and without division by √d_k.

    Each draw is one query and n_keys keys from the standard normal distribution. A smaller d_k takes the first features
    of the same draws.
    """
    random = generator(seed, "scaling")
    q = torch.randn(n_draws, 1, max(sizes), generator=random)
    k = torch.randn(n_draws, n_keys, max(sizes), generator=random)
    measured = []
    for d_k in sizes:
        scores = (q[..., :d_k] @ k[..., :d_k].mT).squeeze(-2)
        for divided in (False, True):
            rows = scores / math.sqrt(d_k) if divided else scores
            measured.append(ScaleMeasures(**asdict(measure_rows(rows, softmax_rows(rows))), d_k=d_k, divided=divided))
    return tuple(measured)


def measure_head(attention: AttentionTrace) -> RowMeasures:
    """Measure the rows of one head, with the scores of all keys that a query may attend to."""
    return measure_rows(attention.masked[attention.visible], attention.weights)


def measure_rows(scores: Float[Tensor, "*scores"], weights: Float[Tensor, "rows keys"]) -> RowMeasures:
    """Compute the four measures of some scores and their rows of weights."""
    return RowMeasures(
        std=float(scores.std(correction=0)),
        largest=float(weights.max(dim=-1).values.mean()),
        entropy=float(torch.special.entr(weights).sum(dim=-1).mean()),
        jacobian=float(softmax_jacobian_norm(weights).mean()),
    )


def mean_entropy(weights: Float[Tensor, "queries keys"]) -> float:
    """Compute the mean entropy of rows of weights, in bits: 0 for one key alone, n for 2ⁿ keys of equal weight."""
    return float(torch.special.entr(weights.double()).sum(dim=-1).mean()) / math.log(2)


def softmax_jacobian_norm(weights: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """Compute ‖diag(w) − w wᵀ‖, the Frobenius norm: how much any weight can still move when a score does.

    ‖diag(w) − w wᵀ‖² = Σ w² − 2 Σ w³ + (Σ w²)².
    """
    squares = (weights**2).sum(dim=-1)
    return (squares - 2 * (weights**3).sum(dim=-1) + squares**2).clamp(min=0).sqrt()
