"""AdamW and plain gradient descent, the rules that turn gradients into better weights.

    m ← β₁ m + (1 − β₁) g            the mean of recent gradients
    v ← β₂ v + (1 − β₂) g²           and of their squares
    w ← w − lr λ w − lr m̂ / (√v̂ + ε)   m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)

With c = √(1 − β₂ᵗ) the last fraction is m̂ c / (√v + c ε): the same number, with one division fewer.

Loshchilov & Hutter 2019, algorithm 2, https://arxiv.org/abs/1711.05101. `torch.optim.AdamW` computes the
same (a test compares them), but its first use imports a symbolic algebra system: a second of everybody's
start and 80 MB of a small server's memory. With λ = 0 it is Adam (Kingma & Ba 2015).
"""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor


class AdamW:
    """Keeps the means for a vector of weights; the first weights only say how long it is."""

    def __init__(
        self,
        weights: Float[Tensor, " parameters"],
        learning_rate: float,
        *,
        weight_decay: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ):
        self.learning_rate = learning_rate
        self.kept = torch.tensor(1 - learning_rate * weight_decay)  # a plain number would become a tensor at each step
        self.betas, self.epsilon = betas, epsilon
        self.mean, self.mean_square = torch.zeros_like(weights), torch.zeros_like(weights)
        self.updates = 0

    def take(self, gradient: Float[Tensor, " parameters"]) -> None:
        """Take a gradient into the means; the vector itself is needed no more."""
        self.updates += 1
        beta_1, beta_2 = self.betas
        self.mean.lerp_(gradient, 1 - beta_1)
        self.mean_square.lerp_(gradient.square(), 1 - beta_2)

    def step(self, weights: Float[Tensor, " parameters"]) -> Float[Tensor, " parameters"]:
        """The weights after an update with the gradient that was taken last."""
        beta_1, beta_2 = self.betas
        c = math.sqrt(1 - beta_2**self.updates)
        deviation = self.mean_square.sqrt().add_(c * self.epsilon)
        rate = self.learning_rate * c / (1 - beta_1**self.updates)
        return (weights * self.kept).addcdiv_(self.mean, deviation, value=-rate)


class Sgd:
    """Plain gradient descent with decoupled decay: w ← w − lr λ w − lr g."""

    def __init__(self, weights: Float[Tensor, " parameters"], learning_rate: float, *, weight_decay: float = 0.0):
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.gradient = torch.zeros_like(weights)

    def take(self, gradient: Float[Tensor, " parameters"]) -> None:
        """Keep a gradient for the update."""
        self.gradient = gradient

    def step(self, weights: Float[Tensor, " parameters"]) -> Float[Tensor, " parameters"]:
        """The weights after an update with the gradient that was taken last."""
        kept = weights * (1 - self.learning_rate * self.weight_decay)
        return kept.sub_(self.gradient, alpha=self.learning_rate)


Optimiser = AdamW | Sgd
OptimiserName = Literal["adamw", "sgd"]
OPTIMISERS: dict[OptimiserName, type[Optimiser]] = {"adamw": AdamW, "sgd": Sgd}


def clipped(gradient: Float[Tensor, " parameters"], longest: float) -> Float[Tensor, " parameters"]:
    """The gradient, shortened to the length `longest` where it is longer; its direction stays."""
    return gradient * torch.clamp(longest / gradient.norm(), max=1.0)
