"""Arrays that remember: NumPy's numbers and, for each cell, the cells from which it was computed.

The core is written once for every library that `namespace(x)` returns (see `arrays`). `XP` is one more such library, so
functions of the core run on `given(values, "x")` as they stand, and a result knows its whole computation.

During the computation an array keeps its values and the rule that made it; nothing is recorded for single cells.
Afterwards a rule says for any cells from which cells they were computed. There are five rules:

    Input         there from the start: an input, a constant of the core, a number in a formula
    Rearranged    reshape, transpose, slice, broadcast, concat, stack, gather, where: each cell is a copy of another
    Elementwise   + − · ÷ exp tanh > …: cell by cell, broadcast as NumPy does it
    Reduced       the sum or the maximum along some axes
    MatMul        matrix products, and dot products of rows

`Rearranged` needs no index arithmetic: what NumPy does to the values it also does to an array of cell numbers. An
operation without a rule raises `NoRule`: a trace is complete, or there is none.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

Numbers = Any  # an array; NumPy has another type for a single number
Index = Any  # numbers of cells, counted in reading order, in an array of any shape


class NoRule(TypeError, AttributeError):
    """An error for an operation that has no rule and would lose the trace."""


class Cells(NamedTuple):
    """Some cells of one array; `at` holds their flat indices, counted in reading order, in an array of any shape."""

    array: "Traced"
    at: Index

    @property
    def values(self) -> Numbers:
        """The numbers in the cells, in the shape of `at`."""
        return self.array.values.reshape(-1)[self.at]

    @property
    def made(self) -> "Provenance":
        """How the cells were computed."""
        return self.array.rule.made(self.at)


class Provenance(NamedTuple):
    """How some cells were computed, and from which cells.

    Each of the `parts` has the shape of the cells in question. For a sum, a maximum or a matrix product it has one more
    axis at the end, for the terms. A copy of cells of several arrays has a part for each array, and `which` says for
    each cell to which part it belongs. `because` is the condition that chose the cells.
    """

    sign: str
    parts: tuple[Cells, ...] = ()
    which: Index | None = None
    because: Cells | None = None


# The rules.


@lru_cache(maxsize=512)
def cell_numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of this shape in which each cell holds its number, counted in reading order."""
    return np.arange(math.prod(shape)).reshape(shape)


@lru_cache(maxsize=512)
def spread(shape: tuple[int, ...], over: tuple[int, ...]) -> np.ndarray:
    """Return, for each cell of the larger shape in reading order, which cell of the smaller one is broadcast there."""
    return np.broadcast_to(cell_numbers(shape), over).reshape(-1)


class Input(NamedTuple):
    """The rule of an array that was not computed: `kind` is "input", "constant" or "number".

    A `text` gives its notation, such as "1 ÷ √2".
    """

    kind: str
    text: str | None = None

    def made(self, at: Index) -> Provenance:
        """Return how the cells at these places were made: they have a kind, but no parts."""
        return Provenance(self.kind)


class Rearranged:
    """The rule of a copy: `move` puts cells of the sources in order; a `condition`, if given, chose among them."""

    def __init__(self, sources: "Sequence[Traced]", move: Callable[..., np.ndarray], condition: "Traced | None" = None):
        self.sources, self.move, self.condition = tuple(sources), move, condition
        self.shape: tuple[int, ...] = ()
        self.origins: np.ndarray | None = None
        self.starts: list[int] = []

    def made(self, at: Index) -> Provenance:
        """Return how the cells at these places were made. The way back to the sources is computed on the first call."""
        if self.origins is None:
            self.starts = list(accumulate((source.values.size for source in self.sources), initial=0))
            numbered = (
                cell_numbers(source.shape) + start for source, start in zip(self.sources, self.starts, strict=False)
            )
            moved = self.move(*numbered)
            self.shape, self.origins = moved.shape, moved.reshape(-1)
        origins = self.origins[at]
        if len(self.sources) == 1:
            return Provenance("copy", (Cells(self.sources[0], origins),))
        which = np.searchsorted(self.starts, origins, side="right") - 1
        parts = tuple(
            Cells(source, np.where(which == i, origins - self.starts[i], 0)) for i, source in enumerate(self.sources)
        )
        because = self.condition
        chosen = None if because is None else Cells(because, spread(because.shape, self.shape)[at])
        return Provenance("copy", parts, which, chosen)


