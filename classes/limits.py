"""What one address may do. Nothing here is a limit of all together, which one stranger could use up for everybody.

Each process counts for itself, in memory: behind a proxy with three replicas, an address may do three times as much.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_REMEMBERED = 10_000  # of those who came last
FIRST_SECONDS, MOST_SECONDS, FORGIVEN_SECONDS = 0.2, 5.0, 10.0
MOST_STRIKES = 1 + math.ceil(math.log2(MOST_SECONDS / FIRST_SECONDS))  # more of them would change nothing


class Remembered(OrderedDict):
    """What is known of each who came; where there are too many, whoever came first is forgotten."""

    def keep(self, who: str, what: object) -> None:
        """Remember something about this visitor, and forget the oldest where there are too many."""
        self[who] = what
        self.move_to_end(who)
        while len(self) > MOST_REMEMBERED:
            self.popitem(last=False)


class Delays:
    """Who guesses wrong waits for the next answer: at first 0.2 s, twice as long each time, at most 5 s.

    Nobody is refused, and one wrong code is forgiven every ten seconds. A right code waits as well, or its haste would
    tell that it is right.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, threading.Lock()
        self._known: Remembered = Remembered()  # the strikes, and when the last one was counted

    def seconds(self, who: str) -> float:
        """How long the next answer takes."""
        with self._lock:
            strikes = math.ceil(self._strikes(who))
        return min(MOST_SECONDS, FIRST_SECONDS * 2 ** (strikes - 1)) if strikes else 0.0

    def wrong(self, who: str) -> None:
        """Count one more wrong guess."""
        with self._lock:
            self._known.keep(who, (min(MOST_STRIKES, self._strikes(who) + 1), self._clock()))

    def _strikes(self, who: str) -> float:
        strikes, counted = self._known.get(who, (0, 0.0))
        return max(0.0, strikes - (self._clock() - counted) / FORGIVEN_SECONDS)


class Limiter:
    """Allows so many actions in so many seconds."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic):
        self.most, self.seconds = most, seconds
        self._clock, self._lock = clock, threading.Lock()
        self._known: Remembered = Remembered()  # the times of the last ones

    def take(self, who: str) -> bool:
        """Count one more; False where that would be too many, and then it is not counted."""
        with self._lock:
            now = self._clock()
            recent = [taken for taken in self._known.get(who, ()) if taken > now - self.seconds]
            if len(recent) >= self.most:
                return False
            self._known.keep(who, [*recent, now])
            return True


class Held:
    """What each visitor holds at present."""

    def __init__(self):
        self._lock = threading.Lock()
        self._known: Remembered = Remembered()

    def count(self, who: str, still: Callable[[str], bool]) -> int:
        """How many things somebody holds; those that are no more are forgotten."""
        over = {thing for thing in self._known.get(who, ()) if not still(thing)}
        with self._lock:
            left = [thing for thing in self._known.get(who, ()) if thing not in over]
            self._known.keep(who, left)
        return len(left)

    def add(self, who: str, thing: str) -> None:
        """Note one more thing that this visitor holds."""
        with self._lock:
            self._known.keep(who, [*self._known.get(who, ()), thing])
