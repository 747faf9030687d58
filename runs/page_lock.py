"""Which page is computed next, where many want to and only one can.

Python computes in one thread at a time. Where fifty threads try together, each is thrown out again and again before
it is done, and all finish late: one after the other is quicker for all. The thread that trains for everybody takes its
turns here, too: NumPy lets go of the interpreter in each of its hundred operations a step, and beside a page that
computes it would wait for it again each time.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum


class Priority(Enum):
    """What a page wants its turn for; the first goes first."""

    SOMEBODY_WAITS = "a visitor pressed something and waits for the answer"
    NOBODY_WAITS = "a picture that moves by itself, a page that takes long, or the training"


class PlaceInLine(threading.local):
    """The turn of this thread, while it has one, and the moment since when it is inside."""

    priority: Priority | None = None
    since = 0.0


class Line:
    """Those who wait with one priority: first who goes in early, since it comes back or takes short turns; of each kind
    in the order of coming.
    """

    def __init__(self):
        self._early: deque[threading.Event] = deque()
        self._usual: deque[threading.Event] = deque()

    def __len__(self) -> int:
        return len(self._early) + len(self._usual)

    def add(self, called: threading.Event, early: bool) -> None:
        """Stand behind those like oneself."""
        (self._early if early else self._usual).append(called)

    def take(self) -> threading.Event:
        """The next."""
        return (self._early or self._usual).popleft()

    def remove(self, called: threading.Event) -> bool:
        """Go away; False for who has been called already."""
        for part in (self._early, self._usual):
            if called in part:
                part.remove(called)
                return True
        return False


class PageLock:
    """Lets one thread at a time compute a page: in the order in which they came, those that somebody waits for first.

    While both want in, pages that nobody waits for get one part in SHARE of the time, OWED_SECONDS of it at once:
    however often they offer to let the others go first, they come to their end. Where one stays inside for
    `patience_seconds`, those who wait go in beside it; a line that is long, but moves, is no reason: all would only be
    slower.
    """

    SHARE = 6
    OWED_SECONDS, MOST_OWED = 0.02, 0.25  # what goes beyond the most is forgotten
    CHECK_SECONDS = 0.1

    def __init__(self, patience_seconds: float = 10.0, clock: Callable[[], float] = time.monotonic):
        self.patience_seconds = patience_seconds
        self._clock = clock
        self._owed = 0.0  # seconds, to those that nobody waits for
        self._lock = threading.Lock()
        self._lines = {priority: Line() for priority in Priority}
        self._inside = 0
        self.turns = 0  # that have ended, with nobody left inside: the line has moved
        self._here = PlaceInLine()

    @contextmanager
    def page(
        self,
        priority: Priority = Priority.SOMEBODY_WAITS,
        check: Callable[[], object] = lambda: None,
        early: bool = False,
    ) -> Iterator[None]:
        """Wait for a turn, and keep it until the block ends. A page inside a page is part of it.

        `check` is called now and then while one waits; where it raises, one waits no more. Who takes short turns only
        may go in `early`, with those that come back.
        """
        if self._here.priority is not None:
            yield
            return
        self._here.priority = priority
        try:
            self._enter(check, early)
            yield
        finally:
            self._leave()
            self._here.priority = None

    def yield_turn(self, check: Callable[[], object] = lambda: None) -> None:
        """Let pages go first for which somebody waits, where this is a page that nobody waits for; else nothing."""
        if self.must_yield:
            self._leave()
            self._enter(check, early=True)

    def lower_priority(self, check: Callable[[], object] = lambda: None) -> None:
        """From here on this page counts as one that nobody waits for, and lets the others go first."""
        if self._here.priority is not None:
            with self._lock:
                self._count_time()
            self._here.priority = Priority.NOBODY_WAITS
            self.yield_turn(check)

    @contextmanager
    def away(self, check: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Let others in while this thread waits for something else; afterwards it has a turn again, if it had one."""
        priority = self._here.priority
        if priority is None:
            yield
            return
        self._leave()
        self._here.priority = None
        try:
            yield
        finally:
            self._here.priority = priority
            self._enter(check, early=True)

    @property
    def must_yield(self) -> bool:
        """True where somebody waits, and nobody for this page, which has had its share; the training is one, too."""
        if self._here.priority is not Priority.NOBODY_WAITS:
            return False
        with self._lock:
            self._count_time()
            return self.somebody_waits and self._owed <= 0

    @property
    def idle(self) -> bool:
        """True while nobody is inside."""
        return self._inside == 0

    @property
    def somebody_waits(self) -> bool:
        """True while a page stands outside for which somebody waits."""
        return bool(self._lines[Priority.SOMEBODY_WAITS])

    @property
    def waiting(self) -> int:
        """How many threads stand outside."""
        return sum(map(len, self._lines.values()))

    def _enter(self, check: Callable[[], object], early: bool = False) -> None:
        """Afterwards this thread is inside, even where `check` raised."""
        assert self._here.priority is not None
        called, line = threading.Event(), self._lines[self._here.priority]
        with self._lock:
            if self._inside == 0:
                self._inside = 1
                self._here.since = self._clock()
                return
            line.add(called, early)
        try:
            turns, checks = self.turns, 0
            while checks < math.ceil(self.patience_seconds / self.CHECK_SECONDS):
                if called.wait(self.CHECK_SECONDS):
                    return
                check()
                turns, checks = self.turns, checks + 1 if self.turns == turns else 0
        finally:
            self._here.since = self._clock()
            with self._lock:
                if line.remove(called):
                    self._inside += 1

    def _leave(self) -> None:
        """Let the next page in."""
        first, later = (self._lines[one] for one in Priority)
        with self._lock:
            self._inside -= 1
            self._count_time()
            if self._inside:
                return
            self.turns += 1
            if line := later if later and (self._owed >= self.OWED_SECONDS or not first) else first:
                line.take().set()
                self._inside = 1

    def _count_time(self) -> None:
        """What this thread has had since the last count, where others wanted it too, is owed or has been paid."""
        first, later = (self._lines[one] for one in Priority)
        now = self._clock()
        seconds, self._here.since = now - self._here.since, now
        if self._here.priority is Priority.NOBODY_WAITS:
            self._owed -= seconds * (1 - 1 / self.SHARE) * bool(first)
        else:
            self._owed += seconds / self.SHARE * bool(later)
        self._owed = min(max(self._owed, -self.MOST_OWED), self.MOST_OWED)
