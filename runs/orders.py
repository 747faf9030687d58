"""Files that take seconds to write, made in the background for whoever orders them: one at a time, a few are kept."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from attention_core.errors import Phrase
from runs.page_lock import PageLock, Priority

log = logging.getLogger(__name__)
Order = TypeVar("Order", bound=Hashable)
MOST_KEPT_FILES = 4
MOST_SECONDS = 600.0  # of one file: others wait for theirs


class Writing:
    """One file that is written in a thread of its own, in turns that let every page go first for which somebody waits.

    Of its pieces, those that are not None are counted in `done`; `last` is the last of them.
    """

    def __init__(self, pages: PageLock, pieces: Iterator[object]):
        self.done, self.last = 0, None
        self.problem: Phrase | None = None
        self._pages, self._pieces = pages, pieces
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, name="writing", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """True while it is written."""
        return self._thread.is_alive()

    @property
    def file(self) -> bytes | None:
        """The file, once it is written."""
        return self.last if isinstance(self.last, bytes) and not self.running else None

    def cancel(self) -> None:
        """End after the present piece, and wait for that."""
        self._cancelled.set()
        self._thread.join()

    def _work(self) -> None:
        end = time.monotonic() + MOST_SECONDS
        try:
            while not self._cancelled.is_set() and time.monotonic() < end:
                with self._pages.page(Priority.NOBODY_WAITS):
                    piece = next(self._pieces, self)
                if piece is self:
                    return
                if piece is not None:
                    self.done, self.last = self.done + 1, piece
        except Exception as error:
            log.exception("a file could not be written")
            self.problem = Phrase("it ended with {kind}", kind=type(error).__name__)


class Orders(Generic[Order]):
    """Writes what `write(order)` gives, in turns that let every page go first for which somebody waits.

    Between its pieces it gives None or, where something is done that one can count, anything else; its last is the
    file, as bytes. The same order is written once, and its file is there for all who order it.
    """

    def __init__(self, pages: PageLock, write: Callable[[Order], Iterator[object]]):
        self._pages, self._write = pages, write
        self._lock = threading.Lock()
        self._begun: OrderedDict[Order, Writing] = OrderedDict()

    def place(self, order: Order) -> bool:
        """Begin to write, unless it is there already. False where another order is being written."""
        with self._lock:
            if self._file(order) is not None or self._runs(order):
                return True
            if any(map(self._runs, self._begun)):
                return False
            self._begun[order] = Writing(self._pages, self._write(order))
            self._begun.move_to_end(order)
            while len(self._begun) > MOST_KEPT_FILES:
                self._begun.popitem(last=False)
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
            if begun is None or begun.running or begun.file is not None:
                return None
            return begun.problem or Phrase("it was stopped before it finished")

    def cancel(self) -> None:
        """End what is being written, and wait for its end."""
        with self._lock:
            begun = list(self._begun.values())
        for each in begun:
            each.cancel()

    def _runs(self, order: Order) -> bool:
        return order in self._begun and self._begun[order].running

    def _file(self, order: Order) -> bytes | None:
        return self._begun[order].file if order in self._begun else None
