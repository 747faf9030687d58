"""One of everything a process: a model is opened once, and equal texts are computed once, whoever asks.

Thirty students open the same link within seconds. The first one computes; the others wait for that very result.
"""

import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import fields, is_dataclass
from typing import Generic, TypeVar

import numpy as np

from attention_core.base.arrays import Array

Value = TypeVar("Value")
EVERY: "weakref.WeakSet[Once]" = weakref.WeakSet()
REGISTERING = threading.Lock()
UNUSED_SECONDS = 60.0  # what can be computed again in a tenth of a second is kept so long for nobody


class Once(Generic[Value]):
    """What is computed once for each key and kept, the latest first, as far as there is room for it.

    `size` says how much room a value takes, in the unit of `most`. The latest value is kept however large it is. What
    nobody has asked for in `unused_seconds` goes with the next `forget_unused`.
    """

    def __init__(
        self,
        most: float,
        size: Callable[[Value], float],
        unused_seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.most, self.size, self.unused_seconds, self._clock = most, size, unused_seconds, clock
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._sizes: dict[Hashable, float] = {}  # of what is computed
        self._asked: dict[Hashable, float] = {}  # when each was asked for last
        with REGISTERING:
            EVERY.add(self)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of a key: kept, awaited from the thread that computes it, or computed by this one.

        What `compute` raises is raised for all who wait, and nothing is kept: the next one tries again.
        """
        while True:
            with self._lock:
                future, comes_first = self._values.get(key), key not in self._values
                if future is None:
                    future = self._values[key] = Future()
                self._values.move_to_end(key)
                self._asked[key] = self._clock()
            if comes_first:
                return self._compute(key, future, compute)
            try:
                return future.result()
            except CancelledError:
                continue  # who computed it was stopped from outside, which is no fault of the value

    def forget_unused(self) -> bool:
        """Let go of what nobody has asked for in a while; whether there was anything."""
        with self._lock:
            oldest = self._clock() - self.unused_seconds
            unused = [key for key in self._sizes if self._asked[key] < oldest]
            for key in unused:
                self._forget(key)
        return bool(unused)

    def kept(self, key: Hashable) -> Value | None:
        """The value of a key, if it is there."""
        with self._lock:
            if key not in self._sizes:
                return None
            self._asked[key] = self._clock()
            return self._values[key].result()

    def _compute(self, key: Hashable, future: Future[Value], compute: Callable[[], Value]) -> Value:
        try:
            value = compute()
            size = self.size(value)
        except BaseException as error:
            with self._lock:
                del self._values[key], self._asked[key]
            if isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.cancel()
            raise
        future.set_result(value)
        with self._lock:
            self._sizes[key] = size
            self._make_room()
        return value

    def _make_room(self) -> None:
        """Let go of what was asked for longest ago, but of nothing that is still computed."""
        kept = [key for key in self._values if key in self._sizes]
        for key in kept[:-1]:
            if sum(self._sizes.values()) <= self.most:
                return
            self._forget(key)

    def _forget(self, key: Hashable) -> None:
        del self._values[key], self._sizes[key], self._asked[key]


def forget_unused() -> bool:
    """Let go of what this process has computed and nobody has asked for in a while; whether there was anything."""
    with REGISTERING:
        every = list(EVERY)
    return any([once.forget_unused() for once in every])


def n_bytes_of(value: object) -> int:
    """The memory of all arrays in dataclasses, tuples, lists and dictionaries; what two of them share counts once."""
    return sum(dict(map(memory_of, arrays_in(value))).values())


def memory_of(array: Array) -> tuple[int, int]:
    """Where the memory lies that an array of NumPy or of torch is a view of, and how many bytes it takes."""
    if hasattr(array, "untyped_storage"):
        return array.untyped_storage().data_ptr(), array.untyped_storage().nbytes()
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ctypes.data, array.nbytes


def arrays_in(value: object) -> Iterator[Array]:
    """All arrays, in order."""
    if hasattr(value, "shape"):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays_in(getattr(value, field.name))
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays_in(part)
