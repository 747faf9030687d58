"""Who computes next, where many want to and only one can.

Python computes in one thread at a time. Where fifty threads try together, each is thrown out again and again before
it is done, all finish late, and the throwing out itself takes time: one after the other is quicker for all.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum


class Hurry(IntEnum):
    """What a thread wants its turn for. Those who want little go first: so the fewest wait, and not for long."""

    CAN_WAIT = 0  # nobody has pressed anything
    TAKES_LONG = 1  # somebody has, and knows that it is much
    QUICK = 2


@dataclass
class Visit:
    """One thread's turn, from asking for it until its end."""

    hurry: Hurry
    inside: bool = False


class Turns:
    """Lets one thread in at a time: those in more of a hurry first, else in the order in which they came.

    One turn in four goes to a thread in the least hurry. A thread that is not let in within `patience_seconds` goes
    in beside the one that stays so long. Who is inside calls `let_pass` now and then, for those in more of a hurry.
    """

    EVERY = 4
    LOOK_UP_SECONDS = 0.1

    def __init__(self, patience_seconds: float = 10.0):
        self.patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._inside = 0
        self._given = 0
        self._queues: tuple[deque[threading.Event], ...] = tuple(deque() for _ in Hurry)
        self._here = threading.local()

    @contextmanager
    def turn(self, hurry: Hurry = Hurry.QUICK, *, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Wait for a turn, and keep it until the block ends.

        `meanwhile` is called now and then while one waits; where it raises, one waits no more.
        """
        visit, before = Visit(hurry), getattr(self._here, "visit", None)
        self._enter(visit, self._line_up(visit), meanwhile)
        self._here.visit = visit
        try:
            yield
        finally:
            self._here.visit = before
            if visit.inside:
                self._leave()

    def let_pass(self, hurry: Hurry | None = None, *, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Inside a turn: let those in more of a hurry go first, then go on before others in the same hurry.

        A `hurry` is that of this turn from now on. `meanwhile` as for `turn`: where it raises, the turn is over.
        """
        if not self.inside:
            return
        visit: Visit = self._here.visit
        visit.hurry = visit.hurry if hurry is None else hurry
        with self._lock:
            if not any(self._queues[visit.hurry + 1 :]):
                return
            called = threading.Event()
            self._queues[visit.hurry].appendleft(called)
        visit.inside = False
        self._leave()
        self._enter(visit, called, meanwhile)

    @property
    def inside(self) -> bool:
        """True on a thread that has its turn now."""
        visit: Visit | None = getattr(self._here, "visit", None)
        return visit is not None and visit.inside

    @property
    def waiting(self) -> int:
        """How many threads stand outside."""
        return sum(map(len, self._queues))

    def _line_up(self, visit: Visit) -> threading.Event:
        called = threading.Event()
        with self._lock:
            if self._inside:
                self._queues[visit.hurry].append(called)
            else:
                self._inside = 1
                called.set()
        return called

    def _enter(self, visit: Visit, called: threading.Event, meanwhile: Callable[[], object]) -> None:
        try:
            self._wait(called, meanwhile)
        except BaseException:
            self._step_out(visit, called)
            raise
        with self._lock:
            if not called.is_set():
                self._queues[visit.hurry].remove(called)
                self._inside += 1
        visit.inside = True

    def _wait(self, called: threading.Event, meanwhile: Callable[[], object]) -> None:
        for _ in range(math.ceil(self.patience_seconds / self.LOOK_UP_SECONDS)):
            if called.wait(self.LOOK_UP_SECONDS):
                return
            meanwhile()

    def _step_out(self, visit: Visit, called: threading.Event) -> None:
        with self._lock:
            if not called.is_set():
                self._queues[visit.hurry].remove(called)
                return
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            self._given += 1
            waiting = [queue for queue in self._queues if queue]
            if waiting:
                queue = waiting[0] if self._given % self.EVERY == 0 else waiting[-1]
                queue.popleft().set()
                self._inside = 1
