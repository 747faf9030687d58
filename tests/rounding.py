"""Two computations of the same numbers are apart by their rounding, which is in proportion to what they sum.

Each processor sums in an order of its own. Where terms of size 100 cancel and leave 0.1, what is left of their last
binary places is as large as it was beside 100: a tolerance that does not know of the 100 holds on one processor and not
on the next. What comes out of a softmax is never larger than 1, and up to half as uncertain as the scores that went in.
"""

import numpy as np
from numpy.typing import ArrayLike

SUMS = 2e-6  # 16 units in the last place of a float32, for what is a few sums long
LAYERS = 1e-5  # 80 units, for layers each made of the one before


def assert_close_for_size(found: ArrayLike, expected: ArrayLike, *terms: ArrayLike, rounding: float = SUMS) -> None:
    """All numbers found are as expected, but for a small part of the largest: of those expected, or of the terms that
    were summed on the way to them, such as the scores beneath weights.
    """
    found, expected, *terms = map(as_doubles, (found, expected, *terms))
    size = max(np.abs(one[np.isfinite(one)]).max(initial=0) for one in (expected, *terms))
    np.testing.assert_allclose(found, expected, rtol=0, atol=rounding * size)


def as_doubles(numbers: ArrayLike) -> np.ndarray:
    """Numbers, or an array of either library, as an array of NumPy in double precision."""
    return np.asarray(numbers.detach() if hasattr(numbers, "detach") else numbers, float)
