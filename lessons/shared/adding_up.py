"""Numbers that are written with two decimals and still add up to their sum, as it is written."""

import math
from collections.abc import Sequence

from lessons.screen import Amount


def in_hundredths(parts: Sequence[float], whole: int | None = None) -> list[int]:
    """Each number in hundredths, rounded down or up, so that together they are the whole, in hundredths as well.

    Those are rounded up from which rounding down would take most (the method of the largest remainder). Without a
    `whole` it is their sum, rounded; another must be that sum rounded down or up.
    """
    exact = [100 * part for part in parts]
    least = [math.floor(number) for number in exact]
    up = (round(math.fsum(exact)) if whole is None else whole) - sum(least)
    most_lost = sorted(range(len(parts)), key=lambda place: least[place] - exact[place])
    for place in most_lost[:up]:
        least[place] += 1
    return least


def amounts(parts: Sequence[float], whole: int | None = None) -> tuple[Amount, ...]:
    """The same numbers, each with its hundredths."""
    return tuple(map(Amount, parts, in_hundredths(parts, whole)))
