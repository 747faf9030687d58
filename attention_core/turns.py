"""Who computes next, where many want to and only one can.

Python computes in one thread at a time. Where fifty threads try together, each is thrown out again and again before
it is done, all finish late, and the throwing out itself takes time: one after the other is quicker for all.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """Lets one thread in at a time, in the order in which they came; those that can wait let the others pass.

    One turn in four goes to a thread that can wait, if there is one. A thread that is not let in within
    `patience_seconds` goes in beside the one that stays so long.
    """

    EVERY = 4
    LOOK_UP_SECONDS = 0.1

    def __init__(self, patience_seconds: float = 10.0):
        self.patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._inside = 0
        self._given = 0
        self._urgent: deque[threading.Event] = deque()
        self._patient: deque[threading.Event] = deque()

    @contextmanager
    def turn(self, *, can_wait: bool = False, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Wait for a turn, and keep it until the block ends.

        `meanwhile` is called now and then while one waits; where it raises, one waits no more.
        """
        queue = self._patient if can_wait else self._urgent
        called = self._line_up(queue)
        try:
            self._wait(called, meanwhile)
        except BaseException:
            self._step_out(queue, called)
            raise
        self._go_in(queue, called)
        try:
            yield
        finally:
            self._leave()

    @property
    def waiting(self) -> int:
        """How many threads stand outside."""
        return len(self._urgent) + len(self._patient)

    def _line_up(self, queue: deque[threading.Event]) -> threading.Event:
        called = threading.Event()
        with self._lock:
            if self._inside:
                queue.append(called)
            else:
                self._inside = 1
                called.set()
        return called

    def _wait(self, called: threading.Event, meanwhile: Callable[[], object]) -> None:
        for _ in range(math.ceil(self.patience_seconds / self.LOOK_UP_SECONDS)):
            if called.wait(self.LOOK_UP_SECONDS):
                return
            meanwhile()

    def _step_out(self, queue: deque[threading.Event], called: threading.Event) -> None:
        with self._lock:
            if not called.is_set():
                queue.remove(called)
                return
        self._leave()

    def _go_in(self, queue: deque[threading.Event], called: threading.Event) -> None:
        with self._lock:
            if not called.is_set():
                queue.remove(called)
                self._inside += 1

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            self._given += 1
            patient_is_next = not self._urgent or (self._given % self.EVERY == 0 and self._patient)
            queue = self._patient if patient_is_next else self._urgent
            if queue:
                queue.popleft().set()
                self._inside = 1
