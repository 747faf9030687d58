"""A printed number stands for an interval: half a unit of its last place to either side.

Two processors compute the same number with its last binary digits apart, so the two roundings of 1.735 differ. What a
screen prints is therefore never compared with what a number computed again would print. It is asked whether the number
computed again lies in the interval that is printed, but for a few units in its last binary place.
"""

import math
from collections.abc import Callable, Sequence

import pytest

from lessons.screen import number

RELATIVE, ABSOLUTE = 1e-5, 1e-6  # some units in the last place of a float32, and of a sum of such as 1

Write = Callable[[float], str]


def readings(value: float, write: Write = number) -> set[str]:
    """What is printed of a number, whatever the last binary digits that a processor gave it."""
    value = float(value)
    slack = RELATIVE * abs(value) + ABSOLUTE if math.isfinite(value) else 0.0
    return {write(near) for near in (value - slack, value, value + slack)}


def as_printed(numbers: float | Sequence[float], decimals: int = 4) -> pytest.approx:
    """What equals all numbers that print like these."""
    return pytest.approx(numbers, abs=0.5 * 10**-decimals + ABSOLUTE, rel=RELATIVE)


def with_decimals(decimals: int) -> Write:
    """Writes a number with so many decimals."""
    return lambda value: number(value, decimals)


def read_alike(values: Sequence[float], write: Write = number) -> bool:
    """Whether these numbers may all print the same."""
    return bool(set.intersection(*(readings(value, write) for value in values)))


def some_may_differ(values: Sequence[float], write: Write = number) -> bool:
    """Whether these numbers may print differently."""
    return len(set.union(*(readings(value, write) for value in values))) > 1


def lead(named: Sequence[int], values: Sequence[float], write: Write = number) -> bool:
    """Whether these places, and no others, hold the numbers that print as the largest does. Infinite ones do not count.

    Where the last binary digits decide what ties, either answer is right.
    """
    finite = {place: readings(value, write) for place, value in enumerate(values) if math.isfinite(value)}
    largest = max(finite, key=lambda place: values[place])
    return set(named) <= finite.keys() and any(
        all(text in texts if place in named else texts != {text} for place, texts in finite.items())
        for text in finite[largest]
    )


def largest(values: Sequence[float], count: int) -> list[int]:
    """The places of so many of the largest numbers: those that a sentence means which only counts what ties."""
    return sorted(range(len(values)), key=lambda place: values[place], reverse=True)[:count]
