"""What was made for one visitor and is shown to all who ask for the same."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from models.shared import UNUSED_SECONDS, Once
from words import language

Value = TypeVar("Value")


class KeptByLanguage(Generic[Value]):
    """The last `most` values that hold written sentences or numbers, for all visitors: never change one.

    Each language has its own. `words.cached_by_language` does the same for what is small: these go when nobody has
    asked for them in a while.
    """

    def __init__(self, most: int):
        self._once: Once[Value] = Once(most, lambda _: 1, UNUSED_SECONDS)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of a key in the reader's language; see `Once.get`."""
        return self._once.get((language().code, key), compute)

    def kept(self, key: Hashable) -> Value | None:
        """The value of a key in the reader's language, if it has been computed and is still kept."""
        return self._once.kept((language().code, key))


class KeptWithIt(Generic[Value]):
    """A value that is made of an object, in each language its own, kept as long as the object is: never change one."""

    def __init__(self):
        self._values: WeakKeyDictionary[Hashable, dict[str, Value]] = WeakKeyDictionary()

    def get(self, of: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of this object in the reader's language. Two who ask at the same time may both compute it."""
        values, code = self._values.setdefault(of, {}), language().code
        return values[code] if code in values else values.setdefault(code, compute())
