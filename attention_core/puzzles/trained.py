"""The weights of a puzzle found by training: gradient descent on sentences other than those that are scored."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.base.randomness import generator
from attention_core.learning.optimiser import adamw
from attention_core.model.weights import in_one_vector
from attention_core.puzzles.base import LARGEST, Puzzle, Sentences, Weights, heads_of

TRAINED_ON = 128  # sentences
UPDATES, RATE = 200, 0.1
SMALLEST = 1e-9  # no weight counts as less in the logarithm


class TrainedWeights(NamedTuple):
    """The weights that training has found, and the loss before each update, in nats per query that counts."""

    weights: Weights
    losses: tuple[float, ...]


def train_puzzle(puzzle: Puzzle, seed: int = 0, updates: int = UPDATES) -> TrainedWeights:
    """Train weights by Adam, beginning with random ones; none goes beyond what can be set by hand.

    The same seed gives the same weights. Entries that cannot be set stay as they are given.
    """
    sentences, random = puzzle.sentences(TRAINED_ON, seed, "training"), generator(seed, f"puzzle {puzzle.key} weights")
    given, free = puzzle.zeros(), puzzle.masks()
    with torch.inference_mode(False), torch.enable_grad():
        drawn = in_one_vector([untrained(matrix.shape, random) for matrix in given])[None].requires_grad_()
        numbers, losses = drawn.detach().numpy(), []  # the same memory
        means = np.zeros_like(numbers), np.zeros_like(numbers)
        for update in range(1, updates + 1):
            loss = loss_of_puzzle(puzzle, settled(matrices(drawn, given), given, free), sentences)
            losses.append(float(loss.detach()))
            (gradient,) = torch.autograd.grad(loss, drawn)
            adamw(numbers, gradient.numpy(), means, [update], [RATE], [0.0])
            np.clip(numbers, -LARGEST, LARGEST, out=numbers)
        found = settled(matrices(drawn.detach(), given), given, free)
    return TrainedWeights(found, tuple(losses))


def matrices(drawn: Float[Array, "1 parameters"], given: Weights) -> list[Array]:
    """Split numbers in one row into matrices of the sizes of `given`."""
    parts = drawn[0].split([matrix.numel() for matrix in given])
    return [part.reshape(matrix.shape) for part, matrix in zip(parts, given, strict=True)]


def settled(drawn: list[Array], given: Weights, free: Weights) -> Weights:
    """Return weights with the trained numbers where numbers may be set, and with the given ones elsewhere."""
    return Weights(*(given[i] + (drawn[i] - given[i]) * free[i] for i in range(3)))


def untrained(shape: tuple[int, ...], random: torch.Generator) -> Float[Array, "features columns"]:
    """Draw weights as PyTorch draws those of a new head: uniform between ±1/√features."""
    return (2 * torch.rand(*shape, generator=random, dtype=torch.float64) - 1) / shape[0] ** 0.5


def loss_of_puzzle(puzzle: Puzzle, weights: Weights, sentences: Sentences) -> Float[Array, ""]:
    """Compute the cross-entropy between target and weights; where the output is scored, the mean squared error."""
    traces = heads_of(puzzle, weights, sentences.x, sentences.may_attend)
    if puzzle.counts:
        off = traces[0].output[..., 0] - sentences.wanted[:, None]
        return (off.square() * sentences.real).sum() / sentences.real.sum()
    own = traces[-1:] if puzzle.stacked else traces
    surprise = [
        -(sentences.target[:, job] * trace.weights.clamp_min(SMALLEST).log()).sum() for job, trace in enumerate(own)
    ]
    return sum(surprise) / sentences.target.sum()
