"""Which numbers: by their places, by a condition, along an axis; and several tensors put together."""

from .kinds import FLOAT, as_kind, bool_, int64, uint8, wider
from .making import fits, full
from .pointwise import is_number, kind_together, operand, pairwise
from .shapes import broadcast_shape, dimension, product, strides_of
from .storage import Maker, made, new, spread
from .table import FUNCTIONS, both, only_function
from .tensors import tensor
from .views import clone, contiguous

VALID = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"


def bounds(cut, n):
    """The first place of a slice, the one after its last, and its step; of n places."""
    step = 1 if cut.step is None else int(cut.step)
    if step < 1:
        raise ValueError("step must be greater than zero")
    low = 0 if cut.start is None else whole(cut.start)
    high = n if cut.stop is None else whole(cut.stop)
    low = max(0, min(n, low + n if low < 0 else low))
    return low, max(low, min(n, high + n if high < 0 else high)), step


def whole(x):
    """What a slice may begin and end with."""
    if isinstance(x, float):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return int(x)


def keys_of(key, ndim, shape):
    """An index as a tuple with a part for every axis, and lists as tensors."""
    key = key if isinstance(key, tuple) else (key,)
    parts = []
    for k in key:
        if isinstance(k, (list, range)):
            k = tensor(list(k)) if len(k) else tensor([], dtype=int64)
        if isinstance(k, str):
            raise TypeError("new(): invalid data type 'str'")
        if not (k is None or k is Ellipsis or isinstance(k, (int, slice, Maker.tensor))):
            raise IndexError(VALID.format(type(k).__name__))
        if isinstance(k, Maker.tensor) and k.dtype.rank == FLOAT:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        parts.append(k)
    taken = sum([k.ndim if masks(k) else 1 for k in parts if k is not None and k is not Ellipsis])
    if taken > ndim:
        if ndim == 0 and isinstance(parts[0], int):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    dots = [i for i, k in enumerate(parts) if k is Ellipsis]
    at = dots[0] if dots else len(parts)
    return parts[:at] + [slice(None)] * (ndim - taken) + parts[at + 1 :]


def masks(k):
    return isinstance(k, Maker.tensor) and k.dtype in (bool_, uint8)


