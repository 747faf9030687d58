"""One source for NumPy arrays and torch tensors.

Both have operators, `.mT`, `.shape`, `.ndim`, `.reshape`, `.swapaxes` and `.sum(axis=…)` in common. What else they can
do is reached under the same name and with the same meaning in both libraries: `xp = namespace(x)`, then `xp.exp(x)`.
Only such functions are used. Shapes are as in the annotations, whatever the library: `Float[Array, "tokens d_model"]`
holds for both.

What a step computes stands in dataclasses with slots. They are not frozen, for making them is a part of every step and
takes several times as long then; nobody changes them all the same.
"""

import functools
from typing import Any

import numpy as np
from jaxtyping import Float

Array = Any  # jaxtyping checks shape and kind of number of whatever has both
Tokens = Float[Array, "*batch tokens d_model"]
Positions = Float[Array, "*runs tokens d_model"]


def namespace(x: Array) -> Any:
    """The library that x comes from; torch, where there is no x."""
    if isinstance(x, np.ndarray):  # no faster way to ask: training asks a hundred thousand times a second
        return np
    if hasattr(x, "__array_namespace__"):  # a library that says which it is, as the array API has it: see `traced`
        return x.__array_namespace__()
    import torch  # only where there is a torch tensor: training and the first page do without

    return torch


def numbers_of(x: Array) -> Array:
    """The numbers alone, for what a program decides by them, such as which keys it goes through."""
    return x.values if hasattr(x, "rule") else x


def precise(x: Array | None) -> Any:
    """The type of number for what must not be computed in 16 bits: that of x, but 32 bits at least."""
    return namespace(x).float32 if x is None or x.dtype.itemsize < 4 else x.dtype


def cast(x: Array, dtype: Any) -> Array:
    """x with numbers of this type."""
    if x.dtype == dtype:
        return x
    return x.to(dtype) if hasattr(x, "to") else namespace(x).asarray(x, dtype=dtype)


def align_runs(weight: Array, x: Array, own_axes: int) -> Array:
    """The weight with axes of length 1 between those of its runs and its own, one for each axis of x's batch.

    Runs that train together have an axis in front, (*runs, *own); what they compute has a batch between them,
    (*runs, *batch, *own). A weight without runs broadcasts as it is.
    """
    batch_axes, runs = x.ndim - weight.ndim, weight.shape[: weight.ndim - own_axes]
    if not runs or batch_axes == 0:
        return weight
    return weight.reshape(*runs, *(1,) * batch_axes, *weight.shape[weight.ndim - own_axes :])


def row_products(x: Array, y: Array) -> Array:
    """The dot product of each row of x with the same row of y."""
    return np.vecdot(x, y) if isinstance(x, np.ndarray) else namespace(x).linalg.vecdot(x, y)


def row_sum(x: Array) -> Array:
    """The sum of each row, as a column: a product with ones, which NumPy computes ten times as fast for short rows."""
    return (x @ ones(x.shape[-1], x))[..., None]


def sum_of_rows(x: Array) -> Array:
    """The sum of each column, as a row: a product with ones, too."""
    return ones(x.shape[-2], x) @ x


def ones(length: int, x: Array) -> Array:
    """Ones in the library and the type of x. A NumPy vector is made once and shared, so it must not be changed."""
    return numpy_ones(length, x.dtype) if isinstance(x, np.ndarray) else namespace(x).ones(length, dtype=x.dtype)


@functools.lru_cache(maxsize=256)
def numpy_ones(length: int, dtype: np.dtype) -> np.ndarray:
    """A shared NumPy vector of ones, which must not be changed."""
    return np.ones(length, dtype)


def row_max(x: Array) -> Array:
    """The largest number of each row, as a column.

    NumPy compares whole columns, once they are copied side by side, ten times as fast as the numbers of short rows.
    """
    columns = x.reshape(-1, x.shape[-1]).mT.reshape(-1).reshape(x.shape[-1], *x.shape[:-1])
    return namespace(x).amax(columns, axis=0)[..., None]
