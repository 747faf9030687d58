"""All ways to look at the same numbers in another shape or order."""

from .kinds import kind_of
from .shapes import dimension, filled, given_shape, own_dimension, product, strides_of
from .storage import made, new, spread
from .table import FUNCTIONS, both


@both("contiguous", function=False)
def contiguous(input):
    return input if input.is_contiguous() else new(list(input._flat()), input._shape, input.dtype)


@both("clone")
def clone(input, memory_format=None):
    return made(list(input._flat()), input._shape, input.dtype, (input,))


@both("detach", "cpu")
def detach(input):
    return input


@both("reshape")
def reshape(input, *shape):
    shape = filled(given_shape(shape, "reshape", "shape"), input.numel())
    try:
        return input.view(shape)
    except RuntimeError:
        return contiguous(input).view(shape)


@both("view_as", function=False)
def view_as(input, other):
    return input.view(other._shape)


@both("reshape_as", function=False)
def reshape_as(input, other):
    return reshape(input, other._shape)


@both("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    first, last = dimension(start_dim, input.ndim), dimension(end_dim, input.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._shape
    return reshape(input, (*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :]))


@both("ravel")
def ravel(input):
    return reshape(input, -1)


@both("unflatten")
def unflatten(input, dim, sizes):
    d = dimension(dim, input.ndim)
    if input.ndim == 0:
        words = "unflatten got an unexpected error:\nDimension specified as {} but tensor has no dimensions"
        raise RuntimeError(words.format(dim))
    n, sizes = input._shape[d], list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = n // max(1, product([size for size in sizes if size != -1]))
    if product(sizes) != n:
        words = "unflatten: Provided sizes {} don't multiply up to the size of dim {} ({}) in the input tensor"
        raise RuntimeError(words.format(sizes, d, n))
    return input.view((*input._shape[:d], *sizes, *input._shape[d + 1 :]))


@both("permute")
def permute(input, *dims):
    dims = given_shape(dims, "permute", "dims")
    n = input.ndim
    if len(dims) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    dims = [dimension(d, n) for d in dims]
    if len(set(dims)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return input._seen([input._shape[d] for d in dims], [input._strides[d] for d in dims])


@both("transpose")
def transpose(input, dim0, dim1):
    a, b = dimension(dim0, input.ndim, "dim0"), dimension(dim1, input.ndim, "dim1")
    dims = list(range(input.ndim))
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return permute(input, dims)


@both("swapaxes")
def swapaxes(input, axis0, axis1):
    return transpose(input, axis0, axis1)


@both("swapdims")
def swapdims(input, dim0, dim1):
    return transpose(input, dim0, dim1)


@both("t")
def t(input):
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


@both("adjoint")
def adjoint(input):
    return input.mT


@both("movedim", "moveaxis")
def movedim(input, source, destination):
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    if len(source) != len(destination):
        words = (
            "movedim: Invalid source or destination dims: source ({} dims) should contain the same number of dims as "
        )
        raise RuntimeError((words + "destination ({} dims)").format(source, destination))
    source, destination = ([dimension(d, input.ndim) for d in dims] for dims in (source, destination))
    left = [d for d in range(input.ndim) if d not in source]
    order = [source[destination.index(d)] if d in destination else left.pop(0) for d in range(input.ndim)]
    return permute(input, order)


@both("unsqueeze")
def unsqueeze(input, dim):
    d = dimension(dim, input.ndim + 1)
    shape, strides = list(input._shape), list(input._strides)
    shape.insert(d, 1)
    strides.insert(d, 1 if d == input.ndim else input._strides[d] * input._shape[d])
    return input._seen(shape, strides)


@both("squeeze")
def squeeze(input, dim=None):
    dims = [dim] if isinstance(dim, int) else dim
    at = range(input.ndim) if dim is None else [dimension(d, input.ndim) for d in dims]
    kept = [i for i, n in enumerate(input._shape) if n != 1 or i not in at]
    return input._seen([input._shape[i] for i in kept], [input._strides[i] for i in kept])


@both("expand", function=False)
def expand(input, *size):
    size = given_shape(size, "expand")
    pad = len(size) - input.ndim
    if pad < 0:
        words = (
            "expand(torch.{}Tensor{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the "
        )
        raise RuntimeError(
            (words + "number of dimensions in the tensor ({})").format(
                input.dtype.called, list(input._shape), list(size), len(size), input.ndim
            )
        )
    shape, strides, beyond = [], [], 1
    for i, n in reversed(list(enumerate(size))):
        own, stride = (input._shape[i - pad], input._strides[i - pad]) if i >= pad else (1, beyond)
        if n == -1 and i < pad:
            words = "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {}"
            raise RuntimeError(words.format(i))
        wanted = own if n == -1 else n
        if wanted != own and own != 1:
            words = (
                "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}."
            )
            words += "  Target sizes: {}.  Tensor sizes: {}"
            raise RuntimeError(words.format(wanted, own, i, list(size), list(input._shape)))
        shape.append(wanted)
        strides.append(stride if wanted == own else 0)
        beyond = wanted * strides[-1]
    return input._seen(shape[::-1], strides[::-1])


@both("broadcast_to")
def broadcast_to(input, size):
    return expand(input, size)


@both("expand_as", function=False)
def expand_as(input, other):
    return expand(input, other._shape)


@both("select")
def select(input, dim, index):
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = dimension(dim, input.ndim)
    if not -input._shape[d] <= index < input._shape[d]:
        words = "select(): index {} out of range for tensor of size {} at dimension {}"
        raise IndexError(words.format(int(index), list(input._shape), d))
    return input[(slice(None),) * d + (index,)]


@both("narrow")
def narrow(input, dim, start, length):
    if input.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = dimension(dim, input.ndim)
    if start + length > input._shape[d]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input._shape[d]}).")
    return input[(slice(None),) * d + (slice(start, start + length),)]