def picked(x, key):
    """What an index sees of a tensor, and tensors of places that remain, by their axis of it."""
    shape, strides, offset, d, remain = [], [], x._offset, 0, {}
    for k in keys_of(key, x.ndim, x._shape):
        if k is None:
            shape.append(1)
            strides.append(x._shape[d] * x._strides[d] if d < x.ndim else 1)
            continue
        if masks(k):
            own = x._shape[d : d + k.ndim]
            for i, (a, b) in enumerate(zip(k._shape, own, strict=True)):
                if a != b:
                    words = "The shape of the mask {} at index {} does not match the shape of the indexed tensor {} at "
                    words += "index {}"
                    raise IndexError(words.format(list(k._shape), i, list(x._shape), d + i))
            if k.ndim == 0:
                remain[len(shape)] = new([0] * int(k.item() != 0), (int(k.item() != 0),), int64)
                shape.append(1)
                strides.append(0)
            for places in nonzero(k).unbind(1):
                remain[len(shape)] = places
                shape.append(x._shape[d])
                strides.append(x._strides[d])
                d += 1
            continue
        n, stride = x._shape[d], x._strides[d]
        if isinstance(k, Maker.tensor) and k.ndim == 0:
            k = int(k)
        if isinstance(k, Maker.tensor):
            remain[len(shape)] = k
            shape.append(n)
            strides.append(stride)
        elif isinstance(k, int):
            if not -n <= k < n:
                raise IndexError(f"index {int(k)} is out of bounds for dimension {d} with size {n}")
            offset += (k % n) * stride
        else:
            low, high, step = bounds(k, n)
            shape.append((high - low + step - 1) // step)
            strides.append(stride * step)
            offset += low * stride
        d += 1
    return x._seen(shape, strides, offset), remain


def places_of(seen, remain):
    """The shape that several tensors of places choose, and where in the list each number stands."""
    axes = list(remain)
    index_shape, indices = spread(*remain.values())
    for d, places in zip(axes, indices, strict=True):
        n = seen._shape[d]
        for place in places:
            if not -n <= place < n:
                raise IndexError(f"index {place} is out of bounds for dimension {d} with size {n}")
    side_by_side = axes == list(range(axes[0], axes[-1] + 1))
    first = axes[0] if side_by_side else 0
    left = [d for d in range(seen.ndim) if d not in axes]
    before, after = left[:first], left[first:]

    def steps(dims):
        return seen._places([seen._shape[d] for d in dims], [seen._strides[d] for d in dims])

    base = seen._offset
    chosen = [
        sum([seen._strides[d] * (place % seen._shape[d]) for d, place in zip(axes, point, strict=True)])
        for point in zip(*indices, strict=True)
    ]
    outer, inner = steps(before), [place - base for place in steps(after)]
    shape = [seen._shape[d] for d in before] + list(index_shape) + [seen._shape[d] for d in after]
    return tuple(shape), [a + b + c for a in outer for b in chosen for c in inner]


def get(self, key):
    seen, remain = picked(self, key)
    if not remain:
        return seen
    shape, places = places_of(seen, remain)
    return new([self._data[place] for place in places], shape, self.dtype)


def put(self, key, value):
    seen, remain = picked(self, key)
    if not isinstance(value, Maker.tensor):
        if not is_number(value):
            raise TypeError(f"can't assign a {type(value).__name__} to a torch.{self.dtype.called}Tensor")
        fits(value, self.dtype)
        value = operand(value)[0]
    shape, places = places_of(seen, remain) if remain else (seen._shape, None)
    given = value._shape
    while len(given) > len(shape) and given[0] == 1:
        given = given[1:]
    if broadcast_or_none(given, shape) != shape:
        if remain:
            words = "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}"
            raise RuntimeError(words.format(list(value._shape), list(shape)))
        d = [i for i in range(1, len(given) + 1) if i > len(shape) or given[-i] not in (1, shape[-i])]
        words = "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}."
        words += "  Target sizes: {}.  Tensor sizes: {}"
        n = shape[-d[0]] if d and d[0] <= len(shape) else 1
        raise RuntimeError(
            words.format(n, given[-d[0]] if d else 0, len(shape) - (d[0] if d else 0), list(shape), list(given))
        )
    value = new(value._flat(), given, value.dtype)
    if not remain:
        seen._write(value)
        return
    target = new(list(value._spread(shape)), shape, value.dtype)._as(self.dtype)
    for place, number in zip(places, target._flat(), strict=True):
        self._data[place] = number


def broadcast_or_none(a, b):
    try:
        return broadcast_shape(a, b)
    except RuntimeError:
        return None


Maker.tensor.__getitem__ = get
Maker.tensor.__setitem__ = put


# By a condition


@both("masked_fill")
def masked_fill(input, mask, value):
    if not isinstance(mask, Maker.tensor) or not is_number(value):
        kinds = "Tensor" if isinstance(mask, Maker.tensor) else type(mask).__name__
        words = "masked_fill() received an invalid combination of arguments - got ({}, {}), but expected one of:"
        raise TypeError(words.format(kinds, type(value).__name__))
    shape = broadcast_shape(mask._shape, input._shape)
    if mask.dtype is not bool_:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + mask.dtype.word)
    if isinstance(value, Maker.tensor):
        if value.ndim:
            words = "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s)."
            raise RuntimeError(words.format(value.ndim))
        value = value.item()
    fits(value, input.dtype)
    pairs = zip(input._spread(shape), mask._spread(shape), strict=True)
    return made([value if hide else x for x, hide in pairs], shape, input.dtype)


@both("masked_fill_", function=False)
def masked_fill_(input, mask, value):
    result = masked_fill(input, mask, value)
    if result._shape != input._shape:
        words = "output with shape {} doesn't match the broadcast shape {}"
        raise RuntimeError(words.format(list(input._shape), list(result._shape)))
    return input._write(result, repeated=True)


@both("masked_select")
def masked_select(input, mask):
    _, (values, keep) = spread(input, mask)
    kept = [x for x, k in zip(values, keep, strict=True) if k]
    return new(kept, (len(kept),), input.dtype)


