"""What was made for one visitor and is shown to all who ask for the same."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from models.shared import UNUSED_SECONDS, Once
from words import language

Value = TypeVar("Value")


class KeptByLanguage(Generic[Value]):
    """The last `most` values that hold written sentences or numbers, for all visitors: never change one.

    Each language has its own. `words.cached_by_language` does the same for what is small: these go when nobody has
    asked for them in a while. `size` says how much of `most` a value takes.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = lambda _: 1):
        self._once: Once[Value] = Once(most, size, UNUSED_SECONDS)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of a key in the reader's language; see `Once.get`."""
        return self._once.get((language().code, key), compute)