class Elementwise(NamedTuple):
    """The rule of an operation that joins one cell of each source by a sign."""

    sign: str
    sources: "tuple[Traced, ...]"
    shape: tuple[int, ...]

    def made(self, at: Index) -> Provenance:
        """Return how the cells at these places were made: from one cell of each source."""
        return Provenance(
            self.sign, tuple(Cells(source, spread(source.shape, self.shape)[at]) for source in self.sources)
        )


class Reduced(NamedTuple):
    """The rule of a sum ("sum") or a maximum ("max") along some axes."""

    sign: str
    source: "Traced"
    axes: tuple[int, ...]

    def made(self, at: Index) -> Provenance:
        """Return how the cells at these places were made: from a row of terms each."""
        last = range(-len(self.axes), 0)
        size = math.prod(self.source.shape[axis] for axis in self.axes)
        rows = np.moveaxis(cell_numbers(self.source.shape), self.axes, last).reshape(-1, size)
        return Provenance(self.sign, (Cells(self.source, rows[at]),))


class MatMul(NamedTuple):
    """The rule of a matrix product, Σ left · right."""

    left: "Traced"  # *batch rows terms
    right: "Traced"  # *batch terms columns

    def made(self, at: Index) -> Provenance:
        """Return how the cells at these places were made: the cells of the two parts form pairs, one for each term."""
        left, right = self.left.shape, self.right.shape
        batch = np.broadcast_shapes(left[:-2], right[:-2])
        *entry, row, column = np.unravel_index(at, (*batch, left[-2], right[-1]))
        rows = np.broadcast_to(cell_numbers(left), (*batch, *left[-2:]))[(*entry, row)]
        columns = np.broadcast_to(cell_numbers(right).mT, (*batch, right[-1], right[-2]))[(*entry, column)]
        return Provenance("products", (Cells(self.left, rows), Cells(self.right, columns)))


# The array.


class Traced:
    """An array of NumPy's numbers with the rule that made it.

    `name` is what a reader calls the array, and `axes` says what its last axes count, such as ("queries", "keys"). Code
    that shows the array gives it both.
    """

    __slots__ = ("axes", "name", "rule", "values")
    __array_ufunc__ = None  # so that `array + traced` comes here, too
    __hash__ = object.__hash__

    def __init__(self, values: Numbers, rule: Any, name: str | None = None, axes: Sequence[str] = ()):
        self.values: np.ndarray = np.asarray(values)
        self.rule, self.name, self.axes = rule, name, tuple(axes)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)
    mT = property(lambda self: moved(lambda a: a.mT, self))

    def __array_namespace__(self, api_version: str | None = None) -> "Library":
        return XP

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> "Traced":
        return moved(lambda a: a[key], self)

    def reshape(self, *shape: int | tuple[int, ...]) -> "Traced":
        """Return the array in another shape."""
        return moved(lambda a: a.reshape(*shape), self)

    def swapaxes(self, one: int, other: int) -> "Traced":
        """Return the array with two axes exchanged."""
        return moved(lambda a: a.swapaxes(one, other), self)

    def sum(self, axis: int | tuple[int, ...] | None = None) -> "Traced":
        """Compute the sum along an axis or several, or of all cells."""
        return along("sum", np.sum, self, axis)

    def all(self, axis: int | None = None) -> Numbers:
        """Return whether all cells are True, as a plain value: a program's decision is not part of the computation."""
        return self.values.all(axis=axis)

    def any(self, axis: int | None = None) -> Numbers:
        """Return whether any cell is True, as a plain value: a program's decision is not part of the computation."""
        return self.values.any(axis=axis)

    def __matmul__(self, other: "Traced") -> "Traced":
        left, right = declared(self), declared(other)
        rows = left if left.ndim > 1 else left[None]
        columns = right if right.ndim > 1 else right[:, None]
        return Traced(left.values @ right.values, MatMul(rows, columns))

    def __getattr__(self, name: str) -> Any:
        raise NoRule(f"traced arrays have no rule for .{name}: add one to traced.py, or read .values and end the trace")

    def _ends_here(self, *_: object, **__: object) -> Any:
        raise NoRule("a traced array would become a plain one here; read .values where the trace may end")

    __array__ = __bool__ = __float__ = __int__ = __index__ = __contains__ = _ends_here


