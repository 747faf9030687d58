"""The functions of torch that the exercises use."""

import math

from . import shapes
from .shapes import broadcast_shape, dimension, float32, given_shape, inf, int64, product
from .tensors import Tensor, exponential

total, largest, truth = sum, max, bool  # functions of torch below have their names


def tensor(data, dtype=None, requires_grad=False):
    """Numbers in nested lists as a tensor."""
    values, shape, kind = collected(data)
    kind = dtype or kind
    if kind == float32:
        values = [float(value) for value in values]
    elif kind == shapes.bool:
        values = [value != 0 for value in values]
    elif kind == int64:
        values = [int(value) for value in values]
    return Tensor(values, shape, kind)


as_tensor = tensor


def collected(data):
    """All numbers of nested lists in order, their shape and their kind."""
    if isinstance(data, Tensor):
        return list(data._flat()), data._shape, data.dtype
    if isinstance(data, (list, tuple)):
        if not data:
            return [], (0,), float32
        parts = [collected(part) for part in data]
        shape, kind, values = parts[0][1], parts[0][2], []
        for more, other, also in parts:
            if other != shape:
                raise ValueError(f"expected sequence of length {shape} at dim 1 (got {other})")
            values += more
            kind = kind if also == kind else float32
        return values, (len(data), *shape), kind
    kinds = ((truth, shapes.bool), (int, int64), (float, float32))
    for python, kind in kinds:
        if isinstance(data, python):
            return [data], (), kind
    raise TypeError("could not make a tensor from " + type(data).__name__)


def full(shape, value, dtype=None):
    kind = shapes.bool if isinstance(value, truth) else int64 if isinstance(value, int) else float32
    return tensor(Tensor([value] * product(shape), tuple(shape), kind), dtype)


def zeros(*shape, dtype=float32, **_):
    return full(given_shape(shape), 0, dtype)


def ones(*shape, dtype=float32, **_):
    return full(given_shape(shape), 1, dtype)


empty = zeros


def zeros_like(x, dtype=None):
    return zeros(x._shape, dtype=dtype or x.dtype)


def ones_like(x, dtype=None):
    return ones(x._shape, dtype=dtype or x.dtype)


def full_like(x, value):
    return full(x._shape, value, x.dtype)


def eye(n):
    return Tensor([1.0 if i == j else 0.0 for i in range(n) for j in range(n)], (n, n))


def arange(start, end=None, step=1):
    values = list(range(0, start) if end is None else range(start, end, step))
    return Tensor(values, (len(values),), int64)


_seed = [0]


def manual_seed(seed):
    """The numbers drawn from now on; torch itself draws others."""
    _seed[0] = seed & 0x7FFFFFFF


