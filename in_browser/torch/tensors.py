"""The tensor as Python knows it: how it is made, read and written, and its kinds."""

from . import kinds
from .kinds import as_kind, kind_of
from .printing import printed
from .shapes import filled, given_shape, own_dimension, product, seen_as
from .storage import Maker, Storage, made


class Tensor(Storage):
    """Numbers of one kind in a shape."""

    def __init__(self, *given, **named):
        if len(given) > 1 and isinstance(given[0], list) and isinstance(given[1], (tuple, list)):
            Storage.__init__(self, *given, **named)
        elif len(given) == 1 and isinstance(given[0], (list, tuple)):
            values, shape, _ = collected(given[0])
            Storage.__init__(self, as_kind(values, kinds.float32), shape)
        else:
            shape = given_shape(given, "new")
            Storage.__init__(self, [UNSET] * product(shape), shape)

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
        return self._data[self._offset]

    def _only(self):
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._data[self._offset]

    def __float__(self):
        return float(self._only())

    def __int__(self):
        return int(self._only())

    def __index__(self):
        if self.numel() != 1 or self.dtype.is_floating_point:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __format__(self, spec):
        return format(self.item(), spec) if self.ndim == 0 else str(self)

    def __bool__(self):
        if self.numel() != 1:
            what = "no values" if self.numel() == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return self.item() != 0

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self._shape[0])])

    def __repr__(self):
        return printed(self._flat(), self._shape, self.dtype)

    __str__ = __repr__

    def __hash__(self):
        return id(self)

    def __contains__(self, number):
        return bool((self == number).any())

    @property
    def T(self):
        return self.permute(*reversed(range(self.ndim)))

    @property
    def mT(self):
        if self.ndim == 1:
            raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
        return self.transpose(-2, -1) if self._shape else self

    mH = H = mT

    @property
    def data(self):
        return self

    @property
    def is_leaf(self):
        return True

    @property
    def device(self):
        return "cpu"

    @property
    def itemsize(self):
        return 4

    def size(self, dim=None):
        return self.shape if dim is None else self._shape[own_dimension(dim, self.ndim)]

    def view(self, *shape):
        shape = filled(given_shape(shape), self.numel())
        strides = seen_as(self._shape, self._strides, shape)
        if strides is None:
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one "
                "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
            )
        return self._seen(shape, strides)

    def new_tensor(self, data, dtype=None):
        return tensor(data, dtype or self.dtype)

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    def type(self, dtype=None):
        return self.to(dtype) if dtype is not None else "torch." + self.dtype.called + "Tensor"

    def to(self, *wanted, dtype=None, **_):
        for kind in (*wanted, dtype):
            if isinstance(kind, Tensor):
                kind = kind.dtype
            if kind is not None and not isinstance(kind, str):
                return self._as(kind_of(kind))
        return self

    def _as(self, kind):
        return self if kind is self.dtype else made(self._flat(), self._shape, kind, (self,))

    def bool(self):
        return self._as(kinds.bool_)

    def float(self):
        return self._as(kinds.float32)

    def double(self):
        return self._as(kinds.float64)

    def long(self):
        return self._as(kinds.int64)

    def int(self):
        return self._as(kinds.int32)

    def byte(self):
        return self._as(kinds.uint8)

    def type_as(self, other):
        return self._as(other.dtype)

    def is_floating_point(self):
        return self.dtype.is_floating_point


Maker.tensor = Tensor
UNSET = float("nan")  # what stands in memory that nobody has written to


def collected(data, depth=0):
    """All numbers of nested lists in order, their shape and their kind."""
    if isinstance(data, Tensor):
        return list(data._flat()), data._shape, data.dtype
    if isinstance(data, (list, tuple, range)):
        if not len(data):
            return [], (0,), kinds.float32
        if type(data[0]) in (float, int) and all([type(x) is float for x in data]):
            return list(data), (len(data),), kinds.float32
        parts = [collected(part, depth + 1) for part in data]
        shape, kind, values = parts[0][1], parts[0][2], []
        for part, (more, other, also) in zip(data, parts, strict=True):
            if isinstance(part, Tensor) and part.numel() != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            if other != shape:
                if not shape or not other:
                    what = (
                        "must be real number" if kind is kinds.float32 else "object cannot be interpreted as an integer"
                    )
                    raise TypeError(f"{type(part).__name__}: {what}")
                raise ValueError(f"expected sequence of length {shape[0]} at dim {depth + 1} (got {other[0]})")
            values += more
            kind = kinds.wider(kind, also)
        return values, (len(data), *shape), kind
    for python, kind in kinds.OF_PYTHON.items():
        if isinstance(data, python):
            return [data], (), kind
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError("Could not infer dtype of " + type(data).__name__)


def tensor(data, dtype=None, requires_grad=False, device=None):
    """Numbers in nested lists as a tensor."""
    values, shape, kind = collected(data)
    return made(values, shape, kind_of(dtype) or kind)


def as_tensor(data, dtype=None, device=None):
    return data.to(dtype) if isinstance(data, Tensor) else tensor(data, dtype)
