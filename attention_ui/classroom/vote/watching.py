"""Pages of a class are drawn anew when its teacher has done something, or the database is back, and only then.

No page asks by itself. A fragment that asks every two seconds costs the process 4 ms each time, most of them
Streamlit's, and a reader on a lesson feels a hundred students who wait. So one task asks the database once a second,
for all who look at a class in this process.
"""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from attention_ui.classroom.vote.database import class_keeper, has_classes
from attention_ui.streamlit_insides import is_being_drawn, rerun_session, running_session, session_is_open
from classes.stages import Room, UnreachableError

log = logging.getLogger(__name__)
ASK_SECONDS = 1.0
ASK_IDLE = 10  # while nobody looks at a class, one second in so many finds out whether the database is there
AT_ONCE = 2  # pages that are drawn anew at the same time: whoever moves a slider meanwhile comes between
LONGEST_SECONDS, NAP_SECONDS = 0.5, 0.003  # a page that takes longer holds up no other; how often one looks for it
GONE_SECONDS = 300.0  # a visit that is away for so long is gone; until then it may come back


@dataclass
class Watched:
    """What somebody looks at, who that is in the class, and when the visit was last there.

    `revision` is that of the class when the page was drawn. Whoever `leads` the class has its key. A page that may not
    show how things are is `doubted`, and drawn anew as soon as the database answers.
    """

    code: str
    token: str
    seen: float
    revision: int | None = None
    doubted: bool = False
    leads: bool = False


class Known(NamedTuple):
    """What is known of a class: its revision, the link that its students follow, when its timer ends, its step, and the
    revision at which its plan was brought.
    """

    revision: int
    link: str
    timer: float
    place: int
    brought: int

    @property
    def seconds(self) -> int:
        """How long the timer still runs."""
        return max(0, round(self.timer - time.monotonic()))


WATCHED: dict[str, Watched] = {}  # by visit
KNOWN: dict[str, Known] = {}  # by code, as of the last look: pages that follow ask nobody
SENT_FOR: set[str] = set()  # visits whose page is to be drawn anew though nobody has pressed anything there
WAKE: list[Callable[[], None]] = []  # what makes the task look at once, on a server that runs


def watch(code: str, token: str, *, leads: bool = False) -> Watched:
    """The page that is being drawn looks at this class; it is told the revision when that is known."""
    WATCHED[running_session() or ""] = watched = Watched(code, token, time.monotonic(), leads=leads)
    return watched


def unwatch() -> None:
    """The page that is being drawn looks at no class."""
    WATCHED.pop(running_session() or "", None)


def nobody_waits() -> bool:
    """True where the page that is being drawn follows its class, once: its visitor has pressed nothing."""
    here = running_session()
    if here not in SENT_FOR:
        return False
    SENT_FOR.discard(here)
    return True


def doubt() -> None:
    """The page that is being drawn may not show how things are: it is drawn anew when the database answers."""
    if here := WATCHED.get(running_session() or ""):
        here.doubted = True


def in_doubt() -> bool:
    """True where the page that is being drawn may not show how things are."""
    here = WATCHED.get(running_session() or "")
    return here is not None and here.doubted


def doubt_other_tabs() -> None:
    """Whoever is being answered has voted: other tabs of the same browser still show what was chosen before."""
    here = WATCHED.get(running_session() or "")
    for other in list(WATCHED.values()) if here else ():
        if other is not here and (other.code, other.token) == (here.code, here.token):
            other.doubted = True


def know(code: str, revision: int, link: str, seconds: float, place: int, brought: int) -> Known:
    """Keep what was just heard of a class."""
    KNOWN[code] = known = Known(revision, link, time.monotonic() + seconds, place, brought)
    return known


def know_room(room: Room) -> Known:
    """Keep what is known of a class that has just been looked at."""
    return know(room.code, room.revision, room.link, room.seconds, room.place, room.brought)


def ask_about(code: str) -> Known:
    """Ask the database where a class is, and keep it."""
    return know(code, *class_keeper().follow(code))


def look_at_all() -> list[str]:
    """The visits whose class has changed since their page was drawn: one small query for each class."""
    watched = dict(WATCHED)
    now = {code: ask_about(code).revision for code in {one.code for one in watched.values()}}
    for code in KNOWN.keys() - now.keys():
        KNOWN.pop(code, None)
    return [session for session, one in watched.items() if one.doubted or now[one.code] != one.revision]


def look_now() -> None:
    """A teacher has just done something: let the task look before its second is over."""
    for wake in WAKE:
        wake()


def forget_who_left(now: float) -> None:
    """Keep those who are there, and for some minutes those who may come back."""
    for session, one in list(WATCHED.items()):
        if session_is_open(session):
            one.seen = now
        elif now - one.seen > GONE_SECONDS:
            WATCHED.pop(session, None)


async def keep_watching() -> None:
    """On the server's own loop, as long as it runs, whatever fails meanwhile."""
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    WAKE[:] = [lambda: loop.call_soon_threadsafe(pressed.set)]
    try:
        for second in itertools.count():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(pressed.wait(), ASK_SECONDS)
            pressed.clear()
            try:
                forget_who_left(time.monotonic())
                if WATCHED:
                    await draw_anew(await asyncio.to_thread(look_at_all))
                elif has_classes() and second % ASK_IDLE == 0:
                    await asyncio.to_thread(class_keeper().revision, "")
            except UnreachableError:  # the keeper has logged it; the pages stay as they are
                continue
            except Exception:
                log.exception("classes could not be watched just now")
    finally:
        WAKE.clear()  # whoever presses something later would wake a loop that has ended


async def draw_anew(sessions: list[str]) -> None:
    """The pages of those who are there, a few at a time; who has just pressed something has his drawn already.

    Three hundred pages that began at once would hold up everybody until the last of them is drawn. And whoever presses
    something comes before each of them.
    """
    SENT_FOR.clear()
    began: dict[str, float] = {}
    for session in sessions:
        while len(began := still_drawn(began)) >= AT_ONCE:
            await asyncio.sleep(NAP_SECONDS)
        if session_is_open(session) and not is_being_drawn(session):
            WATCHED.pop(session, None)  # its page will say what it looks at by then
            SENT_FOR.add(session)
            rerun_session(session)
            began[session] = time.monotonic()
        await asyncio.sleep(0)


def still_drawn(began: dict[str, float]) -> dict[str, float]:
    """Those of these pages whose run has not ended, but what takes too long; with the moment when each began."""
    late = time.monotonic() - LONGEST_SECONDS
    return {session: when for session, when in began.items() if when > late and is_being_drawn(session)}
