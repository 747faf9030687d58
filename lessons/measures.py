"""Measured, not told: what the size of d_k does to scores, weights and the gradient of the softmax."""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, softmax_rows
from attention_core.randomness import generator

D_K_MEASURED = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
MEASURES = ("spread", "largest", "entropy", "jacobian")


@dataclass(frozen=True)
class ScaleMeasure:
    """Means over many draws, for one d_k and one way of scaling."""

    d_k: int
    divided: bool
    spread: float  # standard deviation of the scores
    largest: float  # largest weight of a row
    entropy: float  # of a row of weights, in nats
    jacobian: float  # Frobenius norm of the derivative of the weights with respect to the scores


@functools.lru_cache(maxsize=32)
def measure_scaling(
    n_keys: int, n_draws: int, seed: int, sizes: tuple[int, ...] = D_K_MEASURED
) -> tuple[ScaleMeasure, ...]:
    """Draw queries and keys from the standard normal distribution and measure, with and without division by √d_k.

    Every draw is one query and n_keys keys. A smaller d_k takes the first features of the same draws.
    """
    random = generator(seed, "scaling")
    q = torch.randn(n_draws, 1, max(sizes), generator=random)
    k = torch.randn(n_draws, n_keys, max(sizes), generator=random)
    measured = []
    for d_k in sizes:
        scores = (q[..., :d_k] @ k[..., :d_k].mT).squeeze(-2)
        measured += [measure(d_k, divided, scores / math.sqrt(d_k) if divided else scores) for divided in (False, True)]
    return tuple(measured)


def measure(d_k: int, divided: bool, scores: Float[Tensor, "draws keys"]) -> ScaleMeasure:
    """The four measures of rows of scores, averaged over the rows."""
    weights = softmax_rows(scores)
    return ScaleMeasure(
        d_k,
        divided,
        spread=float(scores.std(correction=0)),
        largest=float(weights.max(dim=-1).values.mean()),
        entropy=float(torch.special.entr(weights).sum(dim=-1).mean()),
        jacobian=float(softmax_jacobian_norm(weights).mean()),
    )


@dataclass(frozen=True)
class OwnMeasure:
    """The same four measures of one head's own scores: means over the queries, of what each may see."""

    spread: float
    largest: float
    entropy: float
    jacobian: float


def measure_own(attention: AttentionTrace) -> OwnMeasure:
    """Measure one head as `measure` does random draws; the spread is that of all visible scores together."""
    weights = attention.weights
    return OwnMeasure(
        spread=float(attention.masked[attention.visible].std(correction=0)),
        largest=float(weights.max(dim=-1).values.mean()),
        entropy=float(torch.special.entr(weights).sum(dim=-1).mean()),
        jacobian=float(softmax_jacobian_norm(weights).mean()),
    )


def own_story(plain: OwnMeasure, divided: OwnMeasure, d_k: int) -> str:
    """What the division by √d_k does to one head's own scores, in measured numbers."""
    return (
        f"Here, with d_k = {d_k}, the scores spread by {plain.spread:.2f} and the largest weight of a row is "
        f"{plain.largest:.0%} on average; divided they spread by {divided.spread:.2f} and it is {divided.largest:.0%}."
    ).replace("%", " %")


def softmax_jacobian_norm(weights: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """‖diag(w) − w wᵀ‖, the Frobenius norm: how much any weight can still move when a score does.

    ‖diag(w) − w wᵀ‖² = Σ w² − 2 Σ w³ + (Σ w²)².
    """
    squares = (weights**2).sum(dim=-1)
    return (squares - 2 * (weights**3).sum(dim=-1) + squares**2).clamp(min=0).sqrt()


def scaling_story(measured: tuple[ScaleMeasure, ...], d_k: int) -> str:
    """What the division does at one d_k, in measured numbers."""
    plain, divided = (next(m for m in measured if m.d_k == d_k and m.divided is way) for way in (False, True))
    return (
        f"At d_k = {d_k} the scores spread by {plain.spread:.2f} and the largest weight is {plain.largest:.0%} "
        f"on average; divided by √{d_k} they spread by {divided.spread:.2f} and it is {divided.largest:.0%}. "
        f"The derivative of the softmax has length {plain.jacobian:.2f} without and {divided.jacobian:.2f} with it."
    ).replace("%", " %")
