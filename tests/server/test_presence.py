"""Who is told to be present: each browser once, whoever leads not at all."""

import pytest

from attention_ui.classroom.vote import presence, watching


@pytest.fixture
def watched(monkeypatch):
    """Sessions that look at classes, of which "gone" has no connection any more."""
    monkeypatch.setattr(presence, "session_is_open", lambda session: session != "gone")
    monkeypatch.setattr(presence, "WATCHED", seen := {})
    return seen


def looks(seen, session, token, code="ABCDEF", *, leads=False):
    seen[session] = watching.Watched(code, token, 0.0, leads=leads)


def test_each_browser_is_told_once_and_who_has_gone_or_leads_not_at_all(watched):
    looks(watched, "first", "a")
    looks(watched, "its second tab", "a")
    looks(watched, "another", "b")
    looks(watched, "gone", "c")
    looks(watched, "elsewhere", "d", code="GHJKLM")
    looks(watched, "teacher", "t", leads=True)
    looks(watched, "how a student sees it, in the teacher's browser", "t")
    assert presence.who_is_here() == {"ABCDEF": {"a", "b"}, "GHJKLM": {"d"}}