@both("chunk")
def chunk(input, chunks, dim=0):
    if input.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return split(input, max(1, -(-input.size(dim) // chunks)), dim)


@both("split")
def split(input, split_size, dim=0):
    if not input._shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = dimension(dim, input.ndim)
    n, before = input._shape[d], (slice(None),) * d
    if isinstance(split_size, (list, tuple)):
        if sum(split_size) != n:
            words = (
                "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but "
            )
            raise RuntimeError((words + "got split_sizes={}").format(n, d, list(split_size)))
        ends = [sum(split_size[: i + 1]) for i in range(len(split_size))]
        return tuple([input[(*before, slice(e - s, e))] for s, e in zip(split_size, ends, strict=True)])
    size = given_shape((split_size,), "split", "split_size")[0]
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return tuple([input[(*before, slice(i, min(n, i + size)))] for i in range(0, n, size)])


@both("tensor_split")
def tensor_split(input, indices_or_sections, dim=0):
    n = input.size(dim)
    if isinstance(indices_or_sections, int):
        parts = indices_or_sections
        return split(input, [n // parts + (i < n % parts) for i in range(parts)], dim)
    ends = [0, *[min(n, i) for i in indices_or_sections], n]
    return split(input, [ends[i + 1] - ends[i] for i in range(len(ends) - 1)], dim)


@both("unbind")
def unbind(input, dim=0):
    d = own_dimension(dim, input.ndim)
    return tuple([input[(slice(None),) * d + (i,)] for i in range(input._shape[d])])


@both("diagonal")
def diagonal(input, offset=0, dim1=0, dim2=1):
    a, b = dimension(dim1, input.ndim), dimension(dim2, input.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {a}, {b}")
    rows, columns = input._shape[a], input._shape[b]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    left = [d for d in range(input.ndim) if d not in (a, b)]
    first = input._offset + (offset * input._strides[b] if offset >= 0 else -offset * input._strides[a])
    shape = [input._shape[d] for d in left] + [n]
    return input._seen(shape, [input._strides[d] for d in left] + [input._strides[a] + input._strides[b]], first)


@both("unfold", function=False)
def unfold(input, dimension_, size, step):
    d = dimension(dimension_, input.ndim)
    shape, strides = list(input._shape), list(input._strides)
    shape[d] = (shape[d] - size) // step + 1
    strides[d] = input._strides[d] * step
    return input._seen([*shape, size], [*strides, input._strides[d]])


def broadcast_tensors(*tensors):
    shape, _ = spread(*tensors)
    return tuple([expand(x, shape) for x in tensors])


FUNCTIONS["broadcast_tensors"] = broadcast_tensors
FUNCTIONS["numel"] = lambda input: input.numel()
FUNCTIONS["is_floating_point"] = lambda input: input.dtype.is_floating_point


@both("repeat", function=False)
def repeat(input, *repeats):
    times = given_shape(repeats, "repeat", "repeats")
    if len(times) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(times) - input.ndim) + input._shape
    pairs = [size for pair in zip(times, shape, strict=True) for size in pair]
    ones = [size for n in shape for size in (1, n)]
    spread_out = expand(reshape(input, ones), pairs)
    return new(spread_out._flat(), [a * b for a, b in zip(times, shape, strict=True)], input.dtype)


@both("tile")
def tile(input, *dims):
    dims = given_shape(dims, "tile", "dims")
    return repeat(input, (1,) * (input.ndim - len(dims)) + dims)


@both("repeat_interleave")
def repeat_interleave(input, repeats, dim=None, output_size=None):
    if dim is None:
        input, dim = flatten(input), 0
    d = dimension(dim, input.ndim)
    n = input._shape[d]
    many = repeats.tolist() if hasattr(repeats, "tolist") else [repeats] * n
    many = [many] * n if isinstance(many, int) else many * n if len(many) == 1 else many
    index = [i for i, times in zip(range(n), many, strict=True) for _ in range(times)]
    return input[(slice(None),) * d + (index,)]


@both("flip")
def flip(input, *dims):
    given = input
    dims = [dimension(d, input.ndim) for d in given_shape(dims, "flip", "dims")]
    for d in dims if input.ndim else ():
        input = input[(slice(None),) * d + (list(reversed(range(input._shape[d]))),)]
    return made(input._flat(), input._shape, input.dtype, (given,))


@both("roll")
def roll(input, shifts, dims=None):
    if dims is None:
        return reshape(roll(flatten(input), shifts, 0), input._shape)
    pairs = [(shifts, dims)] if isinstance(shifts, int) else list(zip(shifts, dims, strict=True))
    for shift, dim in pairs:
        d = own_dimension(dim, input.ndim)
        n = input._shape[d]
        input = input[(slice(None),) * d + ([(i - shift) % n for i in range(n)],)]
    return contiguous(input)


def like(input, value, dtype):
    """A tensor of one value in the shape of another, and in its order."""
    return made([value] * input.numel(), input._shape, kind_of(dtype) or input.dtype, (input,))


def in_order(values, shape, dtype):
    """New numbers in the usual order."""
    return new(values, shape, dtype, strides_of(shape))
