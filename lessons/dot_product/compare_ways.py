"""One attention in three ways of writing it, run on the numbers of a screen."""

from attention_core.attention import AttentionTrace
from lessons.dot_product.loops_and_numpy import compare_references
from lessons.screen.message import Magnitude, Message, message


def compared(attention: AttentionTrace, scale: float) -> Message:
    """Say that loops, NumPy and PyTorch were all run, and how far they are apart."""
    difference = compare_references(attention, scale)
    return message(
        "All three ways were run on these numbers. Compared with PyTorch's weights and output, the plain loops "
        "differ by at most {loops} and NumPy by at most {numpy}.",
        loops=Magnitude(difference.loops),
        numpy=Magnitude(difference.numpy),
    )
