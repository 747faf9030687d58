"""One series of measurements for everybody at a time, made in the background, a call at a time."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from attention_core.errors import Phrase
from runs.page_lock import PageLock, Priority

log = logging.getLogger(__name__)
Measured = TypeVar("Measured")


class Measuring(Generic[Measured]):
    """Goes through what `series()` gives, in turns that let every page go first for which somebody waits.

    The results are there for all when the series is done: until then, and where it is cancelled, those of the last one
    stay. It ends with what it has when it has taken `most_seconds`.
    """

    def __init__(
        self,
        pages: PageLock,
        series: Callable[[], Iterator[Measured | None]],
        *,
        most_seconds: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.most_seconds = most_seconds
        self.results: tuple[Measured, ...] = ()
        self.problem: Phrase | None = None
        self.done = 0  # of the series that is running
        self._pages, self._series, self._clock = pages, series, clock
        self._lock, self._cancelled = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """True while a series is measured."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin a series; nothing while one is running."""
        with self._lock:
            if not self.running:
                self._cancelled.clear()
                self.done, self.problem = 0, None
                self._thread = threading.Thread(target=self._work, name="measuring", daemon=True)
                self._thread.start()

    def cancel(self, *, wait: bool = False) -> None:
        """End the series that is running, after its present call; what was measured before stays."""
        self._cancelled.set()
        if wait and self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        results, begin = [], self._clock()
        try:
            steps = self._series()
            while self._clock() - begin < self.most_seconds:
                with self._pages.page(Priority.NOBODY_WAITS):
                    if self._cancelled.is_set():
                        return
                    measured = next(steps, self)
                if measured is self:
                    break
                if measured is not None:
                    results.append(measured)
                    self.done = len(results)
        except Exception as error:
            log.exception("a measurement failed")
            self.problem = Phrase("it ended with {kind}", kind=type(error).__name__)
            return
        self.results = tuple(results)
