"""Students' pages are drawn anew when their teacher has done something, and only then.

No page asks by itself. A fragment that asks every two seconds costs the process 4 ms each time, most of them
Streamlit's, and a reader on a lesson feels a hundred students who wait. So one task asks the database once a second,
for all who look at a class in this process.
"""

import asyncio
import time
from dataclasses import dataclass

from attention_ui.streamlit_insides import rerun_session, running_session, session_is_open
from attention_ui.voting.rooms import class_keeper
from classes.stages import RefusedError, Room

ASK_SECONDS = 1.0
APART_SECONDS = 0.01  # between two pages that are drawn anew: others come between
GONE_SECONDS = 300.0  # a visit that is away for so long is gone; until then it may come back


@dataclass
class Watched:
    """What somebody looks at, and when the visit was last there."""

    code: str
    revision: int
    seen: float


WATCHED: dict[str, Watched] = {}  # by visit


def watch(room: Room) -> None:
    """The page that is being drawn looks at this class as it is now."""
    session = running_session()
    if session is not None:
        WATCHED[session] = Watched(room.code, room.revision, time.monotonic())


def look_at_all() -> list[str]:
    """The visits whose class has changed since their page was drawn: one small query for each class."""
    watched = dict(WATCHED)
    now = {code: class_keeper().revision(code) for code in {one.code for one in watched.values()}}
    return [session for session, one in watched.items() if now[one.code] != one.revision]


def forget_who_left(now: float) -> None:
    """Keep those who are there, and for some minutes those who may come back."""
    for session, one in list(WATCHED.items()):
        if session_is_open(session):
            one.seen = now
        elif now - one.seen > GONE_SECONDS:
            WATCHED.pop(session, None)


async def keep_watching() -> None:
    """On the server's own loop, as long as it runs."""
    while True:
        await asyncio.sleep(ASK_SECONDS)
        forget_who_left(time.monotonic())
        try:
            changed = await asyncio.to_thread(look_at_all) if WATCHED else []
        except RefusedError:  # the database is away: the pages stay as they are
            continue
        for session in changed:
            if session_is_open(session):
                WATCHED.pop(session, None)  # its page will say what it looks at by then
                rerun_session(session)
                await asyncio.sleep(APART_SECONDS)
