"""One stranger attacks from one address; a class at a second one and thirty pupils behind a third notice nothing."""

import asyncio
import sys
from urllib.parse import parse_qs

import pytest

from benchmarks.client import Session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a machine has one address of its own")
ATTACKER, TEACHERS, SCHOOL = "127.0.0.1", "127.0.0.2", "127.0.0.3"
PATIENCE, GUESSES, PUPILS = 60.0, 20, 30


def keys(session):
    return {shown.id.rpartition("-")[2] for shown in session.elements("button")}


async def becomes(true, session):
    try:
        async with asyncio.timeout(PATIENCE):
            while not true():
                await asyncio.sleep(0.02)
    except TimeoutError:
        shown = [text[:200] for text in session.texts()]
        raise AssertionError(f"lost: {session.is_lost}, errors: {session.exceptions}, shown: {shown}") from None


async def visitor(server, source, query=""):
    session = Session(server.port, live=True, source=source)
    await session.open("class_vote", query)
    return session


async def teacher(server):
    """A class that has been asked a question: who teaches it, and its code."""
    session = await visitor(server, TEACHERS)
    await session.click("class_open")
    await session.click("class_ask")
    return session, parse_qs(session.query_string)["class"][0]


async def guess(server, number):
    code = f"AAAA{chr(ord('A') + number % 8)}{2 + number // 8}"
    session = await visitor(server, ATTACKER, f"class={code}")
    await becomes(lambda: any("There is no class with this code" in text for text in session.texts()), session)
    await session.close()


async def open_many(server):
    """How many classes one script opens before it is refused."""
    for count in range(20):
        session = await visitor(server, ATTACKER)
        await session.click("class_open")
        refused = any("One network may open at most 10 classes in 10 minutes" in text for text in session.texts())
        await session.close()
        if refused:
            return count
    return None


async def pupil(server, code, number):
    """Comes in, the first one after a wrong code, and votes."""
    session = await visitor(server, SCHOOL, f"class={'AAAAAA' if number == 0 else code}")
    if number == 0:
        await session.set("class_code", code)
    await becomes(lambda: "class_vote_A" in keys(session), session)
    await session.settle()
    await session.click("class_vote_A")
    voted = "your answer" in session.widget("class_vote_A").label
    await session.close()
    return voted


@pytest.mark.slow
def test_one_stranger_cannot_lock_out_a_school(server, finish, quiet_log):
    async def attacked():
        first, code = await teacher(server)
        attack = asyncio.gather(open_many(server), *(guess(server, number) for number in range(GUESSES)))
        voted = await asyncio.gather(*(pupil(server, code, number) for number in range(PUPILS)))
        opened, *_ = await attack
        second, other = await teacher(server)
        back = await visitor(server, ATTACKER, first.query_string)
        ruling = "class_to_closed" in keys(back)
        own = await visitor(server, ATTACKER, f"class={code}")
        waits = any("One moment. Wrong codes" in text for text in own.texts())
        await becomes(lambda: "class_vote_A" in keys(own), own)
        for session in (first, second, back, own):
            await session.close()
        return voted, opened, other != code, ruling, waits

    voted, opened, two, ruling, waits = finish(attacked())
    assert voted == [True] * PUPILS and two
    assert opened == 10
    assert ruling, "a key waits for nothing, wherever it comes from"
    assert waits, "a right code waits where many were wrong, and is not refused"
