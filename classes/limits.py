"""Who tries too often has to wait."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_REMEMBERED = 10_000  # of those who tried last


class Limiter:
    """So many tries in so many seconds, counted for each who tries; kept in memory alone."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic):
        self.most, self.seconds, self._clock = most, seconds, clock
        self._tries: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def exhausted(self, who: str) -> bool:
        """True where all tries are used up just now."""
        with self._lock:
            return len(self._recent(who)) >= self.most

    def count(self, who: str) -> None:
        """One more try."""
        with self._lock:
            self._tries[who] = [*self._recent(who), self._clock()][-self.most :]
            self._tries.move_to_end(who)
            while len(self._tries) > MOST_REMEMBERED:
                self._tries.popitem(last=False)

    def _recent(self, who: str) -> list[float]:
        since = self._clock() - self.seconds
        return [tried for tried in self._tries.get(who, ()) if tried > since]
