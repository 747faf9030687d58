"""AdamW and plain gradient descent: rules that turn gradients into better weights.

    m ← β₁ m + (1 − β₁) g            the mean of recent gradients
    v ← β₂ v + (1 − β₂) g²           and of their squares
    w ← w − lr λ w − lr m̂ / (√v̂ + ε)   m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)

With c = √(1 − β₂ᵗ) the last fraction is m̂ c / (√v + c ε): the same number, with one division fewer.

Loshchilov & Hutter 2019, algorithm 2, https://arxiv.org/abs/1711.05101. `torch.optim.AdamW` computes the same (a test
compares them). With λ = 0 it is Adam (Kingma & Ba 2015).

All weights of a run are one row of an array; runs that train together have one row each.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

OptimiserName = Literal["adamw", "sgd"]
Vectors = Float[np.ndarray, "runs parameters"]
Column = Float[np.ndarray, "runs 1"] | float


def adamw(
    weights: Vectors,
    gradient: Vectors,
    means: tuple[Vectors, Vectors],
    updates: Sequence[int],
    learning_rates: Sequence[float],
    weight_decays: Sequence[float],
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
) -> None:
    """Make one update by AdamW, in place.

    `means` are m and v, 0 at first; `updates` has the number of this update for each run, counted from 1. Intermediate
    results are changed in place, too: a new array for each would take as long as the arithmetic.
    """
    (m, v), (beta_1, beta_2) = means, betas
    change = gradient - m
    change *= 1 - beta_1
    m += change
    change = gradient * gradient
    change -= v
    change *= 1 - beta_2
    v += change
    c = [math.sqrt(1 - beta_2**t) for t in updates]
    rates = [lr * c_t / (1 - beta_1**t) for lr, c_t, t in zip(learning_rates, c, updates, strict=True)]
    deviation = np.sqrt(v)
    deviation += column([c_t * epsilon for c_t in c], weights)
    step = np.divide(m, deviation, out=deviation)
    step *= column(rates, weights)
    weights *= decay_factors(learning_rates, weight_decays, weights)
    weights -= step


def sgd(
    weights: Vectors,
    gradient: Vectors,
    means: tuple[()],
    updates: Sequence[int],
    learning_rates: Sequence[float],
    weight_decays: Sequence[float],
) -> None:
    """Make one step of plain gradient descent with decoupled decay, in place: w ← w − lr λ w − lr g."""
    weights *= decay_factors(learning_rates, weight_decays, weights)
    weights -= column(learning_rates, weights) * gradient


def decay_factors(learning_rates: Sequence[float], weight_decays: Sequence[float], rows: Vectors) -> Column:
    """Return the factor by which decay shrinks each run's weights: 1 − lr λ."""
    return column([1 - lr * decay for lr, decay in zip(learning_rates, weight_decays, strict=True)], rows)


def column(numbers: Sequence[float], rows: Vectors) -> Column:
    """Return a number for each row, in the precision of the rows; a single one as a plain number: same bits, faster."""
    return np.array(numbers, dtype=rows.dtype)[:, None] if len(numbers) > 1 else numbers[0]


@dataclass(frozen=True)
class Optimiser:
    """A rule of updating, and how many means of gradients it keeps from one update to the next."""

    update: Callable[..., None]
    n_means: int


OPTIMISERS: dict[OptimiserName, Optimiser] = {"adamw": Optimiser(adamw, 2), "sgd": Optimiser(sgd, 0)}


def clipped(gradient: Vectors, longest: Sequence[float]) -> Vectors:
    """Shorten each gradient that is longer than its limit in `longest` to that length; the direction stays."""
    length = np.maximum(np.sqrt(np.vecdot(gradient, gradient)), 1e-30)
    return gradient * np.minimum(1, column(longest, gradient) / length[:, None])
