"""What is computed along an axis: sums, the largest, the softmax."""

import math

from .kinds import FLOAT, bool_, inf, int64, kind_of
from .pointwise import divided, exponential
from .shapes import dimension, product
from .storage import made
from .table import both

NAN = inf - inf


class Named(tuple):
    """Values and where they stood, by these names as well."""

    @property
    def values(self):
        return self[0]

    @property
    def indices(self):
        return self[1]

    def __repr__(self):
        return f"torch.return_types.{self._called}(\nvalues={self[0]!r},\nindices={self[1]!r})"


class max_(Named):
    _called = "max"


class min_(Named):
    _called = "min"


class sort_(Named):
    _called = "sort"


class topk_(Named):
    _called = "topk"


for _kind in (max_, min_, sort_, topk_):
    _kind.__name__ = _kind.__qualname__ = "torch.return_types." + _kind._called


def rows_along(input, d):
    """The numbers along one axis, row by row, and the sizes before and after it."""
    outer, n, inner = input._shape[:d], input._shape[d], input._shape[d + 1 :]
    values, step = input._flat(), product(inner)
    if step == 1:
        return [values[a * n : (a + 1) * n] for a in range(product(outer))], outer, inner
    rows = []
    for a in range(product(outer)):
        for b in range(step):
            rows.append(values[a * n * step + b : (a + 1) * n * step : step])
    return rows, outer, inner


def reduced(input, compute, dim, keepdim, dtype):
    """One number of each row along an axis, along several, or of all."""
    if dim is not None and not isinstance(dim, int):
        dims = [dimension(d, input.ndim) for d in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"dim {dims[0]} appears multiple times in the list of dims")
        if len(dims) == 1:
            dim = dims[0]
        elif not dims:
            dim = None
        else:
            left = [d for d in range(input.ndim) if d not in dims]
            gathered = input.permute(left + sorted(dims)).reshape([input._shape[d] for d in left] + [-1])
            shape = [1 if d in dims else n for d, n in enumerate(input._shape)]
            result = reduced(gathered, compute, -1, False, dtype)
            return result.reshape(shape) if keepdim else result
    if dim is None or not input._shape:
        if dim is not None:
            dimension(dim, 0)
        return made([compute(input._flat())], (1,) * input.ndim if keepdim else (), dtype)
    rows, outer, inner = rows_along(input, dimension(dim, input.ndim))
    return made([compute(row) for row in rows], outer + ((1,) if keepdim else ()) + inner, dtype)


def along(input, dim, compute, dtype=None, like=()):
    """Every row along an axis, made into another of the same length; the numbers lie in the order of `like`."""
    d = dimension(dim, input.ndim)
    dtype = dtype or input.dtype
    if not input._shape:
        return made(compute(input._flat()), (), dtype)
    rows, outer, inner = rows_along(input, d)
    rebuilt, step = [compute(row) for row in rows], product(inner)
    if step == 1:
        return made([x for row in rebuilt for x in row], input._shape, dtype, like)
    values = []
    for a in range(product(outer)):
        for i in range(input._shape[d]):
            values += [rebuilt[a * step + b][i] for b in range(step)]
    return made(values, input._shape, dtype, like)


def fractions(input, name, dtype=None):
    """A tensor of fractions, for what is computed of nothing else."""
    if dtype is not None:
        return input.to(dtype)
    if input.dtype.rank != FLOAT and input.numel():
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.called}'")
    return input


@both("sum")
def sum_(input, dim=None, keepdim=False, *, dtype=None):
    kind = kind_of(dtype) or (input.dtype if input.dtype.rank == FLOAT else int64)
    return reduced(input, sum, dim, keepdim, kind)


