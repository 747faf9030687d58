"""How far plain loops and NumPy are from PyTorch, in words."""

from attention_core.reference import ReferenceDifferences


def references_caption(difference: ReferenceDifferences) -> str:
    """That all three were run, and how far they are apart."""
    return (
        "All three ways were run on these numbers. From PyTorch's weights and output, the plain loops differ "
        f"by at most {difference.loops:.1e} and NumPy by at most {difference.numpy:.1e}."
    )
