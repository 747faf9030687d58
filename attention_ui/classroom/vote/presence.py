"""How many of a class are there: every few seconds each process tells the database which browsers look at it.

A browser is there while a tab of it that follows its class is connected. A replica of another version may tell nothing
of its own: those who come by it are not counted, until they answer.
"""

import asyncio
import logging

from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.watching import WATCHED
from attention_ui.streamlit_insides import session_is_open
from classes.stages import UnreachableError

log = logging.getLogger(__name__)
SIGN_SECONDS = 5.0  # of the fifteen for which a sign of life counts: one may come late, and one be lost


def who_is_here() -> dict[str, set[str]]:
    """The tokens of those who look at each class, without the browsers that lead it; on the server's own loop."""
    here: dict[str, set[str]] = {}
    leads: set[tuple[str, str]] = set()
    for session, one in list(WATCHED.items()):
        if one.leads:
            leads.add((one.code, one.token))
        elif session_is_open(session):
            here.setdefault(one.code, set()).add(one.token)
    return {code: {token for token in tokens if (code, token) not in leads} for code, tokens in here.items()}


async def keep_present() -> None:
    """As long as the server runs, whatever fails meanwhile."""
    while True:
        await asyncio.sleep(SIGN_SECONDS)
        try:
            for code, tokens in who_is_here().items():
                await asyncio.to_thread(class_keeper().be_present, code, tokens)
        except UnreachableError:  # the keeper has logged it
            continue
        except Exception:
            log.exception("who is here could not be told just now")