BINARY = {
    "add": ("+", np.add),
    "sub": ("−", np.subtract),
    "mul": ("·", np.multiply),
    "truediv": ("÷", np.divide),
    "pow": ("^", np.power),
    "gt": (">", np.greater),
    "ge": ("≥", np.greater_equal),
    "lt": ("<", np.less),
    "le": ("≤", np.less_equal),
    "eq": ("=", np.equal),
    "ne": ("≠", np.not_equal),
    "and": ("and", np.logical_and),
    "or": ("or", np.logical_or),
}
UNARY = {"neg": ("neg", np.negative), "invert": ("not", np.logical_not)}
FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos}
for _name, (_sign, _f) in BINARY.items():
    setattr(Traced, f"__{_name}__", lambda a, b, s=_sign, f=_f: each_cell(s, f, a, b))
    if _name in ("add", "sub", "mul", "truediv", "pow", "and", "or"):
        setattr(Traced, f"__r{_name}__", lambda a, b, s=_sign, f=_f: each_cell(s, f, b, a))
for _name, (_sign, _f) in UNARY.items():
    setattr(Traced, f"__{_name}__", lambda a, s=_sign, f=_f: each_cell(s, f, a))


class Written(float):
    """A number with its notation, such as 1/√2 with "1 ÷ √2"."""

    text: str

    def __new__(cls, value: float, text: str):
        """Return a number that computes as any other and has its notation as `text`."""
        number = super().__new__(cls, value)
        number.text = text
        return number


def given(values: Any, name: str, axes: Sequence[str] = ()) -> Traced:
    """Return an input with its name and what its axes count. A read-only array is shared, anything else is copied."""
    fixed = isinstance(values, np.ndarray) and not values.flags.writeable
    array = Traced(values if fixed else np.array(values), Input("input", getattr(values, "text", None)), name, axes)
    array.values.flags.writeable = False
    return array


def constant(values: Any, dtype: Any = None) -> Traced:
    """Return a constant of the core, such as ones or angles. An array that is traced already keeps its history."""
    if not isinstance(values, Traced):
        return Traced(np.array(np.asarray(values), dtype=dtype), Input("constant"))
    if dtype is None or values.dtype == dtype:
        return values
    return Traced(values.values.astype(dtype), Rearranged((values,), lambda a: a), values.name, values.axes)


def declared(x: Any) -> Traced:
    """Return a traced array as it is, and a number of a formula as an array without axes. Raises NoRule otherwise."""
    if isinstance(x, Traced):
        return x
    if isinstance(x, int | float):
        return Traced(np.asarray(x), Input("number"))
    raise NoRule(f"{type(x).__name__} without a trace beside a traced array: declare it with given(…) or XP.asarray(…)")


def each_cell(sign: str, f: np.ufunc, *sources: Any) -> Traced:
    """Apply one operation cell by cell."""
    traced = tuple(map(declared, sources))  # plain numbers enter f as they are, so that 32-bit results stay 32-bit
    with np.errstate(all="ignore"):  # −∞ − (−∞) gives NaN here as it does in NumPy, without a warning
        values = f(*(x.values if isinstance(x, Traced) else x for x in sources))
    return Traced(values, Elementwise(sign, traced, values.shape))


