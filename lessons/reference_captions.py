"""How far plain loops and NumPy are from PyTorch, in words."""

from attention_core.reference import LoopsBesideMatrices, ReferenceDifferences
from lessons.captions import magnitude


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


def references_caption(difference: ReferenceDifferences) -> str:
    """That all three were run, and how far they are apart."""
    return (
        "All three ways were run on these numbers. From PyTorch's weights and output, the plain loops differ "
        f"by at most {difference.loops:.1e} and NumPy by at most {difference.numpy:.1e}."
    )