@only_function("where")
def where(condition, input=None, other=None):
    if not isinstance(condition, Maker.tensor) or (other is None) != (input is None):
        kinds = ", ".join([type(x).__name__ for x in (condition, input, other) if x is not None])
        raise TypeError(f"where() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    if input is None:
        return nonzero(condition).unbind(1)
    if condition.dtype is not bool_:
        words = "where expected condition to be a boolean tensor, but got a tensor with dtype "
        raise RuntimeError(words + condition.dtype.called)
    kind, (a, b) = kind_together(input, other), (operand(x)[0] for x in (input, other))
    shape, (choose, x, y) = spread(condition, a, b)
    values = [p if chosen else q for chosen, p, q in zip(choose, x, y, strict=True)]
    return made(values, shape, kind, (condition, a, b))


both("where", function=False)(lambda input, condition, other: where(condition, input, other))


@both("nonzero")
def nonzero(input, *, as_tuple=False):
    found = [i for i, x in enumerate(input._flat()) if x != 0]
    steps = strides_of(input._shape)
    rows = [(i // step) % n for i in found for n, step in zip(input._shape, steps, strict=True)]
    columns = [x for d in range(input.ndim) for x in rows[d :: input.ndim]]
    result = new(columns, (len(found), input.ndim), int64, (1, len(found)))
    return result.unbind(1) if as_tuple else result


both("argwhere")(lambda input: nonzero(input))


# Along an axis


def triangle(input, diagonal, name, keep):
    """What of the last two axes is kept; the rest is zero."""
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    if not isinstance(diagonal, int):
        raise TypeError(f"argument 'diagonal' must be int, not {type(diagonal).__name__}")
    rows, columns = input._shape[-2:]
    kept = [v if keep((i // columns) % rows, i % columns) else 0 for i, v in enumerate(input._flat())]
    return made(kept, input._shape, input.dtype)


@both("triu")
def triu(input, diagonal=0):
    return triangle(input, diagonal, "triu", lambda i, j: j - i >= diagonal)


@both("tril")
def tril(input, diagonal=0):
    return triangle(input, diagonal, "tril", lambda i, j: j - i <= diagonal)


both("triu_", function=False)(lambda input, diagonal=0: input._write(triu(input, diagonal)))
both("tril_", function=False)(lambda input, diagonal=0: input._write(tril(input, diagonal)))


def indices_where(row, col, keep):
    pairs = [(i, j) for i in range(row) for j in range(col) if keep(i, j)]
    return new([i for i, _ in pairs] + [j for _, j in pairs], (2, len(pairs)), int64)


FUNCTIONS["triu_indices"] = lambda row, col, offset=0, **_: indices_where(row, col, lambda i, j: j - i >= offset)
FUNCTIONS["tril_indices"] = lambda row, col, offset=0, **_: indices_where(row, col, lambda i, j: j - i <= offset)


@both("diag")
def diag(input, diagonal=0):
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else clone(input.diagonal(diagonal))


@both("diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    n = input._shape[-1] + abs(offset)
    result = full((*input._shape[:-1], n, n), 0, input.dtype)
    result.diagonal(offset, -2, -1)._write(input)
    return result.movedim((-2, -1), (dim1, dim2))


@both("trace")
def trace(input):
    return input.diagonal().sum()


@both("gather")
def gather(input, dim, index):
    d = dimension(dim, input.ndim)
    lined, chosen = (x if x.ndim else x.unsqueeze(0) for x in (input, index))
    return new([input._data[place] for place in places_at(lined, d, chosen)], index._shape, input.dtype)


def places_at(input, d, index):
    """Where in the list the numbers are that an index names along one axis."""
    if index.ndim != input.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for axis, (n, own) in enumerate(zip(index._shape, input._shape, strict=True)):
        if n > own and axis != d:
            words = "Size does not match at dimension {} expected index {} to be no larger than self {} apart from "
            raise RuntimeError((words + "dimension {}").format(axis, list(index._shape), list(input._shape), d))
    steps = strides_of(index._shape)
    places = []
    for i, chosen in enumerate(index._flat()):
        if not 0 <= chosen < input._shape[d]:
            words = "index {} is out of bounds for dimension {} with size {}"
            raise RuntimeError(words.format(chosen, d, input._shape[d]))
        at = [(i // step) % n for n, step in zip(index._shape, steps, strict=True)]
        at[d] = chosen
        places.append(input._offset + sum([a * s for a, s in zip(at, input._strides, strict=True)]))
    return places


@both("take_along_dim")
def take_along_dim(input, indices, dim):
    return gather(input, dim, indices)


@both("scatter_", function=False)
def scatter_(input, dim, index, src=None, value=None):
    src = value if src is None else src
    source = src._flat() if isinstance(src, Maker.tensor) else as_kind([src], input.dtype) * index.numel()
    for place, number in zip(places_at(input, dimension(dim, input.ndim), index), source, strict=False):
        input._data[place] = number
    return input


@both("scatter")
def scatter(input, dim, index, src=None, value=None):
    return scatter_(clone(input), dim, index, src, value)


@both("index_select")
def index_select(input, dim, index):
    if not isinstance(index, Maker.tensor):
        raise TypeError(f"argument 'index' (position 2) must be Tensor, not {type(index).__name__}")
    return contiguous(input[(slice(None),) * dimension(dim, input.ndim) + (index,)])


@both("fill_", function=False)
def fill_(input, value):
    value = operand(value)[0]
    if value.ndim:
        words = "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions."
        raise RuntimeError(words.format(value.ndim))
    fits(value.item(), input.dtype)
    return input._write(value, repeated=True)


both("zero_", function=False)(lambda input: fill_(input, 0))
both("copy_", function=False)(lambda input, src: input._write(src, repeated=True))


@both("fill_diagonal_", function=False)
def fill_diagonal_(input, fill_value):
    input.diagonal()._write(operand(fill_value)[0], repeated=True)
    return input


@both("index_fill_", function=False)
def index_fill_(input, dim, index, value):
    input[(slice(None),) * dimension(dim, input.ndim) + (index,)] = value
    return input


@only_function("searchsorted")
def searchsorted(sorted_sequence, input, *, right=False, side=None, out_int32=False):
    return bucket(sorted_sequence, input, right or side == "right")


@only_function("bucketize")
def bucketize(input, boundaries, *, right=False, out_int32=False):
    return bucket(boundaries, input, right)


def bucket(row, values, right):
    """How many numbers of a row that grows are less: or no more, on the right."""
    values, n = operand(values)[0], row._shape[-1]
    steps, wide = row._flat(), values._shape[-1] if values.ndim else 1
    rows = [steps[i * n : (i + 1) * n] for i in range(len(steps) // n)]
    if len(rows) > 1 and row._shape[:-1] != values._shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match"
        )
    counts = [first_place(rows[i // wide if len(rows) > 1 else 0], x, right) for i, x in enumerate(values._flat())]
    return new(counts, values._shape, int64)


def first_place(row, x, right):
    """Where a number belongs in a row, found by halves, as torch finds it."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] < x or (right and row[middle] == x):
            low = middle + 1
        else:
            high = middle
    return low


@both("allclose")
def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@both("isclose")
def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    def close(x, y):
        return x == y or abs(x - y) <= atol + rtol * abs(y) or (equal_nan and x != x and y != y)

    return pairwise(close, input, other, bool_)


@both("equal")
def equal(input, other):
    return input._shape == other._shape and input._flat() == other._flat()


# Several put together


def listed(tensors, name):
    """The tensors of a list."""
    if isinstance(tensors, Maker.tensor) or not isinstance(tensors, (list, tuple)):
        kind = type(tensors).__name__
        raise TypeError(f"argument 'tensors' (position 1) must be tuple of Tensors, not {kind}")
    for place, part in enumerate(tensors):
        if not isinstance(part, Maker.tensor):
            words = "expected Tensor as element {} in argument 0, but got {}"
            raise TypeError(words.format(place, type(part).__name__))
    return list(tensors)


@only_function("cat", "concat", "concatenate")
def cat(tensors, dim=0):
    parts = listed(tensors, "cat")
    if not parts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, part in enumerate(parts):
        if not part._shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    parts = [part for part in parts if part._shape != (0,)] or parts[:1]
    first = parts[0]._shape
    d, kind = dimension(dim, len(first)), parts[0].dtype
    for place, part in enumerate(parts):
        if part.ndim != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {part.ndim}")
        for axis, (a, b) in enumerate(zip(first, part._shape, strict=True)):
            if a != b and axis != d:
                words = "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for "
                raise RuntimeError((words + "tensor number {} in the list.").format(d, a, b, place))
        kind = wider(kind, part.dtype)
    pieces = [(part._flat(), product(part._shape[d:])) for part in parts]
    values = []
    for i in range(product(first[:d])):
        for numbers, count in pieces:
            values += numbers[i * count : (i + 1) * count]
    joined = sum([part._shape[d] for part in parts])
    return made(values, (*first[:d], joined, *first[d + 1 :]), kind)


@only_function("stack")
def stack(tensors, dim=0):
    parts = listed(tensors, "stack")
    if not parts:
        raise RuntimeError("stack expects a non-empty TensorList")
    dimension(dim, parts[0].ndim + 1)
    for place, part in enumerate(parts):
        if part._shape != parts[0]._shape:
            words = "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}"
            raise RuntimeError(words.format(list(parts[0]._shape), list(part._shape), place))
    return cat([part.unsqueeze(dim) for part in parts], dim)


@only_function("hstack")
def hstack(tensors):
    parts = [part.reshape(-1) if part.ndim == 0 else part for part in listed(tensors, "hstack")]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@only_function("vstack", "row_stack")
def vstack(tensors):
    return cat([part.reshape(1, -1) if part.ndim < 2 else part for part in listed(tensors, "vstack")])


@both("hsplit")
def hsplit(input, indices_or_sections):
    return input.tensor_split(indices_or_sections, 0 if input.ndim == 1 else 1)


@only_function("column_stack")
def column_stack(tensors):
    return cat([part.reshape(-1, 1) if part.ndim < 2 else part for part in listed(tensors, "column_stack")], 1)


@only_function("meshgrid")
def meshgrid(*tensors, indexing="ij"):
    parts = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    shape = tuple([part.numel() for part in parts])
    lined = [part.reshape([-1 if i == d else 1 for i in range(len(parts))]) for d, part in enumerate(parts)]
    grids = [part.expand(shape) for part in lined]
    return tuple([grid.transpose(0, 1) for grid in grids] if indexing == "xy" else grids)
