"""The same attention three times: with plain loops, with NumPy, with PyTorch. Run them all and compare."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from lessons.captions import magnitude

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


@dataclass(frozen=True, eq=False)
class LoopsBesideMatrices:
    """The same head by plain loops and by matrix products, and what is between the two outputs."""

    loops: Float[Tensor, "queries d_v"]
    matrices: Float[Tensor, "queries d_v"]
    gap: Float[Tensor, "queries d_v"]  # loops − matrices, in the precision of the loops
    largest: float  # of all weights and outputs


def loops_beside_matrices(trace: AttentionTrace, scale: float) -> LoopsBesideMatrices:
    """Run the head of this trace with loops and put the output beside that of the matrices."""
    looped = attend_with_loops(*(tensor.tolist() for tensor in (trace.q, trace.k, trace.v, trace.visible)), scale)
    loops = torch.tensor(looped[1], dtype=torch.float64)
    largest = largest_difference(looped, trace.weights, trace.output)
    return LoopsBesideMatrices(loops, trace.output, loops - trace.output, largest)


def loops_caption(beside: LoopsBesideMatrices) -> str:
    """How far the two ways are apart, and why it is not exactly nothing."""
    size = magnitude(beside.largest)
    if beside.largest == 0:
        return "Loops and matrices give the very same weights and output."
    if beside.largest > 1e-4:
        return f"Loops and matrices differ by up to {size}: more than rounding explains."
    return (
        f"Loops and matrices give the same weights and output: they differ by at most {size}. "
        "That is rounding: Python's loops count with about 16 digits, PyTorch's matrices with about 7."
    )


def compare_ways(trace: AttentionTrace, scale: float) -> Comparison:
    """Run the head of this trace with loops and with NumPy, and compare with what PyTorch gave."""
    tensors = (trace.q, trace.k, trace.v, trace.visible)
    looped = attend_with_loops(*(tensor.tolist() for tensor in tensors), scale)
    arrays = attend_with_numpy(*(tensor.numpy() for tensor in tensors), scale)
    return Comparison(*(largest_difference(way, trace.weights, trace.output) for way in (looped, arrays)))


def comparison_caption(difference: Comparison) -> str:
    """That all three were run, and how far they are apart."""
    return (
        "All three ways were run on these numbers. From PyTorch's weights and output, the plain loops differ "
        f"by at most {difference.loops:.1e} and NumPy by at most {difference.numpy:.1e}."
    )


def largest_difference(way: tuple, weights: Tensor, output: Tensor) -> float:
    """The largest absolute difference of weights and output."""
    pairs = zip(way, (weights, output), strict=True)
    return max(float(np.abs(np.asarray(mine) - theirs.numpy()).max()) for mine, theirs in pairs)
