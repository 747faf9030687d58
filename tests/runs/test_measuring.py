"""Measurements in the background: one series at a time, in turns, with an end."""

import threading

import pytest

from runs.measuring import Measuring
from runs.page_lock import PageLock


def finished(measuring):
    measuring._thread.join(10)
    assert not measuring.running
    return measuring


def test_a_series_gives_its_results_at_its_end_and_the_next_takes_their_place():
    series = iter([[None, 1, None, 2], [3]])
    measuring = Measuring(PageLock(), lambda: iter(next(series)))
    assert measuring.results == () and not measuring.running
    measuring.start()
    assert finished(measuring).results == (1, 2) and measuring.done == 2
    measuring.start()
    assert finished(measuring).results == (3,)


class Gate:
    """A series that waits before its second result until it may go on."""

    def __init__(self):
        self.inside, self.open, self.begun = threading.Event(), threading.Event(), 0

    def __call__(self):
        self.begun += 1
        yield "first"
        self.inside.set()
        assert self.open.wait(10)
        yield "second"
        yield "third"


def test_only_one_series_runs_and_a_cancelled_one_leaves_what_was_there():
    gate = Gate()
    measuring = Measuring(PageLock(), gate)
    measuring.results = ("of before",)
    measuring.start()
    assert gate.inside.wait(10) and measuring.running
    measuring.start()
    assert gate.begun == 1 and measuring.results == ("of before",) and measuring.done == 1
    measuring.cancel()
    gate.open.set()
    assert finished(measuring).results == ("of before",) and gate.begun == 1
    measuring.start()
    assert finished(measuring).results == ("first", "second", "third")


def test_it_ends_with_what_it_has_when_its_time_is_over():
    now = iter(map(float, range(100)))

    def endless():
        while True:
            yield "result"

    measuring = Measuring(PageLock(), endless, most_seconds=5.0, clock=lambda: next(now))
    measuring.start()
    assert finished(measuring).results == ("result",) * 4


def test_a_failure_is_told_without_its_words_and_leaves_what_was_there():
    def broken():
        yield 1
        raise RuntimeError("secret")

    measuring = Measuring(PageLock(), broken)
    measuring.start()
    assert finished(measuring).results == () and str(measuring.problem) == "it ended with RuntimeError"


@pytest.mark.parametrize("calls", [3])
def test_a_page_that_comes_goes_in_between_two_calls(calls):
    pages, order, inside, go_on = PageLock(), [], threading.Event(), threading.Event()

    def series():
        for call in range(calls):
            order.append(f"call {call}")
            if call == 0:
                inside.set()
                assert go_on.wait(10)
            yield None

    measuring = Measuring(pages, series)
    measuring.start()
    assert inside.wait(10)

    def visitor():
        with pages.page():
            order.append("page")

    page = threading.Thread(target=visitor)
    page.start()
    while not pages.waiting:
        pass
    go_on.set()
    page.join(10)
    finished(measuring)
    assert order == ["call 0", "page", "call 1", "call 2"]
