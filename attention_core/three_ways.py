"""The same attention three times: with plain loops, with NumPy, with PyTorch. Run them all and compare."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace

Rows = list[list[float]]


def attend_with_loops(q: Rows, k: Rows, v: Rows, visible: list[list[bool]], scale: float) -> tuple[Rows, Rows]:
    """Weights and output for one head, number by number."""
    weights, output = [], []
    for query, may_see in zip(q, visible, strict=True):
        scores = []
        for key in k:
            score = 0.0
            for query_feature, key_feature in zip(query, key, strict=True):
                score += query_feature * key_feature
            scores.append(score * scale)
        largest = max(score for score, seen in zip(scores, may_see, strict=True) if seen)
        powers = [math.exp(score - largest) if seen else 0.0 for score, seen in zip(scores, may_see, strict=True)]
        row = [power / sum(powers) for power in powers]
        weights.append(row)
        mixture = [0.0] * len(v[0])
        for weight, value in zip(row, v, strict=True):
            for feature, number in enumerate(value):
                mixture[feature] += weight * number
        output.append(mixture)
    return weights, output


def attend_with_numpy(
    q: Float[np.ndarray, "queries d_k"],
    k: Float[np.ndarray, "keys d_k"],
    v: Float[np.ndarray, "keys d_v"],
    visible: np.ndarray,
    scale: float,
) -> tuple[Float[np.ndarray, "queries keys"], Float[np.ndarray, "queries d_v"]]:
    """Weights and output for one head, matrix by matrix."""
    scores = np.where(visible, q @ k.T * scale, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, weights @ v


@dataclass(frozen=True)
class Comparison:
    """The largest difference of any weight or output from PyTorch's, for the two other ways."""

    loops: float
    numpy: float


def compare_ways(trace: AttentionTrace, scale: float) -> Comparison:
    """Run the head of this trace with loops and with NumPy, and compare with what PyTorch gave."""
    tensors = (trace.q, trace.k, trace.v, trace.visible)
    looped = attend_with_loops(*(tensor.tolist() for tensor in tensors), scale)
    arrays = attend_with_numpy(*(tensor.numpy() for tensor in tensors), scale)
    return Comparison(*(largest_difference(way, trace.weights, trace.output) for way in (looped, arrays)))


def largest_difference(way: tuple, weights: Tensor, output: Tensor) -> float:
    """The largest absolute difference of weights and output."""
    pairs = zip(way, (weights, output), strict=True)
    return max(float(np.abs(np.asarray(mine) - theirs.numpy()).max()) for mine, theirs in pairs)
