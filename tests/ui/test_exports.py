"""The line of files that take long: one at a time for all visits, dropped with who asked, and kept for ten minutes."""

import gc
import threading
import time
import weakref
from contextlib import contextmanager

import pytest

from attention_ui.export.line import KEPT_SECONDS, PART, UNSEEN_SECONDS, Export, Line
from lessons.teachers.platform.items import PlatformChoices, items_of
from words import language


class Visits:
    """Who is there, what time it is, and what the line does in its turns."""

    def __init__(self):
        self.gone, self.now, self.inside, self.most = set(), 0.0, 0, 0
        self.line = Line(self.turn, lambda session: session not in self.gone, lambda: self.now)

    @contextmanager
    def turn(self):
        self.inside += 1
        self.most = max(self.most, self.inside)
        yield
        self.inside -= 1


@pytest.fixture
def visits():
    visits = Visits()
    yield visits
    visits.line.stop()


class Steps:
    """Writes so many parts; each step waits until it is let go on."""

    def __init__(self, *parts, held=False, fails=False):
        self.parts, self.fails, self.spoken = parts, fails, None
        self.written = []
        self.go_on = threading.Event()
        if not held:
            self.go_on.set()

    def __call__(self, file):
        for part in self.parts:
            assert self.go_on.wait(10)
            self.spoken = language().code
            file.write(part)
            self.written.append(part)
            yield
        if self.fails:
            raise ValueError("no disk")


def asked(visits, session, steps, content="a file", code="en"):
    export = Export(session, content, "a.txt", steps, len(steps.parts), code)
    visits.line.join(export)
    return export


def until(true):
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


def read(export):
    return b"".join(export.parts())


def test_a_file_is_made_in_its_language_and_found_by_its_token_alone(visits):
    large = bytes(range(256)) * (PART // 100)
    steps = Steps(b"ab", large, b"c")
    export = asked(visits, "one", steps, code="ja")
    until(lambda: export.ended is not None)
    assert read(export) == b"ab" + large + b"c" and export.size == len(large) + 3 and export.share == 1
    assert steps.spoken == "ja" and visits.line.found(export.token) is export
    both = zip(export.parts(), export.parts(), strict=True)
    assert all(one == other for one, other in both), "two may read it at once"
    assert len(export.token) > 40 and visits.line.found("") is visits.line.found("one") is None


def test_one_is_made_at_a_time_in_the_order_in_which_they_came(visits):
    first, second, third = Steps(b"1", b"2", held=True), Steps(b"3", b"4"), Steps(b"5")
    exports = [asked(visits, name, steps) for name, steps in (("a", first), ("b", second), ("c", third))]
    assert [visits.line.before(export) for export in exports] == [0, 1, 2]
    time.sleep(0.1)
    assert not second.written and not third.written and visits.line.found(exports[0].token) is None
    first.go_on.set()
    until(lambda: exports[2].ended is not None)
    assert [read(export) for export in exports] == [b"12", b"34", b"5"] and visits.most == 1
    assert [visits.line.before(export) for export in exports] == [0, 0, 0]


def test_a_second_press_begins_no_second_file(visits):
    first, again = Steps(b"1", held=True), Steps(b"2")
    export = asked(visits, "a", first)
    asked(visits, "a", again)
    assert visits.line.of("a") is export
    first.go_on.set()
    until(lambda: export.ended is not None)
    time.sleep(0.05)
    assert visits.line.of("a") is export and not again.written
    other = asked(visits, "a", again, content="another")
    until(lambda: other.ended is not None)
    assert visits.line.found(export.token) is None and read(visits.line.of("a")) == b"2", "the one before gives way"


@pytest.mark.parametrize("how", ["closes its tab", "cancels", "goes to another page"])
def test_who_leaves_waits_no_more_and_the_next_is_made(visits, how):
    first, second = Steps(b"1", b"2", b"3", held=True), Steps(b"4")
    asked(visits, "a", first)
    until(lambda: visits.inside == 1)
    visits.now = UNSEEN_SECONDS - 1
    export = asked(visits, "b", second)
    if how == "closes its tab":
        visits.gone.add("a")
    elif how == "cancels":
        visits.line.leave("a")
    else:
        visits.now += 2
    first.go_on.set()
    until(lambda: export.ended is not None)
    assert first.written == [b"1"] and visits.line.of("a") is None and read(export) == b"4"


def test_a_file_is_gone_after_ten_minutes_or_with_its_visit_and_then_the_disk_has_it_no_more(visits):
    files = []
    for session in "ab":
        export = asked(visits, session, Steps(b"1"))
        until(lambda made=export: made.ended is not None)
        files.append(export._file)
    tokens = [visits.line.of(session).token for session in "ab"]
    visits.gone.add("a")
    assert visits.line.found(tokens[0]) is None and visits.line.found(tokens[1]) is not None
    visits.now += KEPT_SECONDS + 1
    assert visits.line.found(tokens[1]) is None
    del export
    until(lambda: gc.collect() is not None and all(file.closed for file in files))
    until(lambda: not any(thread.name == "exports" for thread in threading.enumerate()))


def test_what_fails_is_told_and_holds_up_nobody(visits, caplog):
    bad, good = asked(visits, "a", Steps(b"1", fails=True)), asked(visits, "b", Steps(b"2"))
    until(lambda: good.ended is not None)
    assert bad.failed and visits.line.of("a") is bad and visits.line.found(bad.token) is None
    assert not good.failed and read(good) == b"2" and "a file could not be made" in caplog.text
    again = asked(visits, "a", Steps(b"3"))
    until(lambda: again.ended is not None)
    assert read(again) == b"3"


def test_where_the_server_ends_the_step_that_is_made_is_the_last(visits):
    steps = Steps(b"1", b"2", held=True)
    asked(visits, "a", steps)
    threading.Timer(0.1, steps.go_on.set).start()
    visits.line.stop()
    assert len(steps.written) <= 1 and visits.line.of("a") is None


def test_of_the_questions_for_a_platform_none_is_kept_once_it_is_written():
    items = items_of(PlatformChoices(lessons=("mask", "softmax"), versions=2))
    written = [weakref.ref(next(items)) for _ in range(8)]
    gc.collect()
    assert sum(item() is not None for item in written) <= 1
