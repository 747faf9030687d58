"""One attention in three ways of writing it, run on the numbers of a screen."""

import torch

from attention_core.one_head.attention import AttentionTrace, attend
from lessons.one_head.dot_product.loops_and_numpy import compare_references
from lessons.screen import Magnitude, Message, message


def compared(attention: AttentionTrace, scale: float) -> Message:
    """Say that loops, NumPy and PyTorch were all run, and how far they are apart."""
    difference = compare_references(in_torch(attention, scale), scale)
    return message(
        "All three ways were run on these numbers. Compared with PyTorch's weights and output, the plain loops "
        "differ by at most {loops} and NumPy by at most {numpy}.",
        loops=Magnitude(difference.loops),
        numpy=Magnitude(difference.numpy),
    )


def in_torch(attention: AttentionTrace, scale: float) -> AttentionTrace:
    """The same attention, computed by PyTorch: the first screen computes it with NumPy."""
    if isinstance(attention.q, torch.Tensor):
        return attention
    return attend(*map(torch.from_numpy, (attention.q, attention.k, attention.v, attention.visible)), scale=scale)
