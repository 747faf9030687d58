"""One source for NumPy arrays and torch tensors.

Both have operators, `.mT`, `.shape`, `.ndim`, `.reshape`, `.swapaxes` and `.sum(axis=…)` in common. Every other
function is reached under the same name and with the same meaning in both libraries: `xp = namespace(x)`, then
`xp.exp(x)`. Whatever has to run on both uses only these. The shapes in the annotations hold for both libraries, as in
`Float[Array, "tokens d_model"]`.

The results of a step are kept in dataclasses with slots. They are not frozen, because every step creates some and
creating frozen ones takes several times as long. Nothing changes them all the same.
"""

import functools
from typing import Any

import numpy as np
from jaxtyping import Float

Array = Any  # jaxtyping checks shape and kind of number of whatever has both
Tokens = Float[Array, "*batch tokens d_model"]
Positions = Float[Array, "*runs tokens d_model"]


def namespace(x: Array) -> Any:
    """Return the library that x comes from; torch where x is None."""
    if isinstance(x, np.ndarray):  # the fastest test there is: training makes a hundred thousand a second
        return np
    if hasattr(x, "__array_namespace__"):  # a library that names itself, as in the array API: see `traced`
        return x.__array_namespace__()
    import torch  # only for torch tensors: training and the first page do without

    return torch


def numbers_of(x: Array) -> Array:
    """Return the plain numbers of x, for what a program decides by them, such as which keys it goes through."""
    return x.values if hasattr(x, "rule") else x


def precise(x: Array | None) -> Any:
    """Return the type of number for what must not be computed in 16 bits: that of x, but of 32 bits at least.

    Without an x it is torch's float32.
    """
    return namespace(x).float32 if x is None or x.dtype.itemsize < 4 else x.dtype


def cast(x: Array, dtype: Any) -> Array:
    """Return x with numbers of the type `dtype`."""
    if x.dtype == dtype:
        return x
    return x.to(dtype) if hasattr(x, "to") else namespace(x).asarray(x, dtype=dtype)


def align_runs(weight: Array, x: Array, own_axes: int) -> Array:
    """Return the weight with an axis of length 1 for each batch axis of x, so that both broadcast.

    Runs that train together have axes in front. A weight then has the shape (*runs, *own), where `own_axes` counts the
    axes of a single run's weight. What the runs compute has batch axes between, (*runs, *batch, *own). A weight without
    runs broadcasts as it is.
    """
    batch_axes, runs = x.ndim - weight.ndim, weight.shape[: weight.ndim - own_axes]
    if not runs or batch_axes == 0:
        return weight
    return weight.reshape(*runs, *(1,) * batch_axes, *weight.shape[weight.ndim - own_axes :])


def row_products(x: Array, y: Array) -> Array:
    """Compute the dot product of each row of x with the corresponding row of y."""
    return np.vecdot(x, y) if isinstance(x, np.ndarray) else namespace(x).linalg.vecdot(x, y)


def row_sum(x: Array) -> Array:
    """Compute the sum of each row, as a column, by a product with ones: ten times as fast in NumPy for short rows."""
    return (x @ ones(x.shape[-1], x))[..., None]


def column_sum(x: Array) -> Array:
    """Compute the sum of all rows, one number for each column, by a product with ones."""
    return ones(x.shape[-2], x) @ x


def ones(length: int, x: Array) -> Array:
    """Return a vector of ones in the library and the type of x. A NumPy vector is shared, so it must not be changed."""
    return numpy_ones(length, x.dtype) if isinstance(x, np.ndarray) else namespace(x).ones(length, dtype=x.dtype)


@functools.lru_cache(maxsize=256)
def numpy_ones(length: int, dtype: np.dtype) -> np.ndarray:
    """Return a NumPy vector of ones. It is made once and shared, so it must not be changed."""
    return np.ones(length, dtype)


def row_max(x: Array) -> Array:
    """Compute the largest number of each row, as a column.

    NumPy compares whole columns, once they are copied side by side, ten times as fast as the numbers of short rows.
    """
    columns = x.reshape(-1, x.shape[-1]).mT.reshape(-1).reshape(x.shape[-1], *x.shape[:-1])
    return namespace(x).amax(columns, axis=0)[..., None]
