"""What a tensor is, and all ways to look at the same numbers in another order."""

from .shapes import MOST_NUMBERS, Size, broadcast_shape, dimension, filled, float32, given_shape, product, strides_of


class Views:
    """Numbers in a list, and where to find each: its shape, the strides of its axes, and where the first one stands."""

    def __init__(self, data, shape, dtype=float32, strides=None, offset=0):
        if product(shape) > MOST_NUMBERS:
            raise MemoryError("this tensor has more numbers than an exercise needs")
        self._data = data
        self._shape = tuple(shape)
        self._strides = strides_of(self._shape) if strides is None else tuple(strides)
        self._offset = offset
        self.dtype = dtype
        self.requires_grad = False
        self.grad = None

    def _seen(self, shape, strides, offset=None):
        """The same numbers, looked at in another way."""
        return type(self)._of(self._data, shape, self.dtype, strides, self._offset if offset is None else offset)

    @property
    def shape(self):
        return Size(self._shape)

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def T(self):
        return self.permute(*reversed(range(self.ndim)))

    @property
    def mT(self):
        if self.ndim == 1:
            raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
        return self.transpose(-2, -1) if self._shape else self

    @property
    def data(self):
        return self

    def dim(self):
        return self.ndim

    def size(self, d=None):
        return self.shape if d is None else self._shape[dimension(d, self.ndim)]

    def numel(self):
        return product(self._shape)

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def is_contiguous(self):
        step = 1
        for n, stride in zip(reversed(self._shape), reversed(self._strides), strict=True):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    def _places(self, shape=None, strides=None):
        """Where in the list each number stands, in the order of the shape."""
        places = [self._offset]
        for n, stride in zip(shape or self._shape, strides or self._strides, strict=True):
            places = [place + i * stride for place in places for i in range(n)]
        return places

    def _flat(self):
        """All numbers, in the order of the shape."""
        if self._offset == 0 and len(self._data) == self.numel() and self.is_contiguous():
            return self._data
        data = self._data
        return [data[place] for place in self._places()]

    def _spread(self, shape):
        """All numbers, repeated until they fill a larger shape."""
        if shape == self._shape:
            return self._flat()
        pad = len(shape) - self.ndim
        strides = [0] * pad
        for n, own, stride in zip(shape[pad:], self._shape, self._strides, strict=True):
            strides.append(0 if own == 1 and n != 1 else stride)
        data = self._data
        return [data[place] for place in self._places(shape, strides)]

    def contiguous(self):
        return self if self.is_contiguous() else self.clone()

    def clone(self):
        return type(self)._of(list(self._flat()), self._shape, self.dtype)

    def detach(self):
        return self

    def cpu(self):
        return self

    def requires_grad_(self, flag=True):
        return self

    def view(self, *shape):
        shape = filled(shape, self.numel())
        if not self.is_contiguous():
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one "
                "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
            )
        return self._seen(shape, strides_of(shape))

    def reshape(self, *shape):
        return self.contiguous().view(filled(shape, self.numel()))

    def flatten(self, start_dim=0, end_dim=-1):
        first, last = dimension(start_dim, self.ndim), dimension(end_dim, self.ndim)
        if first > last:
            raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
        return self.reshape((*self._shape[:first], product(self._shape[first : last + 1]), *self._shape[last + 1 :]))

    def permute(self, *dims):
        dims = given_shape(dims)
        n = self.ndim
        if len(dims) != n:
            raise RuntimeError(
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                f"desired ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
            )
        dims = [dimension(d, n) for d in dims]
        if len(set(dims)) != n:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        return self._seen([self._shape[d] for d in dims], [self._strides[d] for d in dims])

    def transpose(self, a, b):
        a, b = dimension(a, self.ndim), dimension(b, self.ndim)
        dims = list(range(self.ndim))
        if dims:
            dims[a], dims[b] = dims[b], dims[a]
        return self.permute(*dims)

    swapaxes = transpose

    def t(self):
        if self.ndim > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
        return self.T

    def unsqueeze(self, d):
        d = dimension(d, self.ndim + 1)
        shape, strides = list(self._shape), list(self._strides)
        shape.insert(d, 1)
        strides.insert(d, 1 if d == self.ndim else self._strides[d] * self._shape[d])
        return self._seen(shape, strides)

    def squeeze(self, d=None):
        at = None if d is None else dimension(d, self.ndim)
        kept = [i for i, n in enumerate(self._shape) if n != 1 or (at is not None and i != at)]
        return self._seen([self._shape[i] for i in kept], [self._strides[i] for i in kept])

    def expand(self, *shape):
        shape = given_shape(shape)
        pad = len(shape) - self.ndim
        if pad < 0:
            raise RuntimeError("expand: the number of sizes provided must be at least the number of dimensions")
        shape = tuple([self._shape[i - pad] if n == -1 else n for i, n in enumerate(shape)])
        if broadcast_shape(self._shape, shape) != shape:
            raise RuntimeError("The expanded size of the tensor must match the existing size")
        return type(self)._of(list(self._spread(shape)), shape, self.dtype)

    def _select(self, key):
        """What stands at these places: numbers, slices, None and three dots."""
        key = key if isinstance(key, tuple) else (key,)
        named = len([k for k in key if k is not None and k is not Ellipsis])
        if named > self.ndim:
            raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
        if any([k is Ellipsis for k in key]):
            i = [k is Ellipsis for k in key].index(True)
            key = key[:i] + (slice(None),) * (self.ndim - named) + key[i + 1 :]
        shape, strides, offset, d = [], [], self._offset, 0
        for k in key:
            if k is None:
                shape.append(1)
                strides.append(0)
                continue
            n, stride = self._shape[d], self._strides[d]
            d += 1
            if isinstance(k, Views) and k.numel() == 1:
                k = int(k)
            if isinstance(k, int):
                if not -n <= k < n:
                    words = "index {} is out of bounds for dimension {} with size {}"
                    raise IndexError(words.format(k, d - 1, n))
                offset += (k % n) * stride
            elif isinstance(k, slice):
                low, high, step = bounds(k, n)
                shape.append((high - low + step - 1) // step)
                strides.append(stride * step)
                offset += low * stride
            else:
                raise TypeError("the torch of this page takes whole numbers, slices, None and ... as indices")
        return self._seen(tuple(shape) + self._shape[d:], tuple(strides) + self._strides[d:], offset)


def bounds(cut, n):
    """The first place of a slice, the one after its last, and its step; of n places."""
    step = 1 if cut.step is None else cut.step
    if step < 1:
        raise ValueError("step must be greater than zero")
    low = 0 if cut.start is None else cut.start
    high = n if cut.stop is None else cut.stop
    low = max(0, min(n, low + n if low < 0 else low))
    return low, max(low, min(n, high + n if high < 0 else high)), step
