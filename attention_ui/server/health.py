"""/healthz: can this process compute? Streamlit's own check only says that it answers."""

import logging
import time
from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse

log = logging.getLogger(__name__)
KEPT_SECONDS = 1.0


class Health:
    """What is wrong with the process, looked up at most once a second however often it is asked.

    `checks` and `faults` return None or a sentence without anything of visitors in it. Checks run once `ready` was
    called; without them the process is of no use. A fault is told, and the process goes on beside it.
    """

    def __init__(
        self,
        *checks: Callable[[], str | None],
        faults: Sequence[Callable[[], str | None]] = (),
        clock: Callable[[], float] = time.monotonic,
    ):
        self.checks, self.faults = checks, faults
        self._clock = clock
        self._start_problem: str | None = "the process is getting ready"
        self._kept: tuple[float, str | None] | None = None

    def watch(self, check: Callable[[], str | None]) -> None:
        """One more check from now on: of what has come later."""
        self.checks = (*self.checks, check)

    def ready(self) -> None:
        """The process has started: from now on the checks decide."""
        self._start_problem = None

    def failed_to_start(self) -> None:
        """The process will never be ready."""
        self._start_problem = "the process could not get ready; its log says where it failed"

    def problem(self) -> str | None:
        """A sentence, or None when all is well."""
        if self._start_problem is not None:
            return self._start_problem
        now = self._clock()
        if self._kept is None or now - self._kept[0] >= KEPT_SECONDS:
            before = None if self._kept is None else self._kept[1]
            problem = next(filter(None, map(passed, self.checks)), None)
            self._kept = (now, problem)
            if problem is not None and before is None:
                log.error("the process is not healthy; /healthz says why")
        return self._kept[1]

    async def answer(self, request: Request) -> JSONResponse:
        """200 when the process can compute, also beside a fault, else 503; both with the reason."""
        problem = self.problem()
        fault = next(filter(None, map(passed, self.faults)), None)
        body = {"status": "ok"} if fault is None else {"status": "degraded", "reason": fault}
        if problem is not None:
            body = {"status": "failing", "reason": problem}
        return JSONResponse(body, 200 if problem is None else 503, {"Cache-Control": "no-store"})


def passed(check: Callable[[], str | None]) -> str | None:
    """What the check says; a check that raises has not passed."""
    try:
        return check()
    except Exception as error:
        log.exception("a check of the process's health failed")
        return f"a check ended with {type(error).__name__}"


def computes() -> str | None:
    """One query, two keys whose scores are 0 and ln 3: weights ¼ and ¾, so the values 4 and 8 mix to 7."""
    import numpy as np

    # A server answers before either is imported.
    from attention_core.one_head.attention import attend

    key = np.log(np.array([[1.0], [3.0]]))
    mixed = attend(np.ones((1, 1)), key, np.array([[4.0], [8.0]])).output.item()
    return None if abs(mixed - 7.0) < 1e-5 else f"attention over two keys gave {mixed:g}, not 7"


def training_thread_lives() -> str | None:
    """The one thread that trains for everybody; when it is gone, every training stands still."""
    from attention_ui.process.turns import scheduler  # there is none before the first page is seen

    return None if scheduler().alive else "the training thread has ended"


def classes_are_reached() -> str | None:
    """The database of the classes, as those found it who asked it last; lessons do without it."""
    from attention_ui.classroom.vote.database import database_problem  # a server answers before it is imported

    return database_problem()
