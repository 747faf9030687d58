"""Files that take seconds to write, made in the background for whoever orders them: one at a time, a few are kept."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from attention_core.errors import Phrase
from runs.measuring import Measuring
from runs.page_lock import PageLock

Order = TypeVar("Order", bound=Hashable)
MOST_KEPT_FILES = 4
MOST_SECONDS_OF_WRITING = 600.0


class Orders(Generic[Order]):
    """Writes what `write(order)` gives, in turns that let every page go first for which somebody waits.

    Between its pieces it gives None or, where something is done that one can count, anything else; its last is the
    file, as bytes. The same order is written once, and its file is there for all who order it.
    """

    def __init__(self, pages: PageLock, write: Callable[[Order], Iterator[object]]):
        self._pages, self._write = pages, write
        self._lock = threading.Lock()
        self._begun: OrderedDict[Order, Measuring[object]] = OrderedDict()

    def place(self, order: Order) -> bool:
        """Begin to write, unless it is there already. False where another order is being written."""
        with self._lock:
            if self._file(order) is not None or self._runs(order):
                return True
            if any(map(self._runs, self._begun)):
                return False
            begun = Measuring(self._pages, lambda: self._write(order), most_seconds=MOST_SECONDS_OF_WRITING)
            self._begun[order] = begun
            self._begun.move_to_end(order)
            while len(self._begun) > MOST_KEPT_FILES:
                self._begun.popitem(last=False)
            begun.start()
            return True

    def file(self, order: Order) -> bytes | None:
        """The file, if it is written and still kept."""
        with self._lock:
            return self._file(order)

    def done(self, order: Order) -> int | None:
        """How much of an order is done that is being written now; None for any other."""
        with self._lock:
            return self._begun[order].done if self._runs(order) else None

    def problem(self, order: Order) -> Phrase | None:
        """Why an order was not finished, if so."""
        with self._lock:
            begun = self._begun.get(order)
            if begun is None or begun.running or self._file(order) is not None:
                return None
            return begun.problem or Phrase("it was stopped before it finished")

    def cancel(self) -> None:
        """End what is being written, and wait for its end."""
        with self._lock:
            begun = list(self._begun.values())
        for each in begun:
            each.cancel(wait=True)

    def _runs(self, order: Order) -> bool:
        return order in self._begun and self._begun[order].running

    def _file(self, order: Order) -> bytes | None:
        results = self._begun[order].results if order in self._begun else ()
        return results[-1] if results and isinstance(results[-1], bytes) else None
