"""Files that are written in the background: one order at a time, shared by all who give it, a few of them kept."""

import threading
import time

import pytest

from runs.orders import MOST_KEPT_FILES, Orders
from runs.page_lock import PageLock


class Writer:
    """Writes a file in three pieces, each when it is let."""

    def __init__(self):
        self.let, self.written = threading.Semaphore(0), []
        self.orders = Orders(PageLock(), self.write)

    def write(self, order):
        for piece in range(3):
            self.let.acquire(timeout=10)
            if order == "broken" and piece == 2:
                raise OSError("no")
            yield piece
        yield None
        self.written.append(order)
        yield str(order).encode()

    def finish(self, order):
        assert self.orders.place(order)
        for _ in range(3):
            self.let.release()
        wait_until(lambda: self.orders.done(order) is None)


def wait_until(said):
    for _ in range(500):
        if said():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


@pytest.fixture
def writer():
    writer = Writer()
    yield writer
    for _ in range(20):
        writer.let.release()
    writer.orders.cancel()


def test_an_order_is_written_piece_by_piece_and_then_its_file_is_there(writer):
    assert writer.orders.file("a") is None and writer.orders.done("a") is None and writer.orders.problem("a") is None
    assert writer.orders.place("a")
    writer.let.release()
    wait_until(lambda: writer.orders.done("a") == 1)
    assert writer.orders.file("a") is None
    writer.finish("a")
    assert writer.orders.file("a") == b"a" and writer.orders.problem("a") is None


def test_one_order_at_a_time_and_the_same_order_is_written_once(writer):
    assert writer.orders.place("a") and writer.orders.place("a")
    assert not writer.orders.place("b") and writer.orders.done("b") is None
    writer.finish("a")
    assert writer.orders.place("a") and writer.orders.done("a") is None, "it is there already"
    writer.finish("b")
    assert writer.written == ["a", "b"]


def test_only_the_last_files_are_kept(writer):
    for order in range(MOST_KEPT_FILES + 2):
        writer.finish(order)
    kept = [order for order in range(MOST_KEPT_FILES + 2) if writer.orders.file(order)]
    assert kept == list(range(2, MOST_KEPT_FILES + 2))
    writer.finish(0)
    assert writer.orders.file(0) == b"0", "and can be ordered again"


def test_an_order_that_fails_says_so_and_can_be_given_again(writer):
    writer.finish("broken")
    assert writer.orders.file("broken") is None and str(writer.orders.problem("broken")) == "it ended with OSError"
    writer.finish("a")
    assert writer.orders.file("a") == b"a"


def test_an_order_that_is_cancelled_says_so(writer):
    assert writer.orders.place("a")
    ending = threading.Thread(target=writer.orders.cancel)
    ending.start()
    for _ in range(3):
        writer.let.release()
    ending.join(10)
    assert not ending.is_alive() and writer.orders.done("a") is None
    assert writer.orders.file("a") is not None or str(writer.orders.problem("a")) == "it was stopped before it finished"