def moved(move: Callable[..., np.ndarray], *sources: Traced, condition: Traced | None = None) -> Traced:
    """Copy the cells of the sources in the order in which `move` puts them."""
    return Traced(move(*(source.values for source in sources)), Rearranged(sources, move, condition))


def along(sign: str, f: Callable[..., np.ndarray], x: Traced, axis: int | tuple[int, ...] | None) -> Traced:
    """Compute a sum or a maximum along some axes, or over all where `axis` is None."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return Traced(f(x.values, axis=axes), Reduced(sign, x, axes))


def where(condition: Any, x: Any, y: Any) -> Traced:
    """Return the cells of x where the condition holds, and those of y elsewhere."""
    chosen, sources = declared(condition), (declared(x), declared(y))
    values = np.where(chosen.values, *(a.values if isinstance(a, Traced) else a for a in (x, y)))
    return Traced(values, Rearranged(sources, lambda a, b: np.where(chosen.values, a, b), chosen))


def vecdot(x: Traced, y: Traced) -> Traced:
    """Compute the dot product of each row of x with the corresponding row of y."""
    x, y = declared(x), declared(y)
    return Traced(np.vecdot(x.values, y.values), MatMul(x[..., None, :], y[..., None]))


def joined(f: Callable[..., np.ndarray], axis: int, arrays: Sequence[Any]) -> Traced:
    """Join several arrays into one by `f`, such as NumPy's concat or stack."""
    return moved(lambda *a: f(a, axis=axis), *map(declared, arrays))


class Library(SimpleNamespace):
    """The functions that `namespace(x)` offers for a traced array. One without a rule raises NoRule."""

    def __getattr__(self, name: str) -> Any:
        raise NoRule(f"traced arrays have no rule for xp.{name}: add one to traced.py")


XP = Library(
    bool=np.bool,
    float32=np.float32,
    **{name: lambda x, s=name, f=f: each_cell(s, f, x) for name, f in FUNCTIONS.items()},
    maximum=lambda x, y: each_cell("max", np.maximum, x, y),
    where=where,
    amax=lambda x, axis: along("max", np.max, x, axis),
    linalg=Library(vecdot=vecdot),
    concat=lambda arrays, axis=0: joined(np.concat, axis, arrays),
    stack=lambda arrays, axis=0: joined(np.stack, axis, arrays),
    broadcast_to=lambda x, shape: moved(lambda a: np.broadcast_to(a, shape), x),
    asarray=constant,
    zeros=lambda shape, dtype=float: constant(np.zeros(shape, dtype)),
    ones=lambda shape, dtype=float: constant(np.ones(shape, dtype)),
    eye=lambda n, m=None, dtype=float: constant(np.eye(n, m, dtype=dtype)),
    argwhere=np.argwhere,  # of plain arrays alone, as `any` gives them: __array__ says no to others
)


# Questions about a trace.


def sources_of(array: Traced) -> tuple[Traced, ...]:
    """Return the arrays from which an array was computed, its condition included."""
    rule = array.rule
    if isinstance(rule, Input):
        return ()
    if isinstance(rule, Rearranged):
        return rule.sources if rule.condition is None else (*rule.sources, rule.condition)
    if isinstance(rule, MatMul):
        return rule.left, rule.right
    return rule.sources if isinstance(rule, Elementwise) else (rule.source,)


def arrays_behind(*arrays: Traced) -> Iterator[Traced]:
    """Yield some arrays and every array from which they were computed, each once."""
    seen, waiting = set(), list(arrays)
    while waiting:
        array = waiting.pop()
        if id(array) not in seen:
            seen.add(id(array))
            yield array
            waiting.extend(sources_of(array))
