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


def wait(session, since, until=None, *, new=True, part=""):
    key = session, part or f"part of {session}"
    waiting.WAITING[key] = Waiting(since, since + 0.5 if until is None else until, lambda: new)


def next_visit(now):
    found = next_to_draw(now)
    assert found is None or found[1] == f"part of {found[0]}"
    return found and found[0]


def test_who_has_stood_longest_is_first_and_nobody_before_his_time(visits):
    wait("a", 10.2)
    wait("b", 10.0)
    wait("c", 10.1, until=12)
    assert next_visit(10.4) is None
    assert next_visit(10.6) == "b"
    del waiting.WAITING["b", "part of b"]
    assert next_visit(10.6) is None
    assert next_visit(10.8) == "a", "c has stood longer, and is not to be drawn yet"
    assert next_visit(12.0) == "c"


def test_a_page_on_which_nothing_is_new_is_looked_at_in_the_end_all_the_same(visits):
    wait("a", 10, new=False)
    wait("b", 11)
    assert next_visit(12) == "b"
    del waiting.WAITING["b", "part of b"]
    assert next_visit(19) is None and next_visit(20.1) == "a"


def test_who_presses_something_is_drawn_already_and_who_is_away_is_kept_for_a_minute(visits):
    here, drawn = visits
    wait("a", 10)
    drawn.add("a")
    assert next_visit(11) is None
    drawn.clear()
    here.discard("a")
    assert next_visit(60) is None and waiting.WAITING
    assert next_visit(70.1) is None and not waiting.WAITING


def test_two_parts_of_a_page_wait_beside_each_other(visits):
    wait("a", 10, part="progress")
    wait("a", 11, part="download")
    assert next_to_draw(12) == ("a", "progress")
    del waiting.WAITING["a", "progress"]
    assert next_to_draw(12) == ("a", "download")


def test_pages_are_drawn_one_after_the_other_and_take_a_part_of_the_time(visits, monkeypatch):
    """Each takes 20 ms: one is drawn at a time, and so long lie between two that they take half of the time."""
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
    assert begun[1][1] - begun[0][1] >= 0.02 / waiting.PART_OF_TIME
    assert not waiting.WAITING
