"""A head beside the same head by plain loops and with NumPy: how far the numbers are apart."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.reference import attend_with_loops, attend_with_numpy


@dataclass(frozen=True)
class ReferenceDifferences:
    """The largest difference of any weight or output from PyTorch's, for each of the two references."""

    loops: float
    numpy: float


@dataclass(frozen=True, eq=False)
class LoopsBesideMatrices:
    """A head by plain loops and by matrix products, and the difference between the two outputs."""

    loops: Float[Tensor, "queries d_v"]
    matrices: Float[Tensor, "queries d_v"]
    gap: Float[Tensor, "queries d_v"]  # loops − matrices, in the precision of the loops
    largest: float  # of all weights and outputs


def loops_beside_matrices(trace: AttentionTrace, scale: float) -> LoopsBesideMatrices:
    """Run the head of this trace with loops and put the output beside that of the matrices."""
    q, k, v, visible = (tensor.tolist() for tensor in (trace.q, trace.k, trace.v, trace.visible))
    looped = attend_with_loops(q, k, v, visible, scale)
    loops = torch.tensor(looped[1], dtype=torch.float64)
    return LoopsBesideMatrices(loops, trace.output, loops - trace.output, largest_difference(looped, trace))


def compare_references(trace: AttentionTrace, scale: float) -> ReferenceDifferences:
    """Run the head of this trace with loops and with NumPy, and compare with what PyTorch gave."""
    tensors = (trace.q, trace.k, trace.v, trace.visible)
    q, k, v, visible = (tensor.tolist() for tensor in tensors)
    looped = attend_with_loops(q, k, v, visible, scale)
    q, k, v, visible = (tensor.numpy() for tensor in tensors)
    arrays = attend_with_numpy(q, k, v, visible, scale)
    return ReferenceDifferences(largest_difference(looped, trace), largest_difference(arrays, trace))


def largest_difference(reference: tuple, trace: AttentionTrace) -> float:
    """The largest absolute difference of a reference's weights and output from the trace's."""
    pairs = zip(reference, (trace.weights, trace.output), strict=True)
    return max(float(np.abs(np.asarray(theirs) - ours.numpy()).max()) for theirs, ours in pairs)
