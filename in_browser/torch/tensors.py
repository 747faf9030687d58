"""The tensor: its numbers, its arithmetic, and the methods that have functions of the same name."""

import math

from . import shapes
from .printing import printed
from .shapes import broadcast_shape, dimension, float32, inf, int64, product
from .views import Views


class Tensor(Views):
    """Numbers of one kind in a shape."""

    @classmethod
    def _of(cls, data, shape, dtype=float32, strides=None, offset=0):
        return Tensor(data, shape, dtype, strides, offset)

    def tolist(self):
        values, shape = self._flat(), self._shape

        def nested(axis, start, count):
            if axis == len(shape):
                return values[start]
            step = count // shape[axis] if shape[axis] else 0
            return [nested(axis + 1, start + i * step, step) for i in range(shape[axis])]

        return nested(0, 0, self.numel())

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self._flat()[0]

    def numpy(self):
        raise RuntimeError("there is no numpy on this page; stay with tensors")

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    __index__ = __int__

    def __format__(self, spec):
        return format(self.item(), spec) if spec and self.ndim == 0 else str(self)

    def __bool__(self):
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return self.item() != 0

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        for i in range(len(self)):
            yield self[i]

    def __repr__(self):
        return printed(self._flat(), self._shape, self.dtype)

    __str__ = __repr__

    def __getitem__(self, key):
        if isinstance(key, Tensor) and key.dtype == shapes.bool:
            kept = [x for x, keep in zip(self._flat(), key._spread(self._shape), strict=True) if keep]
            return Tensor(kept, (len(kept),), self.dtype)
        return self._select(key)

    def __setitem__(self, key, value):
        if isinstance(key, Tensor) and key.dtype == shapes.bool:
            number = value.item() if isinstance(value, Tensor) else float(value)
            for place, chosen in zip(self._places(), key._spread(self._shape), strict=True):
                if chosen:
                    self._data[place] = number
            return
        target = self._select(key)
        if not isinstance(value, Tensor):
            value = Tensor([float(value)], ())
        value = Tensor(list(value._spread(broadcast_shape(value._shape, target._shape))), target._shape)
        target._write(value)

    def _write(self, values):
        for place, number in zip(self._places(), list(values._spread(self._shape)), strict=True):
            self._data[place] = number
        return self

    def _with(self, other, compute, dtype=None, swapped=False):
        """Number by number with another tensor, or with one number."""
        if not isinstance(other, Tensor):
            if not isinstance(other, (int, float)):
                raise TypeError(f"unsupported operand type(s): 'Tensor' and '{type(other).__name__}'")
            other = Tensor([other], (), float32 if isinstance(other, float) else int64)
        shape = broadcast_shape(self._shape, other._shape)
        a, b = self._spread(shape), other._spread(shape)
        if swapped:
            a, b = b, a
        if dtype is None:
            dtype = float32 if float32 in (self.dtype, other.dtype) else int64
        return Tensor([compute(x, y) for x, y in zip(a, b, strict=True)], shape, dtype)

    def _both_bool(self, other):
        return shapes.bool if isinstance(other, Tensor) and self.dtype == other.dtype == shapes.bool else None

    def __add__(self, other):
        truth = self._both_bool(other)
        return self._with(other, lambda x, y: (x or y) if truth else x + y, truth)

    __radd__ = __add__
    add = __add__

    def __sub__(self, other):
        self._no_bool(other)
        return self._with(other, lambda x, y: x - y)

    sub = __sub__

    def _no_bool(self, other=None):
        if shapes.bool in (self.dtype, getattr(other, "dtype", None)):
            raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported.")

    def __rsub__(self, other):
        self._no_bool()
        return self._with(other, lambda x, y: x - y, None, True)

    def __mul__(self, other):
        truth = self._both_bool(other)
        return self._with(other, lambda x, y: (x and y) if truth else x * y, truth)

    __rmul__ = __mul__
    mul = __mul__

    def __truediv__(self, other):
        return self._with(other, divided, float32)

    div = __truediv__

    def __rtruediv__(self, other):
        return self._with(other, divided, float32, True)

    def __pow__(self, other):
        return self._with(other, power)

    pow = __pow__

    def __neg__(self):
        self._no_bool()
        return self * -1

    def __matmul__(self, other):
        return functions.matmul(self, other)

    def __iadd__(self, other):
        return self._write(self + other)

    def __isub__(self, other):
        return self._write(self - other)

    def __imul__(self, other):
        return self._write(self * other)

    def __itruediv__(self, other):
        return self._write(self / other)

    def __eq__(self, other):
        return self._with(other, lambda x, y: x == y, shapes.bool)

    def __ne__(self, other):
        return self._with(other, lambda x, y: x != y, shapes.bool)

    def __lt__(self, other):
        return self._with(other, lambda x, y: x < y, shapes.bool)

    def __le__(self, other):
        return self._with(other, lambda x, y: x <= y, shapes.bool)

    def __gt__(self, other):
        return self._with(other, lambda x, y: x > y, shapes.bool)

    def __ge__(self, other):
        return self._with(other, lambda x, y: x >= y, shapes.bool)

    def __hash__(self):
        return id(self)

    def __invert__(self):
        return Tensor([not x for x in self._flat()], self._shape, shapes.bool)

    def __and__(self, other):
        return self._with(other, lambda x, y: x and y, shapes.bool)

    def __or__(self, other):
        return self._with(other, lambda x, y: x or y, shapes.bool)

    def matmul(self, other):
        return functions.matmul(self, other)

    def mm(self, other):
        return functions.mm(self, other)

    def bmm(self, other):
        return functions.bmm(self, other)

    def dot(self, other):
        return functions.dot(self, other)

    def bool(self):
        return Tensor([x != 0 for x in self._flat()], self._shape, shapes.bool)

    def float(self):
        return Tensor([float(x) for x in self._flat()], self._shape, float32)

    def int(self):
        return Tensor([int(x) for x in self._flat()], self._shape, int64)

    long = int

    def to(self, *wanted, **_):
        for kind in wanted:
            if kind in (shapes.bool, float32, int64):
                return {shapes.bool: self.bool, float32: self.float, int64: self.int}[kind]()
        return self

    def masked_fill(self, mask, value):
        if not isinstance(mask, Tensor) or mask.dtype != shapes.bool:
            kind = getattr(mask, "dtype", type(mask).__name__)
            raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + str(kind))
        if self.dtype == int64 and abs(value) == inf:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        value = {float32: float, int64: int, shapes.bool: bool}[self.dtype](value)
        shape = broadcast_shape(self._shape, mask._shape)
        pairs = zip(self._spread(shape), mask._spread(shape), strict=True)
        return Tensor([value if hide else x for x, hide in pairs], shape, self.dtype)

    def masked_fill_(self, mask, value):
        return self._write(self.masked_fill(mask, value))

    def _each(self, compute):
        return Tensor([compute(x) for x in self._flat()], self._shape)

    def exp(self):
        return self._each(exponential)

    def log(self):
        return self._each(lambda x: -inf if x == 0 else math.log(x) if x > 0 else inf - inf)

    def sqrt(self):
        return self._each(lambda x: math.sqrt(x) if x >= 0 else inf - inf)

    def square(self):
        return self**2

    def tanh(self):
        return self._each(math.tanh)

    def abs(self):
        if self.dtype == shapes.bool:
            raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
        return Tensor([abs(x) for x in self._flat()], self._shape, self.dtype)

    def _rows(self, d):
        """The numbers along one axis, row by row, and the sizes before and after it."""
        outer, n, inner = self._shape[:d], self._shape[d], self._shape[d + 1 :]
        values, step = self._flat(), product(inner)
        rows = []
        for a in range(product(outer)):
            for b in range(step):
                rows.append(values[a * n * step + b : (a + 1) * n * step + b : step][:n])
        return rows, outer, inner

    def _reduce(self, compute, dim, keepdim, dtype=None):
        dtype = dtype or self.dtype
        if dim is None or not self._shape:
            if dim is not None:
                dimension(dim, 0)
            return Tensor([compute(self._flat())], (1,) * self.ndim if keepdim else (), dtype)
        rows, outer, inner = self._rows(dimension(dim, self.ndim))
        return Tensor([compute(row) for row in rows], outer + ((1,) if keepdim else ()) + inner, dtype)

    def sum(self, dim=None, keepdim=False):
        dtype = int64 if self.dtype == shapes.bool else None
        return self._reduce(sum, dim, keepdim, dtype)

    def mean(self, dim=None, keepdim=False):
        if self.dtype != float32:
            raise RuntimeError("mean(): could not infer output dtype. Input dtype must be a floating point dtype.")
        return self._reduce(lambda row: divided(sum(row), len(row)), dim, keepdim)

    def max(self, dim=None, keepdim=False):
        values = self._reduce(most, dim, keepdim)
        return values if dim is None else Largest((values, self._reduce(place_of_most, dim, keepdim, int64)))

    def min(self, dim=None, keepdim=False):
        values = self._reduce(least, dim, keepdim)
        places = self._reduce(lambda row: row.index(least(row)), dim, keepdim, int64)
        return values if dim is None else Largest((values, places))

    def amax(self, dim=None, keepdim=False):
        return self._reduce(most, dim, keepdim)

    def argmax(self, dim=None, keepdim=False):
        if self.dtype == shapes.bool:
            raise RuntimeError("\"argmax_cpu\" not implemented for 'Bool'")
        return self._reduce(place_of_most, dim, keepdim, int64)

    def any(self, dim=None, keepdim=False):
        return self._reduce(any, dim, keepdim, shapes.bool)

    def all(self, dim=None, keepdim=False):
        return self._reduce(all, dim, keepdim, shapes.bool)

    def cumsum(self, dim):
        return functions.cumsum(self, dim)

    def softmax(self, dim=None):
        return functions.softmax(self, dim)

    def triu(self, diagonal=0):
        return functions.triu(self, diagonal)

    def tril(self, diagonal=0):
        return functions.tril(self, diagonal)

    def chunk(self, n, dim=0):
        return self.split(-(-self.size(dim) // n) if self._shape else 1, dim)

    def split(self, size, dim=0):
        if not self._shape:
            raise RuntimeError("split expects at least a 1-dimensional tensor")
        d = dimension(dim, self.ndim)
        n, before = self._shape[d], (slice(None),) * d
        return tuple([self[(*before, slice(i, min(n, i + size)))] for i in range(0, n, size)])


class Largest(tuple):
    """What max(dim) gives: values, and where they stand."""

    @property
    def values(self):
        return self[0]

    @property
    def indices(self):
        return self[1]


def most(row):
    """The largest of some numbers; nan where one of them is."""
    return next((x for x in row if x != x), None) if any([x != x for x in row]) else max(row)


def least(row):
    """The smallest, in the same way."""
    return next((x for x in row if x != x), None) if any([x != x for x in row]) else min(row)


def place_of_most(row):
    """Where the largest stands first."""
    strange = [x != x for x in row]
    return strange.index(True) if any(strange) else row.index(max(row))


def divided(x, y):
    """x / y as numbers in a processor have it: by zero, infinity or nan."""
    if y == 0:
        if x == 0 or x != x:
            return inf - inf
        return math.copysign(inf, x) * math.copysign(1.0, y)
    return x / y


def power(x, y):
    """x to the y; nan and infinity where Python would stop."""
    try:
        result = x**y
    except ZeroDivisionError:
        return inf
    except OverflowError:
        return inf
    return inf - inf if isinstance(result, complex) else result


def exponential(x):
    """e to the x; infinity where that is too large."""
    if x == -inf:
        return 0.0
    try:
        return math.exp(x)
    except OverflowError:
        return inf


from . import functions  # noqa: E402  which needs the class
