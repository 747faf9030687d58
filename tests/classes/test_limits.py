"""What one address may do: guessing takes long, nobody is refused a right code, and nobody uses up what is others'."""

import pytest

from classes import limits
from classes.keys import CODE_ALPHABET, CODE_LENGTH
from classes.limits import FORGIVEN_SECONDS, MOST_SECONDS, Delays, Held, Limiter


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_wrong_codes_slow_their_own_address_twice_as_much_each_time(clock):
    delays = Delays(clock)
    taken = []
    for _ in range(8):
        taken.append(delays.seconds("a"))
        delays.wrong("a")
    assert taken == [0, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]
    assert delays.seconds("b") == 0
    for _ in range(1000):
        delays.wrong("a")
    clock.now += MOST_SECONDS
    assert delays.seconds("a") == MOST_SECONDS
    clock.now += 3 * FORGIVEN_SECONDS
    assert delays.seconds("a") == 0.8, "a thousand are forgiven as soon as six"
    clock.now += 10 * FORGIVEN_SECONDS
    assert delays.seconds("a") == 0


# How long a guesser needs on average for one of 300 open classes: the table of deploy/README.md.
ONE_OF = 300
TRIES = (len(CODE_ALPHABET) ** CODE_LENGTH + 1) / (ONE_OF + 1)


@pytest.mark.parametrize(("addresses", "at_once", "days"), [(1, 1, 171), (1, 30, 5.7), (10, 1, 17), (100, 1, 1.7)])
def test_a_guesser_needs_so_many_days(addresses, at_once, days, clock):
    delays, told = Delays(clock), 0
    for _ in range(40):  # every answer is waited for: so many tabs at once, then the next ones
        began, wait = clock.now, delays.seconds("a")
        for _ in range(at_once):
            delays.wrong("a")
            told += 1
        clock.now = began + max(wait, 0.001)
    rate = at_once / delays.seconds("a")
    assert rate == at_once / MOST_SECONDS, "as slow as it gets, and it stays so"
    assert TRIES / (addresses * rate) / 86_400 == pytest.approx(days, rel=0.02)


def test_so_many_in_so_many_seconds(clock):
    limiter = Limiter(3, 60, clock)
    assert [limiter.take("a") for _ in range(5)] == [True, True, True, False, False]
    assert limiter.take("b")
    clock.now += 61
    assert limiter.take("a"), "what was refused was not counted"


def test_what_somebody_holds():
    held = Held()
    for thing in "xyz":
        held.add("a", thing)
    assert held.count("a", lambda thing: thing != "y") == 2 and held.count("b", lambda _: True) == 0
    assert held.count("a", lambda _: True) == 2


def test_what_is_remembered_has_a_bound(monkeypatch, clock):
    monkeypatch.setattr(limits, "MOST_REMEMBERED", 3)
    delays = Delays(clock)
    for who in "abcd":
        delays.wrong(who)
    assert delays.seconds("a") == 0 and len(delays._known) == 3
