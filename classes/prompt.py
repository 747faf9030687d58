"""A keeper that answers in time, or refuses: a database that is gone, slow or hanging holds nobody up for longer.

What a library promises of time limits does not reach far enough: looking up a name, connecting, and waiting for a
server that swallows what it is sent each have another one, or none. So one thread asks the database, and whoever wants
to know something waits for that thread as long as the limit says.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

from classes.keeper import LIMIT_SECONDS, UNREACHABLE, Keeper
from classes.stages import RefusedError, UnreachableError

log = logging.getLogger(__name__)
REST_SECONDS = 1.0  # after a call that took too long, nobody waits for so long; then one finds out how it is
LOG_SECONDS = 60.0  # from one line of the log to the next of its kind
TOLD_SECONDS = 30.0  # so long after a failure, the database is said to have one


class PromptKeeper:
    """All methods of the keeper that `make` makes, each answered within `seconds`: by it, or by `UnreachableError`.

    `waiting` is entered while a thread waits, and left afterwards.
    """

    def __init__(
        self,
        make: Callable[[], Keeper],
        waiting: Callable[[], AbstractContextManager] = nullcontext,
        seconds: float = LIMIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.seconds = seconds
        self._make, self._waiting, self._clock = make, waiting, clock
        self._keeper: Keeper | None = None
        self._asks = ThreadPoolExecutor(1, "classes")
        self._guard = threading.Lock()
        self._slow, self._next_try = False, 0.0
        self._failed: float | None = None  # when it did last
        self._logged: dict[object, float] = {}

    def __getattr__(self, deed: str) -> Callable:
        if not callable(getattr(Keeper, deed, None)):
            raise AttributeError(deed)
        return functools.partial(self._ask, deed)

    @property
    def outlives_process(self) -> bool:
        """False where it is known that all classes go with the process."""
        return self._keeper is None or self._keeper.outlives_process

    @property
    def problem(self) -> str | None:
        """What is wrong with the database, as those found it who asked it last."""
        failed = self._failed
        recent = failed is not None and self._clock() - failed < TOLD_SECONDS
        return "the database of the classes fails; the log says how" if recent else None

    def _ask(self, deed: str, *values: object) -> object:
        self._take_turn()
        begun = self._clock()
        try:
            with self._waiting():
                answer = self._answer(self._asks.submit(self._do, deed, values))
        except TimeoutError as error:
            self._note_failure(error, slow=True)
            raise UnreachableError(UNREACHABLE) from error
        except UnreachableError as error:
            self._note_failure(error, slow=self._clock() - begun > self.seconds / 2)
            raise
        except RefusedError:
            self._note_answer()
            raise
        self._note_answer()
        return answer

    def _answer(self, asked: Future) -> object:
        """What is answered in time; what is not is ended, or never begun."""
        try:
            return asked.result(self.seconds)
        except TimeoutError:
            if not asked.cancel() and self._keeper is not None:
                self._keeper.abort()
            raise

    def _do(self, deed: str, values: tuple[object, ...]) -> object:
        """On the one thread that asks."""
        if self._keeper is None:
            self._keeper = self._make()
        return getattr(self._keeper, deed)(*values)

    def _take_turn(self) -> None:
        """Refuse at once what would wait for a slow database, but for one call that finds out whether it still is."""
        with self._guard:
            if self._slow and self._clock() < self._next_try:
                raise UnreachableError(UNREACHABLE)
            if self._slow:
                self._next_try = self._clock() + self.seconds + REST_SECONDS

    def _note_failure(self, error: Exception, *, slow: bool) -> None:
        with self._guard:
            self._failed = self._clock()
            if slow:
                self._slow, self._next_try = True, self._failed + REST_SECONDS
        if self._may_log(type(error.__cause__ or error)):
            log.error(
                "the database of the classes fails: look at it, and at ATTENTION_LAB_CLASSES and "
                "ATTENTION_LAB_CLASSES_URL",
                exc_info=error,
            )

    def _note_answer(self) -> None:
        with self._guard:
            self._slow = False

    def _may_log(self, kind: object) -> bool:
        """True for the first failure of a kind in a while."""
        with self._guard:
            now = self._clock()
            if now - self._logged.get(kind, -LOG_SECONDS) < LOG_SECONDS:
                return False
            self._logged[kind] = now
            return True