def _drawn():
    _seed[0] = (_seed[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return (_seed[0] + 0.5) / 0x80000000


def rand(*shape):
    shape = given_shape(shape)
    return Tensor([_drawn() for _ in range(product(shape))], shape)


def randn(*shape):
    """Box and Muller's way from two even numbers to a normal one."""
    shape = given_shape(shape)
    lengths = [math.sqrt(-2 * math.log(_drawn())) for _ in range(product(shape))]
    return Tensor([length * math.cos(2 * math.pi * _drawn()) for length in lengths], shape)


def is_tensor(x):
    return isinstance(x, Tensor)


def dot(a, b):
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a._shape != b._shape:
        words = "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, "
        raise RuntimeError((words + "but got {0} and {1} elements respectively").format(a._shape[0], b._shape[0]))
    return Tensor([total([x * y for x, y in zip(a._flat(), b._flat(), strict=True)])], (), a.dtype)


def product_of(a, b, n, k, m):
    """One matrix times another, both as lists of numbers."""
    columns = [b[j::m] for j in range(m)]
    result = []
    for i in range(n):
        row = a[i * k : (i + 1) * k]
        for column in columns:
            added = 0.0
            for x, y in zip(row, column, strict=True):
                added += x * y
            result.append(added)
    return result


def matmul(a, b):
    for x in (a, b):
        if not isinstance(x, Tensor):
            raise TypeError("matmul(): argument must be Tensor, not " + type(x).__name__)
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D")
    if a.dtype != b.dtype:
        if shapes.bool in (a.dtype, b.dtype) and b.ndim > 2:  # a batch
            raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}")
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    if a.ndim == 1:
        return matmul(a.unsqueeze(0), b).squeeze(-2)
    if b.ndim == 1:
        return matmul(a, b.unsqueeze(1)).squeeze(-1)
    n, k = a._shape[-2:]
    also, m = b._shape[-2:]
    if k != also:
        if a.ndim == 2 and b.ndim == 2:
            words = "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})"
            raise RuntimeError(words.format(n, k, also, m))
        words = "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}]."
        raise RuntimeError(words.format(product(a._shape[:-2]), k, product(b._shape[:-2]), also))
    batch = broadcast_shape(a._shape[:-2], b._shape[:-2])
    of_a, of_b = a._spread((*batch, n, k)), b._spread((*batch, k, m))
    result = []
    for i in range(product(batch)):
        result += product_of(of_a[i * n * k : (i + 1) * n * k], of_b[i * k * m : (i + 1) * k * m], n, k, m)
    return Tensor(result, (*batch, n, m), a.dtype)


def mm(a, b):
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError("self must be a matrix" if a.ndim != 2 else "mat2 must be a matrix")
    return matmul(a, b)


def bmm(a, b):
    if a.ndim != 3 or b.ndim != 3:
        raise RuntimeError(f"batch{1 if a.ndim != 3 else 2} must be a 3D tensor")
    if a._shape[0] != b._shape[0] or a._shape[2] != b._shape[1]:
        words = "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}]."
        raise RuntimeError(words.format(a._shape[0], a._shape[2], b._shape[0], b._shape[1]))
    return matmul(a, b)


def softmax(x, dim=None):
    if dim is None:
        raise TypeError('softmax() missing required argument "dim"')
    dimension(dim, x.ndim)
    if x.dtype != float32:
        raise NotImplementedError('"softmax_lastdim_kernel_impl" not implemented for this dtype')
    return along(x, dim, shares)


def shares(row):
    """Positive numbers that sum to 1; nan where nothing is seen."""
    most = largest(row)
    if most == -inf:
        return [inf - inf] * len(row)
    powers = [exponential(x - most) for x in row]
    whole = total(powers)
    return [x / whole for x in powers]


def cumsum(x, dim):
    def sums(row):
        added, result = 0, []
        for number in row:
            added += number
            result.append(added)
        return result

    return along(x, dim, sums)


def along(x, dim, compute):
    """Every row along an axis, made into another of the same length."""
    d = dimension(dim, x.ndim)
    if not x._shape:
        return Tensor(compute(x._flat()), (), x.dtype)
    rows, outer, inner = x._rows(d)
    made, step, values = [compute(row) for row in rows], product(inner), []
    for a in range(product(outer)):
        for i in range(x._shape[d]):
            values += [made[a * step + b][i] for b in range(step)]
    return Tensor(values, x._shape, int64 if x.dtype == shapes.bool else x.dtype)


def exp(x):
    return x.exp()


def log(x):
    return x.log()


def sqrt(x):
    return x.sqrt()


def tanh(x):
    return x.tanh()


def sum(x, dim=None, keepdim=False):
    return x.sum(dim, keepdim)


def mean(x, dim=None, keepdim=False):
    return x.mean(dim, keepdim)


def max(x, dim=None, keepdim=False):
    return x.max(dim, keepdim)


def argmax(x, dim=None, keepdim=False):
    return x.argmax(dim, keepdim)


def transpose(x, a, b):
    return x.transpose(a, b)


def triangle(x, keep):
    """What of the last two axes is kept; the rest is zero."""
    if x.ndim < 2:
        raise RuntimeError("tril and triu: input tensor must have at least 2 dimensions")
    rows, columns = x._shape[-2:]
    zero = False if x.dtype == shapes.bool else 0.0 if x.dtype == float32 else 0
    values = enumerate(x._flat())
    kept = [v if keep((i // columns) % rows, i % columns) else zero for i, v in values]
    return Tensor(kept, x._shape, x.dtype)


def triu(x, diagonal=0):
    return triangle(x, lambda i, j: j - i >= diagonal)


def tril(x, diagonal=0):
    return triangle(x, lambda i, j: j - i <= diagonal)


def where(condition, a, b):
    a, b = (x if isinstance(x, Tensor) else tensor(float(x)) for x in (a, b))
    shape = broadcast_shape(broadcast_shape(condition._shape, a._shape), b._shape)
    triples = zip(condition._spread(shape), a._spread(shape), b._spread(shape), strict=True)
    return Tensor([x if choose else y for choose, x, y in triples], shape)


def masked_fill(x, mask, value):
    return x.masked_fill(mask, value)


def cat(tensors, dim=0):
    parts = list(tensors)
    if not parts:
        raise ValueError("expected a non-empty list of Tensors")
    first = parts[0]._shape
    if any([not part._shape for part in parts]):
        raise RuntimeError("zero-dimensional tensor cannot be concatenated")
    d = dimension(dim, len(first))
    for part in parts:
        if part._shape[:d] + part._shape[d + 1 :] != first[:d] + first[d + 1 :]:
            raise RuntimeError(f"Sizes of tensors must match except in dimension {d}.")
    pieces = [(part._flat(), product(part._shape[d:])) for part in parts]
    values = []
    for i in range(product(first[:d])):
        for numbers, count in pieces:
            values += numbers[i * count : (i + 1) * count]
    joined = total([part._shape[d] for part in parts])
    return Tensor(values, (*first[:d], joined, *first[d + 1 :]), parts[0].dtype)


concat = cat


def stack(tensors, dim=0):
    parts = list(tensors)
    dimension(dim, parts[0].ndim + 1)
    if any([part._shape != parts[0]._shape for part in parts]):
        raise RuntimeError("stack expects each tensor to be equal size")
    return cat([part.unsqueeze(dim) for part in parts], dim)


def allclose(a, b, rtol=1e-5, atol=1e-8):
    shape = broadcast_shape(a._shape, b._shape)
    pairs = zip(a._spread(shape), b._spread(shape), strict=True)
    return all([x == y or abs(x - y) <= atol + rtol * abs(y) for x, y in pairs])


class no_grad:
    """There are no gradients here: nothing changes."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, function):
        return function
