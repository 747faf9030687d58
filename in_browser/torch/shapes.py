"""Shapes and strides, and what torch says where they do not fit."""

MOST_NUMBERS = 200_000


class Size(tuple):
    """The shape of a tensor, written as torch writes it."""

    def __repr__(self):
        return "torch.Size([" + ", ".join([str(n) for n in self]) + "])"

    def numel(self):
        return product(self)


def product(sizes):
    """How many numbers there are in this shape."""
    result = 1
    for n in sizes:
        result *= n
    return result


def strides_of(shape):
    """How far apart neighbours stand, where all numbers lie in order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def whole_number(x):
    """A number that counts something: also a tensor that holds just one whole number. None for anything else."""
    if isinstance(x, int):
        return int(x)
    return x.item() if hasattr(x, "numel") and x.ndim == 0 and not x.dtype.is_floating_point else None


def given_shape(sizes, name="view", called="size"):
    """A shape, whether it was given as one tuple or number by number."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    shape = [whole_number(n) for n in sizes]
    if None in shape:
        at = shape.index(None)
        kind = type(sizes[at]).__name__
        if at == 0 and len(sizes) == 1:
            raise TypeError(f"{name}(): argument '{called}' (position 1) must be tuple of ints, not {kind}")
        words = "{}(): argument '{}' failed to unpack the object at pos {} with error \"type must be tuple of ints,but got {}\""  # noqa: E501
        raise TypeError(words.format(name, called, at + 1, kind))
    return tuple(shape)


def dimension(d, n, name="dim"):
    """An axis counted from the front, of n."""
    if type(d) is not int:
        found = whole_number(d)
        if found is None:
            raise TypeError(f"argument '{name}' must be int, not {type(d).__name__}")
        d = found
    most = max(n, 1)
    if not -most <= d < most:
        words = "Dimension out of range (expected to be in range of [{}, {}], but got {})"
        raise IndexError(words.format(-most, most - 1, d))
    return d % most


def own_dimension(d, n):
    """An axis counted from the front, of n; where there is none, none can be named."""
    if not n:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    return dimension(d, n)


def broadcast_shape(*shapes):
    """The shape of what several tensors give together."""
    result = shapes[0]
    for other in shapes[1:]:
        if result != other:
            result = both_shapes(result, other)
    return tuple(result)


def both_shapes(a, b):
    n = max(len(a), len(b))
    shape = []
    for i in reversed(range(n)):
        x = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        y = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if x != y and x != 1 and y != 1:
            words = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
            raise RuntimeError(words.format(x, y, i))
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def filled(shape, n):
    """A shape for n numbers, with the size that was left to be found (-1)."""
    shape = list(shape)
    words = f"shape '{shape}' is invalid for input of size {n}"
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape:
        rest = product([size for size in shape if size != -1])
        if rest == 0 or n % rest:
            raise RuntimeError(words)
        shape[shape.index(-1)] = n // rest
    if product(shape) != n or min(shape, default=0) < 0:
        raise RuntimeError(words)
    return tuple(shape)


def seen_as(shape, strides, wanted):
    """The strides of these numbers in another shape, without moving any; None where they would have to move."""
    if not shape or product(shape) == 0:
        return strides_of(wanted)
    found, at, base = [0] * len(wanted), len(wanted) - 1, strides[-1]
    ours = theirs = 1
    for d in reversed(range(len(shape))):
        ours *= shape[d]
        if d and (shape[d - 1] == 1 or strides[d - 1] == ours * base):
            continue
        while at >= 0 and (theirs < ours or wanted[at] == 1):
            found[at] = theirs * base
            theirs *= wanted[at]
            at -= 1
        if theirs != ours:
            return None
        if d:
            base, ours, theirs = strides[d - 1], 1, 1
    return tuple(found) if at == -1 else None


def kept_order(shape, operands):
    """The strides of what is computed number by number from tensors that lie in another order than the usual one: torch
    keeps that order. `operands` are the strides of each, for this shape.
    """
    order = list(reversed(range(len(shape))))

    def compared(a, b):
        for strides in operands:
            if strides[a] == 0 or strides[b] == 0:
                continue
            if strides[a] != strides[b]:
                return -1 if strides[a] < strides[b] else 1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, len(order)):
        moved = i
        for j in range(i - 1, -1, -1):
            sign = compared(order[j], order[moved])
            if sign > 0:
                order[j], order[moved] = order[moved], order[j]
                moved = j
            elif sign < 0:
                break
    found, step = [0] * len(shape), 1
    for d in order:
        found[d] = step
        step *= shape[d]
    return tuple(found)
