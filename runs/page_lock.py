"""Which page is computed next, where many want to and only one can.

Python computes in one thread at a time. Where fifty threads try together, each is thrown out again and again before
it is done, and all finish late: one after the other is quicker for all. The thread that trains for everybody takes its
turns here, too: NumPy lets go of the interpreter in each of its hundred operations a step, and beside a page that
computes it would wait for it again each time.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum


class Priority(Enum):
    """What a page wants its turn for; the first goes first."""

    SOMEBODY_WAITS = "a visitor pressed something and waits for the answer"
    NOBODY_WAITS = "a picture that moves by itself, a page that takes long, or the training"


class PlaceInLine(threading.local):
    """The turn of this thread, while it has one."""

    priority: Priority | None = None


class PageLock:
    """Lets one thread at a time compute a page: in the order in which they came, those that somebody waits for first.

    One turn in EVERY goes to a page that nobody waits for. Where one stays inside for `patience_seconds`, those who
    wait go in beside it; a line that is long, but moves, is no reason: all would only be slower.
    """

    EVERY = 20
    CHECK_SECONDS = 0.1

    def __init__(self, patience_seconds: float = 10.0):
        self.patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._queues: dict[Priority, deque[threading.Event]] = {priority: deque() for priority in Priority}
        self._inside = 0
        self.turns = 0  # that have ended
        self._here = PlaceInLine()

    @contextmanager
    def page(
        self,
        priority: Priority = Priority.SOMEBODY_WAITS,
        check: Callable[[], object] = lambda: None,
        in_front: bool = False,
    ) -> Iterator[None]:
        """Wait for a turn, and keep it until the block ends. A page inside a page is part of it.

        `check` is called now and then while one waits; where it raises, one waits no more. `in_front` of those of its
        priority may stand who takes short turns only.
        """
        if self._here.priority is not None:
            yield
            return
        self._here.priority = priority
        try:
            self._enter(check, in_front)
            yield
        finally:
            self._here.priority = None
            self._leave()

    def yield_turn(self, check: Callable[[], object] = lambda: None) -> None:
        """Let pages go first for which somebody waits, where this is a page that nobody waits for; else nothing."""
        if self._here.priority is Priority.NOBODY_WAITS and self.somebody_waits:
            self._leave()
            self._enter(check, in_front=True)

    def lower_priority(self, check: Callable[[], object] = lambda: None) -> None:
        """From here on this page counts as one that nobody waits for, and lets the others go first."""
        if self._here.priority is not None:
            self._here.priority = Priority.NOBODY_WAITS
            self.yield_turn(check)

    @contextmanager
    def away(self, check: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Let others in while this thread waits for something else; afterwards it has a turn again, if it had one."""
        priority = self._here.priority
        if priority is None:
            yield
            return
        self._here.priority = None
        self._leave()
        try:
            yield
        finally:
            self._here.priority = priority
            self._enter(check, in_front=True)

    @property
    def idle(self) -> bool:
        """True while nobody is inside."""
        return self._inside == 0

    @property
    def somebody_waits(self) -> bool:
        """True while a page stands outside for which somebody waits."""
        return bool(self._queues[Priority.SOMEBODY_WAITS])

    @property
    def waiting(self) -> int:
        """How many threads stand outside."""
        return sum(map(len, self._queues.values()))

    def _enter(self, check: Callable[[], object], in_front: bool = False) -> None:
        """Afterwards this thread is inside, even where `check` raised."""
        assert self._here.priority is not None
        called, queue = threading.Event(), self._queues[self._here.priority]
        with self._lock:
            if self._inside == 0:
                self._inside = 1
                return
            queue.appendleft(called) if in_front else queue.append(called)
        try:
            turns, checks = self.turns, 0
            while checks < math.ceil(self.patience_seconds / self.CHECK_SECONDS):
                if called.wait(self.CHECK_SECONDS):
                    return
                check()
                turns, checks = self.turns, checks + 1 if self.turns == turns else 0
        finally:
            with self._lock:
                if called in queue:
                    queue.remove(called)
                    self._inside += 1

    def _leave(self) -> None:
        """Let the next page in."""
        with self._lock:
            self._inside -= 1
            self.turns += 1
            if self._inside:
                return
            waiting = [queue for queue in self._queues.values() if queue]
            if waiting:
                queue = waiting[-1 if self.turns % self.EVERY == 0 else 0]
                queue.popleft().set()
                self._inside = 1
