"""A function of a lesson and what it ran on: what came out, and how every number of it came about."""

import hashlib
import inspect
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float
from pyarrow import compute

from attention_core.base.arrays import Array
from attention_core.base.traced import Traced, given
from attention_core.one_head.attention import AttentionTrace
from lessons.screen import Call, Code, Matrix, Step
from lessons.trace.story import Names, axes_of_annotation, lines_of, lines_together, name_arrays, story_of

INPUT_AXES = {  # what the axes of usual inputs count
    "x": ("tokens", "d_model"),
    "positions": ("tokens", "d_model"),
    "may_attend": ("queries", "keys"),
    **dict.fromkeys(("W_q", "W_k", "W_v", "W_o", "turn", "turn_v"), ("row", "column")),
}
WRITTEN: "weakref.WeakValueDictionary[tuple, np.ndarray]" = weakref.WeakValueDictionary()  # see `as_written`
Take = Callable[[Any], Any]  # a slice of an array, the same of a tensor and of a traced array


@dataclass(frozen=True, eq=False)
class Computation:
    """A lesson's `compute` and its `inputs`, by the names of its parameters.

    It runs twice: on the inputs as they are, for the `result` on the screen, and when a derivation is wanted on arrays
    that remember, for `traced`. `names` are what a reader calls the cells.
    """

    function: Callable[..., Any]
    inputs: Mapping[str, Any]
    names: Names = field(default_factory=lambda: Names({}, {}))

    @cached_property
    def result(self) -> Any:
        """What came out."""
        return self.function(**self.inputs)

    @cached_property
    def remembered(self) -> dict[str, Any]:
        """The inputs as arrays that remember."""
        kinds = inspect.get_annotations(self.function)
        axes = {name: INPUT_AXES.get(name) or axes_of_annotation(kinds.get(name)) for name in self.inputs}
        return {name: remembering(name, value, axes[name]) for name, value in self.inputs.items()}

    @cached_property
    def traced(self) -> Any:
        """The result on arrays that remember; each has the name of its field."""
        result = self.function(**self.remembered)
        name_arrays(result)
        return result

    def code(
        self,
        shown: Sequence[str],
        *functions: Callable[..., Any],
        attention: AttentionTrace | None = None,
        scale: float | None = None,
    ) -> Code:
        """The function that ran, those of the core that it is about, and the program that runs it again.

        An `attention` is computed in other ways as well, with the `scale` of the inputs unless another is named.
        """
        scale = float(self.inputs.get("scale", 1.0)) if scale is None else scale
        return Code((self.function, *functions), attention, scale, partial(self.call, shown))

    def call(self, shown: Sequence[str]) -> Call:
        """How the function was called, and what of its result is shown."""
        shows = {f"result.{path}".rstrip("."): at_path(self.result, path) for path in shown}
        return Call(self.function, self.inputs, shows)

    def follow(
        self,
        path: str,
        take: Take | None = None,
        name: str | None = None,
        axes: Sequence[str] = (),
        computed: bool = False,
    ) -> "Followed":
        """How the cells of one array came about: of the result, by a path such as "masked.weights", or of the inputs.

        `take` makes the array that is shown of it, such as one row; where that is arithmetic and no slice, it wants a
        `name`, and what its `axes` count. An empty path hands all of the result to `take`. Copies with a name of their
        own, such as what a mask leaves visible, are told as copies, or as what was `computed`.
        """
        return Followed(self, path, take, name, tuple(axes), computed)


@dataclass(frozen=True, eq=False)
class Followed:
    """One array of a computation, or a slice of it: its numbers, and how each of them came about."""

    computation: Computation
    path: str
    take: Take | None = None
    name: str | None = None
    axes: tuple[str, ...] = ()
    computed: bool = False
    only: Take | None = None  # the rows and columns that are shown of a large one

    @cached_property
    def values(self) -> Array:
        """The numbers on the screen."""
        found = self._of(self.computation.inputs, lambda: self.computation.result)
        return found if self.only is None else self.only(found)

    @cached_property
    def array(self) -> Traced:
        """The array that remembers."""
        array = self._of(self.computation.remembered, lambda: self.computation.traced)
        if self.name:
            array.name, array.axes = self.name, self.axes
        return array if self.only is None else self.only(array)

    @cached_property
    def lines(self) -> list[Step]:
        """The line of each cell, in reading order; see `tell_together`."""
        return lines_of(self.array, self.computation.names, computed=self.computed)

    def step(self, *index: int) -> Step:
        """The line of one cell."""
        place = 0
        for i, size in zip(index, self.array.shape, strict=True):
            place = place * size + i
        return self.lines[place]

    def derive(self, *index: int) -> list[Step]:
        """All lines that lead to a cell, its own last."""
        return story_of(self.array, index, self.computation.names, computed=self.computed)

    def _of(self, inputs: Mapping[str, Any], result: Callable[[], Any]) -> Any:
        found = inputs[self.path] if self.path in inputs else at_path(result(), self.path)
        return found if self.take is None else self.take(found)


def tell_together(several: Iterable[Followed]) -> None:
    """Find the lines of several arrays at once, which takes less time than one by one; each keeps its own."""
    alike: dict[tuple[Computation, bool], list[Followed]] = {}
    for followed in several:
        if "lines" not in vars(followed):
            alike.setdefault((followed.computation, followed.computed), []).append(followed)
    for (computation, computed), group in alike.items():
        told = lines_together([followed.array for followed in group], computation.names, computed=computed)
        for followed, lines in zip(group, told, strict=True):
            vars(followed)["lines"] = lines


def followed_matrix(followed: Followed, **look: Any) -> Matrix:
    """A matrix of a figure whose cells can be followed to the inputs; `look` is the rest of it."""
    told = {"step": followed.step, "before": lambda i, j: followed.derive(i, j)[:-1], "traced": followed}
    return Matrix(**{"values": followed.values} | told | look)


def taken_by(function: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Those inputs that a function has parameters for."""
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return {name: value for name, value in inputs.items() if takes_all or name in parameters}


def at_path(result: Any, path: str) -> Any:
    """What stands at a path of names in a result, such as "masked.weights"."""
    for name in filter(None, path.split(".")):
        result = result[name] if isinstance(result, Mapping) else getattr(result, name)
    return result


def remembering(name: str, value: object, axes: Sequence[str]) -> object:
    """An input as an array that remembers; sizes, switches and texts as they are.

    Whole numbers in an array are ids or places: they choose, and nothing is computed of them, so they stay plain.
    Numbers of 32 bits become the decimal numbers with which they are written: what a reader sees is what is computed.
    """
    if isinstance(value, float):
        return given(value, name)
    if not hasattr(value, "shape") or hasattr(value, "rule"):
        return value
    plain = np.asarray(value)
    if plain.dtype.kind in "iu":
        return plain
    if plain.dtype == np.float32:
        plain = as_written(plain)
    return given(plain, name, axes)


def as_written(numbers: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Each number as the decimal number with which it is written, the shortest that is still told from its neighbours.

    The weights of a real head are a hundred thousand numbers: Arrow writes and reads them in a tenth of Python's time,
    once for all sentences and pages that keep them. Never change them.
    """
    same = numbers.shape, hashlib.sha256(numbers.tobytes()).digest()
    found = WRITTEN.get(same)
    if found is not None:
        return found
    written = compute.cast(pa.array(numbers.ravel()), pa.string())
    read = np.reshape(compute.cast(written, pa.float64()), numbers.shape)
    read.flags.writeable = False
    return WRITTEN.setdefault(same, read)
