"""The same attention twice more, to check `attend` by: with plain loops, number by number, and with NumPy.

Both take the mask as True where a query may look at a key, and both return weights and output of one head.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
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
    visible: Bool[np.ndarray, "queries keys"],
    scale: float,
) -> tuple[Float[np.ndarray, "queries keys"], Float[np.ndarray, "queries d_v"]]:
    """Weights and output for one head, matrix by matrix."""
    scores = np.where(visible, q @ k.T * scale, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, weights @ v


@dataclass(frozen=True)
class ReferenceDifferences:
    """The largest difference of any weight or output from PyTorch's, for each of the two references."""

    loops: float
    numpy: float


@dataclass(frozen=True, eq=False)
class LoopsBesideMatrices:
    """The same head by plain loops and by matrix products, and the difference between the two outputs."""

    loops: Float[Tensor, "queries d_v"]
    matrices: Float[Tensor, "queries d_v"]
    gap: Float[Tensor, "queries d_v"]  # loops − matrices, in the precision of the loops
    largest: float  # of all weights and outputs


def loops_beside_matrices(trace: AttentionTrace, scale: float) -> LoopsBesideMatrices:
    """Run the head of this trace with loops and put the output beside that of the matrices."""
    looped = attend_with_loops(*(tensor.tolist() for tensor in (trace.q, trace.k, trace.v, trace.visible)), scale)
    loops = torch.tensor(looped[1], dtype=torch.float64)
    return LoopsBesideMatrices(loops, trace.output, loops - trace.output, largest_difference(looped, trace))


def compare_references(trace: AttentionTrace, scale: float) -> ReferenceDifferences:
    """Run the head of this trace with loops and with NumPy, and compare with what PyTorch gave."""
    tensors = (trace.q, trace.k, trace.v, trace.visible)
    looped = attend_with_loops(*(tensor.tolist() for tensor in tensors), scale)
    arrays = attend_with_numpy(*(tensor.numpy() for tensor in tensors), scale)
    return ReferenceDifferences(largest_difference(looped, trace), largest_difference(arrays, trace))


def largest_difference(reference: tuple, trace: AttentionTrace) -> float:
    """The largest absolute difference of a reference's weights and output from the trace's."""
    pairs = zip(reference, (trace.weights, trace.output), strict=True)
    return max(float(np.abs(np.asarray(theirs) - ours.numpy()).max()) for theirs, ours in pairs)
