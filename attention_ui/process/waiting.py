"""Pages that wait for what is computed beside them look again: when, and in which order, is said here alone.

A browser that asks by itself costs the server a run of its page each time, whether the server has time for it or not:
the pages of a class that trains took longer than the training that they told of. So no page asks. One task draws them
anew, one after the other, those first that have stood longest; and it leaves the process most of its time.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from attention_ui.streamlit_insides import (
    is_being_drawn,
    rerun_part,
    running_part,
    running_session,
    session_is_open,
)

log = logging.getLogger(__name__)
LEAST_SECONDS, MOST_SECONDS = 0.5, 10.0  # that a part of a page stands; after the most, one looks in any case
PART_OF_TIME, LONGEST_PAUSE = 1 / 2, 0.2  # what all parts take of the server's time; seconds after a whole page
LOOK_SECONDS, NAP_SECONDS = 0.05, 0.003  # how often one looks who waits, and whether a run has ended
LONGEST_SECONDS = 0.5  # a part that takes longer holds up no other
GONE_SECONDS = 60.0  # a visit that is away for so long is gone; one that comes back has its whole page drawn


class Waiting(NamedTuple):
    """A part of a page that waits: since when it stands, until when, and whether there is something new."""

    since: float
    until: float
    is_new: Callable[[], bool]


WAITING: dict[tuple[str, str], Waiting] = {}  # by visit, and part of its page


def look_again_when(is_new: Callable[[], bool], seconds: float = LEAST_SECONDS) -> None:
    """Draw the part of the page that is being drawn anew once there `is_new` something, after so many seconds."""
    part, session, now = running_part(), running_session(), time.monotonic()
    if part is not None and session is not None:
        WAITING[session, part] = Waiting(now, now + seconds, is_new)


async def keep_drawing() -> None:
    """On the server's own loop, as long as it runs, whatever fails meanwhile."""
    while True:
        began = time.monotonic()
        try:
            waiting = next_to_draw(began)
            if waiting is None:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            session, part = waiting
            del WAITING[waiting]  # it waits again when it is drawn
            rerun_part(session, part)
            while is_being_drawn(session) and time.monotonic() - began < LONGEST_SECONDS:
                await asyncio.sleep(NAP_SECONDS)
        except Exception:
            log.exception("a page that waits could not be drawn just now")
        await asyncio.sleep(min((time.monotonic() - began) * (1 / PART_OF_TIME - 1), LONGEST_PAUSE))


def next_to_draw(now: float) -> tuple[str, str] | None:
    """The visit and the part that has stood longest, of those that are there, have something new and are not drawn."""
    for (session, part), waiting in sorted(WAITING.items(), key=lambda one: one[1].since):
        stands = now - waiting.since
        if not session_is_open(session):
            if stands > GONE_SECONDS:
                WAITING.pop((session, part), None)
            continue
        is_due = now >= waiting.until and (stands > MOST_SECONDS or waiting.is_new())
        if is_due and not is_being_drawn(session):
            return session, part
    return None
