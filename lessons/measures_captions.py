"""What the division by √d_k does, in measured numbers."""

from attention_core.measures import RowMeasures, ScaleMeasures


def own_scaling_caption(plain: RowMeasures, divided: RowMeasures, d_k: int) -> str:
    """What the division by √d_k does to one head's own scores, in measured numbers."""
    return (
        f"Here, with d_k = {d_k}, the scores have a standard deviation of {plain.std:.2f} and the largest weight of a "
        f"row is {plain.largest:.0%} on average; after the division they are {divided.std:.2f} and "
        f"{divided.largest:.0%}."
    ).replace("%", " %")


def scaling_caption(measured: tuple[ScaleMeasures, ...], d_k: int) -> str:
    """What the division does at one d_k, in measured numbers."""
    plain, divided = (next(m for m in measured if m.d_k == d_k and m.divided is way) for way in (False, True))
    return (
        f"At d_k = {d_k} the scores have a standard deviation of {plain.std:.2f} and the largest weight is "
        f"{plain.largest:.0%} on average; divided by √{d_k} they are {divided.std:.2f} and {divided.largest:.0%}. "
        f"The softmax Jacobian has norm {plain.jacobian:.2f} without the division and {divided.jacobian:.2f} with it."
    ).replace("%", " %")
