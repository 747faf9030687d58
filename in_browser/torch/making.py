"""Tensors that are made of nothing: of one value, of numbers in a row, of chance."""

import math

from .kinds import FLOAT, bool_, float32, int64, kind_of, of_number
from .pointwise import is_number
from .shapes import given_shape, product
from .storage import Maker, made, new
from .table import FUNCTIONS, both, only_function
from .tensors import UNSET, as_tensor, tensor
from .views import like

FUNCTIONS["tensor"], FUNCTIONS["as_tensor"], FUNCTIONS["asarray"] = tensor, as_tensor, as_tensor
FUNCTIONS["is_tensor"] = lambda obj: isinstance(obj, Maker.tensor)


def sizes(given, named, name):
    """A shape that came as numbers, as one tuple, or by its name."""
    if "size" in named:
        given = (named.pop("size"),)
    if not given:
        raise TypeError(f"{name}() received an invalid combination of arguments - got (), but expected one of:")
    if len(given) > 1 and not isinstance(given[0], (int, Maker.tensor)):
        raise TypeError(f"{name}() takes 1 positional argument but {len(given)} were given")
    shape = given_shape(given, name)
    if min(shape, default=0) < 0:
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


def filled_with(name, value):
    def fill(*size, dtype=None, requires_grad=False, device=None, **named):
        shape = sizes(size, named, name)
        kind = kind_of(dtype) or float32
        return made([value] * product(shape), shape, kind)

    only_function(name)(fill)
    both(name + "_like")(lambda input, dtype=None, device=None, requires_grad=False: like(input, value, dtype))

    def new_of(input, *size, dtype=None, device=None, **named):
        shape = sizes(size, named, "new_" + name)
        return made([value] * product(shape), shape, kind_of(dtype) or input.dtype)

    both("new_" + name, function=False)(new_of)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", UNSET)):
    filled_with(_name, _value)


@only_function("full")
def full(size, fill_value, dtype=None, device=None, requires_grad=False):
    if not is_number(fill_value):
        kind = type(fill_value).__name__
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {kind}")
    if isinstance(fill_value, Maker.tensor):
        fill_value = fill_value.item()
    kind = kind_of(dtype) or of_number(fill_value)
    fits(fill_value, kind)
    shape = given_shape((size,), "full")
    return made([fill_value] * product(shape), shape, kind)


def fits(value, kind):
    """Raise where a number has no place among those of a kind."""
    if kind.rank != FLOAT and kind is not bool_ and isinstance(value, float) and not math.isfinite(value):
        raise RuntimeError(f"value cannot be converted to type {kind.name}_t without overflow")


@both("full_like")
def full_like(input, fill_value, dtype=None, device=None):
    fits(fill_value, kind_of(dtype) or input.dtype)
    return like(input, fill_value, dtype)


@both("new_full", function=False)
def new_full(input, size, fill_value, dtype=None):
    return full(size, fill_value, kind_of(dtype) or input.dtype)


@only_function("eye")
def eye(n, m=None, dtype=None, device=None):
    m = n if m is None else m
    return made([int(i == j) for i in range(n) for j in range(m)], (n, m), kind_of(dtype) or float32)


@only_function("arange")
def arange(start=0, end=None, step=1, dtype=None, device=None):
    if end is None:
        start, end = 0, start
    bounds = [x.item() if isinstance(x, Maker.tensor) else x for x in (start, end, step)]
    if any([not isinstance(x, (int, float)) for x in bounds]):
        kind = next(type(x).__name__ for x in bounds if not isinstance(x, (int, float)))
        raise TypeError(f"arange(): argument 'end' (position 1) must be Number, not {kind}")
    low, high, by = bounds
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if (high - low) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    values = [low + i * by for i in range(math.ceil((high - low) / by))]
    kind = float32 if any([isinstance(x, float) for x in bounds]) else int64
    return made(values, (len(values),), kind_of(dtype) or kind)


@only_function("linspace")
def linspace(start, end, steps, dtype=None, device=None):
    by = (end - start) / max(1, steps - 1)
    return made([start + i * by for i in range(steps)], (steps,), kind_of(dtype) or float32)


# Chance


_seed = [0]


def manual_seed(seed):
    """The numbers drawn from now on; torch itself draws others."""
    _seed[0] = seed & 0x7FFFFFFF


def drawn():
    _seed[0] = (_seed[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return (_seed[0] + 0.5) / 0x80000000


def normal():
    """Box and Muller's way from two even numbers to a normal one."""
    return math.sqrt(-2 * math.log(drawn())) * math.cos(2 * math.pi * drawn())


def drawing(name, draw):
    def draw_all(*size, generator=None, dtype=None, device=None, requires_grad=False, **named):
        shape = sizes(size, named, name)
        return made([draw() for _ in range(product(shape))], shape, kind_of(dtype) or float32)

    only_function(name)(draw_all)
    both(name + "_like")(
        lambda input, dtype=None: made([draw() for _ in range(input.numel())], input._shape, input.dtype)
    )


FUNCTIONS["manual_seed"] = manual_seed
drawing("rand", drawn)
drawing("randn", normal)


@only_function("randint")
def randint(low, high=None, size=None, generator=None, dtype=None):
    if size is None:
        low, high, size = 0, low, high
    values = [low + int(drawn() * (high - low)) for _ in range(product(size))]
    return made(values, size, kind_of(dtype) or int64)


@only_function("randperm")
def randperm(n, generator=None):
    keys = [drawn() for _ in range(n)]
    return made(sorted(range(n), key=lambda i: keys[i]), (n,), int64)


@both("bernoulli")
def bernoulli(input, p=None):
    return made([int(drawn() < (x if p is None else p)) for x in input._flat()], input._shape, input.dtype)


@both("multinomial")
def multinomial(input, num_samples, replacement=False):
    rows = input.reshape(-1, input.size(-1)).tolist()
    picks = [pick(list(row), replacement) for row in rows for _ in range(num_samples)]
    return made(picks, (*input._shape[:-1], num_samples), int64)


def pick(row, replacement):
    """A place by chance, the likelier the larger its number."""
    reached, target = 0.0, drawn() * sum(row)
    for i, share in enumerate(row):
        reached += share
        if reached > target:
            return i
    return len(row) - 1


def filling(name, draw):
    def fill(input, *given, **named):
        values = [draw(*given, **named) for _ in range(input.numel())]
        return input._write(new(values, input._shape, float32))

    both(name, function=False)(fill)


filling("normal_", lambda mean=0.0, std=1.0: mean + std * normal())
filling("uniform_", lambda low=0.0, high=1.0: low + (high - low) * drawn())
filling("bernoulli_", lambda p=0.5: float(drawn() < p))