@both("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    kind = kind_of(dtype) or input.dtype
    if kind.rank != FLOAT:
        words = (
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
        )
        raise RuntimeError(words + kind.called)
    return reduced(input, lambda row: divided(float(sum(row)), len(row)), dim, keepdim, kind)


@both("prod")
def prod(input, dim=None, keepdim=False, *, dtype=None):
    kind = kind_of(dtype) or (input.dtype if input.dtype.rank == FLOAT else int64)
    return reduced(input, product, dim, keepdim, kind)


def most(row):
    """The largest of some numbers; nan where one of them is."""
    return NAN if any([x != x for x in row]) else max(row)


def least(row):
    """The smallest, in the same way."""
    return NAN if any([x != x for x in row]) else min(row)


def place(row, choose):
    """Where the largest or smallest is first."""
    strange = [x != x for x in row]
    return strange.index(True) if any(strange) else row.index(choose(row))


def extreme(input, dim, keepdim, choose, value, kind):
    if isinstance(dim, type(input)) and dim.ndim + 1:
        return input.maximum(dim) if choose is max else input.minimum(dim)
    found = reduced(input, value, dim, keepdim, input.dtype)
    if dim is None:
        return found
    return kind((found, reduced(input, lambda row: place(row, choose), dim, keepdim, int64)))


@both("max")
def max_of(input, dim=None, keepdim=False, *, other=None):
    return extreme(input, dim if other is None else other, keepdim, max, most, max_)


@both("min")
def min_of(input, dim=None, keepdim=False, *, other=None):
    return extreme(input, dim if other is None else other, keepdim, min, least, min_)


@both("amax")
def amax(input, dim=None, keepdim=False):
    return reduced(input, most, dim, keepdim, input.dtype)


@both("amin")
def amin(input, dim=None, keepdim=False):
    return reduced(input, least, dim, keepdim, input.dtype)


@both("argmax")
def argmax(input, dim=None, keepdim=False):
    return where_extreme(input, dim, keepdim, max, "argmax")


@both("argmin")
def argmin(input, dim=None, keepdim=False):
    return where_extreme(input, dim, keepdim, min, "argmin")


def where_extreme(input, dim, keepdim, choose, name):
    if input.dtype is bool_:
        raise RuntimeError(f"{name}(): does not support bool input")
    return reduced(input, lambda row: place(row, choose), dim, keepdim, int64)


@both("any")
def any_of(input, dim=None, keepdim=False):
    return reduced(input, lambda row: any([x != 0 for x in row]), dim, keepdim, bool_)


@both("all")
def all_of(input, dim=None, keepdim=False):
    return reduced(input, lambda row: all([x != 0 for x in row]), dim, keepdim, bool_)


@both("count_nonzero")
def count_nonzero(input, dim=None):
    return reduced(input, lambda row: len([x for x in row if x != 0]), dim, False, int64)


@both("logsumexp")
def logsumexp(input, dim, keepdim=False):
    input = input if input.dtype.rank == FLOAT else input.float()
    return reduced(input, log_of_sum, dim, keepdim, input.dtype)


def log_of_sum(row):
    top = most(row)
    if top != top or abs(top) == inf:
        return top
    return top + math.log(sum([exponential(x - top) for x in row]))


def spread_of(row, correction):
    """The mean squared distance from the mean."""
    middle = divided(sum(row), len(row))
    return divided(sum([(x - middle) ** 2 for x in row]), len(row) - correction)


@both("var")
def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    by = int(unbiased) if correction is None else correction
    if input.dtype.rank != FLOAT:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    return reduced(input, lambda row: spread_of(row, by), dim, keepdim, input.dtype)


@both("std")
def std(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    return var(input, dim, unbiased, keepdim, correction=correction).sqrt()


@both("norm")
def norm(input, p=2, dim=None, keepdim=False, dtype=None):
    if input.dtype.rank != FLOAT:
        words = "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
        raise RuntimeError(words + input.dtype.called)
    if p in (inf, "inf"):
        return reduced(input.abs(), most, dim, keepdim, input.dtype)
    power = 2 if p in ("fro", None) else p
    return reduced(input, lambda row: sum([abs(x) ** power for x in row]) ** (1 / power), dim, keepdim, input.dtype)


def running(start, step):
    def run(row):
        reached, result = start, []
        for number in row:
            reached = step(reached, number)
            result.append(reached)
        return result

    return run


def counted(input, dtype):
    return kind_of(dtype) or (input.dtype if input.dtype.rank == FLOAT else int64)


@both("cumsum")
def cumsum(input, dim, *, dtype=None):
    return along(input, dim, running(0, lambda a, b: a + b), counted(input, dtype))


@both("cumprod")
def cumprod(input, dim, *, dtype=None):
    return along(input, dim, running(1, lambda a, b: a * b), counted(input, dtype))


@both("cummax")
def cummax(input, dim):
    return max_((along(input, dim, running(-inf, max)), None))


def shares(row):
    """Positive numbers that sum to 1; nan where nothing is seen."""
    top = max(row, default=0)
    if top == -inf or top == inf or any([x != x for x in row]):
        return [NAN] * len(row)
    powers = [exponential(x - top) for x in row]
    whole = sum(powers)
    return [x / whole for x in powers]


@both("softmax")
def softmax(input, dim, dtype=None):
    dimension(dim, input.ndim)
    return along(fractions(input, "softmax_lastdim_kernel_impl", dtype), dim, shares)


@both("log_softmax")
def log_softmax(input, dim, dtype=None):
    dimension(dim, input.ndim)

    def logs(row):
        whole = log_of_sum(row)
        return [x - whole for x in row]

    return along(fractions(input, "log_softmax_lastdim_kernel_impl", dtype), dim, logs)


def order_of(row, descending):
    """The places of the numbers from the least to the largest; nan counts as the largest."""
    key = [inf if x != x else x for x in row]
    return sorted(range(len(row)), key=lambda i: (-key[i] if descending else key[i], i))


def shortened(input, d, n):
    return input[(slice(None),) * d + (slice(0, n),)].contiguous()


@both("sort")
def sort(input, dim=-1, descending=False, stable=False):
    def values(row):
        return [row[i] for i in order_of(row, descending)]

    like = () if input._repeats() else (input,)
    indices = along(input, dim, lambda row: order_of(row, descending), int64, like)
    return sort_((along(input, dim, values, like=like), indices))


@both("argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    return sort(input, dim, descending)[1]


@both("topk")
def topk(input, k, dim=-1, largest=True, sorted=True):
    d = dimension(dim, input.ndim)
    if not 0 <= k <= (input.size(d) if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if input.dtype is bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return topk_([shortened(x, d, k) if x.ndim else x for x in sort(input, d, largest)])
