"""Whose turn it is: the lock of pages and the scheduler of trainings, one of each in a process."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from attention_ui.streamlit_insides import check_rerun
from models.small import is_small
from runs.page_lock import PageLock, Priority

if TYPE_CHECKING:  # what brings torch is imported where it is used: the first page does without
    from runs.scheduler import Scheduler

PICTURE_LEAST_SECONDS, PICTURE_SECONDS_EACH = 2.0, 0.4  # four times what the picture of a run that is trained costs

PICTURE_SECONDS, ALONE_SECONDS = 3.0, 10.0
PATIENCE_OF_SMALL_HOST, LEAST_OF_SMALL_HOST = 120.0, 0.25  # seconds


class FirstPage:
    """When the first page of this process was drawn: until its visitor sees it, nothing heavy is to be imported."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._begun, self._drawn = clock, clock(), None

    def drawn(self) -> None:
        """A page has been sent to its visitor."""
        self._drawn = self._drawn or self._clock()

    def is_seen(self) -> bool:
        """True some seconds after a page was drawn, and where nobody comes."""
        since, seconds = (self._begun, ALONE_SECONDS) if self._drawn is None else (self._drawn, PICTURE_SECONDS)
        return self._clock() - since > seconds


FIRST_PAGE = FirstPage()


@functools.lru_cache(maxsize=1)
def page_lock() -> PageLock:
    """The lock of this process: one page is computed at a time. Six that read beside each other, since one took long,
    would need more memory than a small host has: there it takes minutes until others go in beside it. There, each also
    stays for a while: of ten visitors who press without a pause, who reads a long text would else wait for minutes.
    """
    return PageLock(PATIENCE_OF_SMALL_HOST, least_seconds=LEAST_OF_SMALL_HOST) if is_small() else PageLock()


def turns_so_far() -> int | None:
    """How many pages have been computed; None while one is."""
    return page_lock().turns if page_lock().idle else None


@functools.lru_cache(maxsize=1)
def scheduler() -> Scheduler:
    """The one scheduler of this process, running from its first use."""
    # With torch, which the first page does without.
    from attention_ui.process.beside import turns_beside
    from runs.scheduler import Scheduler

    running = Scheduler(page_lock(), beside=turns_beside)
    running.start()
    return running


def picture_seconds() -> float:
    """How long the picture of a run that is trained should stand: it costs far more than a line on its progress."""
    return max(PICTURE_LEAST_SECONDS, PICTURE_SECONDS_EACH * len(scheduler().watched()))


def page_turn(priority: Priority = Priority.SOMEBODY_WAITS) -> AbstractContextManager[None]:
    """Around all that a page computes and draws."""
    return page_lock().page(priority)


def later_turn() -> AbstractContextManager[None]:
    """Around a page that can wait: of a class that comes in or follows its teacher, or one that takes long."""
    return page_lock().page(Priority.CAN_WAIT, check_rerun)


def redrawn_picture(*, small: bool = False) -> AbstractContextManager[None]:
    """Around what a page draws by itself again and again; what is `small` does not stand behind whole figures."""
    return page_lock().page(Priority.NOBODY_WAITS, check_rerun, early=small)


def yield_turn() -> None:
    """Where figures are drawn: a page that takes long, or that nobody waits for, lets the others go first."""
    page_lock().yield_turn(check_rerun)


def end_turn() -> None:
    """Where a page ends before its block does, and only waits from here on: the next one may begin."""
    page_lock().end_turn()


def outside_turn() -> AbstractContextManager[None]:
    """Around whatever waits for another machine: nobody else's page waits for it as well."""
    return page_lock().away(check_rerun)


def lower_priority() -> None:
    """Lower the priority of this page, which takes long: from here on nobody need wait for it."""
    page_lock().lower_priority(check_rerun)
