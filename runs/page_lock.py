"""Which page is computed next, where many want to and only one can.

Python computes in one thread at a time. Where fifty threads try together, each is thrown out again and again before
it is done, and all finish late: one after the other is quicker for all. The thread that trains for everybody takes its
turns here, too: NumPy lets go of the interpreter in each of its hundred operations a step, and beside a page that
computes it would wait for it again each time.
"""

import bisect
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NamedTuple


class Priority(IntEnum):
    """What a page wants its turn for; the first goes first."""

    SOMEBODY_WAITS = 0  # a visitor pressed something and waits for the answer
    CAN_WAIT = 1  # a class comes in or follows, thirty pages at once; or an answer that takes long
    NOBODY_WAITS = 2  # a picture that moves by itself, or the training


class Visit(threading.local):
    """The turn of this thread, while it has one: its priority, when it first came, and since when it is inside."""

    priority: Priority | None = None
    came = 0.0
    since = 0.0


class Waiting(NamedTuple):
    """Who stands outside: when the page first came, in which order, and what calls it in."""

    came: float
    number: int
    called: threading.Event


class PageLock:
    """Lets one thread at a time compute a page: in the order of their priorities, and then of their coming. Who has let
    others go first goes on before whoever came later: ten pages that take long, each a bit at a time, would all be
    late.

    Of the turns for which several priorities wait, each has one of so many as EVERY says at least: all come to their
    end. Whoever is let in stays for `least_seconds`. Where one stays inside for `patience_seconds`, those who wait go
    in beside it; a line that is long, but moves, is no reason: all would only be slower.
    """

    EVERY = (1, 4, 16)  # by priority
    CHECK_SECONDS = 0.1

    def __init__(
        self,
        patience_seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        least_seconds: float = 0.0,
    ):
        self.patience_seconds = patience_seconds
        self.least_seconds = least_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._lines: list[list[Waiting]] = [[] for _ in Priority]  # each in order
        self._numbers = itertools.count()
        self._inside = 0
        self._wanted = 0  # turns for which several priorities waited
        self.turns = 0  # that have ended, with nobody left inside: the line has moved
        self._here = Visit()

    @contextmanager
    def page(
        self,
        priority: Priority = Priority.SOMEBODY_WAITS,
        check: Callable[[], object] = lambda: None,
        early: bool = False,
    ) -> Iterator[None]:
        """Wait for a turn, and keep it until the block ends. A page inside a page is part of it.

        `check` is called now and then while one waits; where it raises, one waits no more. Who takes short turns only
        may go in `early`, as if it had come before all others.
        """
        if self.has_turn:
            yield
            return
        self._here.priority, self._here.came = priority, -math.inf if early else self._clock()
        try:
            self._enter(check)
            yield
        finally:
            self.end_turn()

    def end_turn(self) -> None:
        """Let the next page in, also before the block of this one ends."""
        if self.has_turn:
            self._leave()
            self._here.priority = None

    def yield_turn(self, check: Callable[[], object] = lambda: None) -> None:
        """Let pages go first that have a higher priority, once this one has been inside for the least time."""
        if self._here.priority is None or not any(self._lines[: self._here.priority]):
            return
        if self._clock() - self._here.since >= self.least_seconds:
            self._leave()
            self._enter(check)

    def lower_priority(self, check: Callable[[], object] = lambda: None) -> None:
        """From here on a page that somebody waits for counts as one that can wait, and lets the others go first."""
        if self._here.priority is Priority.SOMEBODY_WAITS:
            self._here.priority = Priority.CAN_WAIT
            self.yield_turn(check)

    @contextmanager
    def away(self, check: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Let others in while this thread waits for something else; afterwards it has a turn again, if it had one."""
        priority, came = self._here.priority, self._here.came
        if priority is None:
            yield
            return
        self.end_turn()
        try:
            yield
        finally:
            self._here.priority, self._here.came = priority, came
            self._enter(check)

    @property
    def has_turn(self) -> bool:
        """True while this thread is inside."""
        return self._here.priority is not None

    @property
    def idle(self) -> bool:
        """True while nobody is inside."""
        return self._inside == 0

    @property
    def waiting(self) -> int:
        """How many threads stand outside."""
        return sum(map(len, self._lines))

    def _enter(self, check: Callable[[], object]) -> None:
        """Afterwards this thread is inside, even where `check` raised."""
        assert self._here.priority is not None
        line = self._lines[self._here.priority]
        me = Waiting(self._here.came, next(self._numbers), threading.Event())
        with self._lock:
            if self._inside == 0:
                self._inside, self._here.since = 1, self._clock()
                return
            bisect.insort(line, me)
        try:
            turns, checks = self.turns, 0
            while checks < math.ceil(self.patience_seconds / self.CHECK_SECONDS):
                if me.called.wait(self.CHECK_SECONDS):
                    return
                check()
                turns, checks = self.turns, checks + 1 if self.turns == turns else 0
        finally:
            self._here.since = self._clock()
            with self._lock:
                if me in line:
                    line.remove(me)
                    self._inside += 1

    def _leave(self) -> None:
        """Let the next page in."""
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            self.turns += 1
            waiting = [priority for priority in Priority if self._lines[priority]]
            self._wanted += len(waiting) > 1
            due = [priority for priority in waiting if self._wanted % self.EVERY[priority] == 0]
            if waiting:
                self._lines[max(due, default=waiting[0])].pop(0).called.set()
                self._inside = 1
