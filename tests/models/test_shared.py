"""Equal texts are computed once, whoever asks and however many at a time."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from models.shared import Once, forget_unused, n_bytes_of

SOON = 10


def asked_by_many(n, ask):
    """What each of n threads gets that ask at the same time: a value, or what was raised."""
    got, together = [], threading.Barrier(n)

    def one():
        together.wait(SOON)
        try:
            got.append(ask())
        except ValueError as error:
            got.append(error)

    threads = [threading.Thread(target=one) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    return got


def test_a_class_that_asks_at_once_is_computed_for_once():
    once, computed, all_wait = Once(10, lambda _: 1), [], threading.Event()

    def compute():
        computed.append(threading.get_ident())
        all_wait.wait(0.2)  # the others have come by then
        return object()

    got = asked_by_many(30, lambda: once.get("the cat", compute))
    assert len(computed) == 1 and len(got) == 30 and len(set(map(id, got))) == 1


def test_different_texts_do_not_wait_for_each_other():
    once, both = Once(10, lambda _: 1), threading.Barrier(2)
    texts = iter(("a", "b"))
    got = asked_by_many(2, lambda: once.get(next(texts), lambda: both.wait(SOON) is not None))
    assert got == [True, True]


def test_what_is_wrong_is_told_to_all_and_tried_again_later():
    once, tries = Once(10, lambda _: 1), []

    def fail():
        tries.append(1)
        threading.Event().wait(0.1)
        raise ValueError("too long")

    assert {str(error) for error in asked_by_many(5, lambda: once.get("x", fail))} == {"too long"}
    assert len(tries) == 1 and once.get("x", lambda: "now") == "now"


def test_who_waits_for_one_that_was_stopped_computes_it_itself():
    once, begun, stop = Once(10, lambda _: 1), threading.Event(), threading.Event()

    def stopped():
        begun.set()
        stop.wait(SOON)
        raise SystemExit  # as when a page is left while it computes

    def leave():
        with pytest.raises(SystemExit):
            once.get("x", stopped)

    first = threading.Thread(target=leave)
    first.start()
    begun.wait(SOON)
    got = []
    second = threading.Thread(target=lambda: got.append(once.get("x", lambda: "computed")))
    second.start()
    stop.set()
    first.join(SOON)
    second.join(SOON)
    assert got == ["computed"]


def test_what_was_asked_for_longest_ago_makes_room():
    once = Once(10, len)
    computed = []

    def ask(key, n):
        once.get(key, lambda: computed.append(key) or "x" * n)

    for key, n in (("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4)):
        ask(key, n)
    assert computed == ["a", "b", "c", "b"], "a was asked for again before c came, so b had to go"
    ask("whole", 100)
    ask("whole", 100)
    assert computed[4:] == ["whole"], "the latest is kept, however large"
    ask("a", 4)
    assert computed[5:] == ["a"]


def test_what_nobody_has_asked_for_in_a_while_goes_and_what_is_computed_just_now_stays():
    now, computed = [0.0], []
    once, forever = Once(10, lambda _: 1, 60.0, lambda: now[0]), Once(10, lambda _: 1, clock=lambda: now[0])

    def ask(which, key):
        return which.get(key, lambda: computed.append(key) or key)

    ask(once, "old")
    ask(once, "asked again")
    ask(forever, "kept")
    now[0] = 50.0
    ask(once, "asked again")
    ask(once, "looked at")
    now[0] = 100.0
    assert once.kept("looked at") == "looked at" and once.kept("asked again") == "asked again"
    now[0] = 130.0
    assert once.get("while it is computed", forget_unused) is True and not forget_unused()
    assert once.kept("old") is None and once.kept("asked again") and once.kept("looked at")
    ask(forever, "kept")
    ask(once, "old")
    assert computed == ["old", "asked again", "kept", "looked at", "old"]


def test_the_memory_of_a_trace_counts_each_storage_once():
    @dataclass
    class Trace:
        x: torch.Tensor
        parts: tuple
        name: str = "no tensor"

    x = torch.zeros(10, 4)
    assert n_bytes_of(Trace(x, (x[2:], {"k": torch.zeros(3, dtype=torch.bfloat16)}, [None]))) == 160 + 6
    x = np.zeros((10, 4), np.float32)
    assert n_bytes_of(Trace(x, (x[2:].reshape(-1), {"k": np.zeros(3, np.float16)}, [x.T]))) == 160 + 6
