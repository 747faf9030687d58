"""One of everything a process: a model is opened once, and equal texts are computed once, whoever asks.

Thirty students open the same link within seconds. The first one computes; the others wait for that very result.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import fields, is_dataclass
from typing import Generic, TypeVar

import numpy as np

from attention_core.arrays import Array

Value = TypeVar("Value")


class Once(Generic[Value]):
    """What is computed once for each key and kept, the latest first, as far as there is room for it.

    `size` says how much room a value takes, in the unit of `most`. The latest value is kept however large it is.
    """

    def __init__(self, most: float, size: Callable[[Value], float]):
        self.most, self.size = most, size
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._sizes: dict[Hashable, float] = {}

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
            if comes_first:
                return self._compute(key, future, compute)
            try:
                return future.result()
            except CancelledError:
                continue  # who computed it was stopped from outside, which is no fault of the value

    def kept(self, key: Hashable) -> Value | None:
        """The value of a key, if it is there."""
        with self._lock:
            return self._values[key].result() if key in self._sizes else None

    def _compute(self, key: Hashable, future: Future[Value], compute: Callable[[], Value]) -> Value:
        try:
            value = compute()
            size = self.size(value)
        except BaseException as error:
            with self._lock:
                del self._values[key]
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
            del self._values[key], self._sizes[key]


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
