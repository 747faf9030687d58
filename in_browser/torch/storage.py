"""What a tensor is: numbers in a list, and where to find each."""

from .kinds import as_kind, float32
from .shapes import MOST_NUMBERS, Size, broadcast_shape, dimension, kept_order, product, strides_of


class Storage:
    """Numbers of one kind in a shape; several tensors can look at the same list, each with strides of its own."""

    def __init__(self, data, shape, dtype=float32, strides=None, offset=0):
        self._data = data
        self._shape = tuple(shape)
        self._strides = strides_of(self._shape) if strides is None else tuple(strides)
        self._offset = offset
        self.dtype = dtype
        self.requires_grad = False
        self.grad = None

    def _seen(self, shape, strides, offset=None):
        """The same numbers, looked at in another way."""
        return new(self._data, shape, self.dtype, strides, self._offset if offset is None else offset)

    @property
    def shape(self):
        return Size(self._shape)

    @property
    def ndim(self):
        return len(self._shape)

    def dim(self):
        return self.ndim

    def numel(self):
        return product(self._shape)

    nelement = numel

    def stride(self, d=None):
        return self._strides if d is None else self._strides[dimension(d, self.ndim)]

    def is_contiguous(self):
        step = 1
        for n, stride in zip(reversed(self._shape), reversed(self._strides), strict=True):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    def _places(self, shape=None, strides=None):
        """Where in the list each number stands, in the order of the shape."""
        if strides is None:
            shape, strides = self._shape, self._strides
        places = [self._offset]
        for n, stride in zip(shape, strides, strict=True):
            steps = [i * stride for i in range(n)]
            places = [place + step for place in places for step in steps]
        return places

    def _flat(self):
        """All numbers, in the order of the shape."""
        if self._offset == 0 and len(self._data) == product(self._shape) and self.is_contiguous():
            return self._data
        data = self._data
        return [data[place] for place in self._places()]

    def _spread_strides(self, shape):
        """The strides with which the numbers repeat until they fill a larger shape."""
        pad = len(shape) - len(self._shape)
        strides = [0] * pad
        for n, own, stride in zip(shape[pad:], self._shape, self._strides, strict=True):
            strides.append(0 if own == 1 and n != 1 else stride)
        return strides

    def _spread(self, shape):
        """All numbers, repeated until they fill a larger shape."""
        if shape == self._shape:
            return self._flat()
        if len(self._data) == 1:
            return self._data * product(shape)
        data = self._data
        return [data[place] for place in self._places(shape, self._spread_strides(shape))]

    def _repeats(self):
        """True where some number stands in several places of the shape."""
        return 0 in self._strides and any([s == 0 and n > 1 for s, n in zip(self._strides, self._shape, strict=True)])

    def _write(self, value, repeated=False):
        """Put these numbers in the place of ours, as our kind holds them. RuntimeError where one of ours stands in
        several places, unless that is said.
        """
        if not repeated and self._repeats():
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )
        values = value._spread(self._shape)
        values = list(values) if value.dtype is self.dtype else as_kind(values, self.dtype)
        if self._data is not value._data and self._flat() is self._data:
            self._data[:] = values
            return self
        data = self._data
        for place, number in zip(self._places(), values, strict=True):
            data[place] = number
        return self


class Maker:
    """The class of tensors, once there is one."""


def new(data, shape, dtype, strides=None, offset=0):
    """A tensor that looks at these numbers."""
    return Maker.tensor(data, shape, dtype, strides, offset)


def made(values, shape, dtype, like=()):
    """A tensor of new numbers; they lie in the order of those tensors that they were computed from, one by one."""
    if product(shape) > MOST_NUMBERS:
        raise MemoryError("this tensor has more numbers than an exercise needs")
    values = as_kind(values, dtype)
    unusual = [x for x in like if x.ndim > 1 and not x.is_contiguous()]
    if not unusual:
        return new(values, shape, dtype)
    strides = kept_order(shape, [x._spread_strides(shape) for x in like if x.ndim])
    made_so = new(values, shape, dtype, strides)
    data = [0] * len(values)
    for place, number in zip(made_so._places(), values, strict=True):
        data[place] = number
    made_so._data = data
    return made_so


def spread(*tensors):
    """The shape of several tensors together, and the numbers of each in it."""
    shape = broadcast_shape(*[x._shape for x in tensors])
    return shape, [x._spread(shape) for x in tensors]
