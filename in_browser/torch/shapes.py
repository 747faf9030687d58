"""Shapes, and what torch says where they do not fit."""

inf = float("inf")
float32 = "torch.float32"
int64 = "torch.int64"
bool = "torch.bool"
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
        step *= n
    return tuple(reversed(strides))


def given_shape(sizes):
    """A shape, whether it was given as one tuple or number by number."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else tuple(sizes)


def dimension(d, n):
    """An axis counted from the front, of n."""
    least = max(n, 1)
    if not -least <= d < least:
        words = "Dimension out of range (expected to be in range of [{}, {}], but got {})"
        raise IndexError(words.format(-least, least - 1, d))
    return d % least


def broadcast_shape(a, b):
    """The shape of what two tensors give together."""
    n = max(len(a), len(b))
    shape = []
    for i in range(n):
        x = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        y = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if x != y and x != 1 and y != 1:
            words = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
            raise RuntimeError(words.format(x, y, i))
        shape.append(y if x == 1 else x)
    return tuple(shape)


def filled(shape, n):
    """A shape for n numbers, with the size that was left to be found (-1)."""
    shape = list(given_shape(shape))
    words = f"shape '{shape}' is invalid for input of size {n}"
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape:
        rest = product([size for size in shape if size != -1])
        if rest == 0 or n % rest:
            raise RuntimeError(words)
        shape[shape.index(-1)] = n // rest
    if product(shape) != n:
        raise RuntimeError(words)
    return tuple(shape)
