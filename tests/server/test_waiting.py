"""Pages that wait are drawn anew in turn: who has stood longest first, and nobody too often."""

import asyncio

import pytest
from replicas import awaited

from attention_ui.process import waiting
from attention_ui.process.waiting import Waiting, keep_drawing, next_to_draw


@pytest.fixture
def visits(monkeypatch):
    """Visits that are there and those whose page is being drawn; nobody waits at first."""
    here, drawn = {"a", "b", "c"}, set()
    monkeypatch.setattr(waiting, "WAITING", {})
    monkeypatch.setattr(waiting, "session_is_open", here.__contains__)
    monkeypatch.setattr(waiting, "is_being_drawn", drawn.__contains__)
    return here, drawn


def wait(session, since, until=None, *, new=True):
    waiting.WAITING[session] = Waiting(
        f"part of {session}", since, since + 0.5 if until is None else until, lambda: new
    )


def test_who_has_stood_longest_is_first_and_nobody_before_his_time(visits):
    wait("a", 10.2)
    wait("b", 10.0)
    wait("c", 10.1, until=12)
    assert next_to_draw(10.4) is None
    assert next_to_draw(10.6) == "b"
    waiting.WAITING.pop("b")
    assert next_to_draw(10.6) is None
    assert next_to_draw(10.8) == "a", "c has stood longer, and is not to be drawn yet"
    assert next_to_draw(12.0) == "c"


def test_a_page_on_which_nothing_is_new_is_looked_at_in_the_end_all_the_same(visits):
    wait("a", 10, new=False)
    wait("b", 11)
    assert next_to_draw(12) == "b"
    waiting.WAITING.pop("b")
    assert next_to_draw(19) is None and next_to_draw(20.1) == "a"


def test_who_presses_something_is_drawn_already_and_who_is_away_is_kept_for_a_minute(visits):
    here, drawn = visits
    wait("a", 10)
    drawn.add("a")
    assert next_to_draw(11) is None
    drawn.clear()
    here.discard("a")
    assert next_to_draw(60) is None and "a" in waiting.WAITING
    assert next_to_draw(70.1) is None and not waiting.WAITING


def test_pages_are_drawn_one_after_the_other_and_take_a_part_of_the_time(visits, monkeypatch):
    """Each takes 20 ms: one is drawn at a time, and 60 ms lie between two."""
    _, drawn = visits
    begun = []

    def rerun(session, part):
        assert not drawn and part == f"part of {session}"
        begun.append((session, asyncio.get_running_loop().time()))
        if session == "b":
            raise RuntimeError("this one fails, and the others follow")
        drawn.add(session)
        asyncio.get_running_loop().call_later(0.02, drawn.discard, session)

    monkeypatch.setattr(waiting, "rerun_part", rerun)
    for since, session in enumerate("abc"):
        wait(session, since)

    async def until_all_are_drawn():
        task = asyncio.create_task(keep_drawing())
        async with asyncio.timeout(30):
            while len(begun) < 3:
                await asyncio.sleep(0.01)
        task.cancel()

    awaited(until_all_are_drawn())
    assert [session for session, _ in begun] == ["a", "b", "c"]
    assert begun[1][1] - begun[0][1] >= 0.06
    assert not waiting.WAITING
