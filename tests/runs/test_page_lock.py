"""One after the other, in order; those that can wait let the others pass, and nobody waits for ever."""

import threading

import pytest
from waiting import wait_until

from runs.page_lock import Hurry, Turns

SOON = 10.0


class Comers:
    """Threads that come one after the other while somebody is inside, and write down when they are let in."""

    def __init__(self, turns):
        self.turns = turns
        self.order = []
        self.threads = []

    def come(self, name, **how):
        before = self.turns.waiting
        self.threads.append(threading.Thread(target=self._take, args=(name,), kwargs=how))
        self.threads[-1].start()
        assert wait_until(lambda: self.turns.waiting == before + 1)

    def _take(self, name, **how):
        with self.turns.turn(**how):
            self.order.append(name)

    def all_done(self):
        for thread in self.threads:
            thread.join(SOON)
        return not any(thread.is_alive() for thread in self.threads)


def test_they_go_in_in_the_order_in_which_they_came():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn():
        for name in range(5):
            comers.come(name)
        assert comers.order == []
    assert comers.all_done() and comers.order == [0, 1, 2, 3, 4]


def test_there_is_never_more_than_one_inside():
    turns, inside, most = Turns(), [], []

    def work():
        for _ in range(50):
            with turns.turn():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert len(most) == 350 and max(most) == 1


def test_who_can_wait_lets_the_others_pass_but_not_all_of_them():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn():
        comers.come("patient", hurry=Hurry.CAN_WAIT)
        for name in range(6):
            comers.come(name)
    assert comers.all_done()
    assert comers.order == [0, 1, 2, "patient", 3, 4, 5]


def test_those_who_want_little_go_before_those_who_take_long():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn():
        comers.come("picture", hurry=Hurry.CAN_WAIT)
        comers.come("training", hurry=Hurry.TAKES_LONG)
        comers.come("lesson", hurry=Hurry.QUICK)
    assert comers.all_done() and comers.order == ["lesson", "training", "picture"]


def test_who_is_inside_lets_those_pass_who_are_in_more_of_a_hurry():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn(Hurry.TAKES_LONG):
        comers.come("long too", hurry=Hurry.TAKES_LONG)
        comers.come("picture", hurry=Hurry.CAN_WAIT)
        turns.let_pass()
        assert comers.order == [], "nobody is in more of a hurry"
        comers.come("lesson")
        turns.let_pass()
        assert comers.order == ["lesson"]
        comers.order.append("the one inside")
    assert comers.all_done()
    assert comers.order == ["lesson", "the one inside", "long too", "picture"], "it goes on before others like it"


def test_who_takes_longer_than_thought_says_so_and_lets_pass():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn():
        comers.come("lesson")
        turns.let_pass()
        assert comers.order == []
        turns.let_pass(Hurry.TAKES_LONG)
        assert comers.order == ["lesson"]
        comers.come("another")
        turns.let_pass()
        assert comers.order == ["lesson", "another"]
    assert comers.all_done()


def test_who_is_not_inside_lets_nobody_pass():
    turns = Turns()
    turns.let_pass(Hurry.CAN_WAIT)
    with turns.turn():
        assert turns.waiting == 0


def test_who_gives_up_while_others_pass_is_out_and_nobody_is_stuck():
    turns = Turns()
    stay, comers = threading.Event(), Comers(turns)

    def linger():
        with turns.turn():
            stay.wait(SOON)

    slow = threading.Thread(target=linger)
    with pytest.raises(Enough), turns.turn(Hurry.CAN_WAIT):
        slow.start()
        assert wait_until(lambda: turns.waiting == 1)
        turns.let_pass(meanwhile=fed_up)
        raise AssertionError("nobody called")
    comers.come("the next")
    assert comers.order == [], "the slow one is still inside, alone"
    stay.set()
    slow.join(SOON)
    assert comers.all_done() and comers.order == ["the next"] and turns.waiting == 0


def test_a_turn_that_never_ends_stops_nobody():
    turns = Turns(patience_seconds=0.2)
    with turns.turn(), turns.turn():
        assert turns.waiting == 0
    with turns.turn(), turns.turn(Hurry.CAN_WAIT):
        pass
    comers = Comers(turns)
    with turns.turn():
        comers.come("after all")
    assert comers.all_done() and turns.waiting == 0


class Enough(BaseException):
    """What Streamlit raises where a visitor wants another page is no Exception either."""


def fed_up():
    raise Enough


def test_who_gives_up_leaves_the_queue_to_the_others():
    turns = Turns()
    comers = Comers(turns)
    with turns.turn():
        with pytest.raises(Enough), turns.turn(meanwhile=fed_up):
            raise AssertionError("nobody called")
        assert turns.waiting == 0
        comers.come("the next")
    assert comers.all_done() and comers.order == ["the next"]


def test_who_gives_up_when_called_passes_the_turn_on():
    turns = Turns()
    comers, ended = Comers(turns), threading.Event()

    def late():
        ended.set()
        assert wait_until(lambda: not turns._queues[Hurry.QUICK])
        raise Enough

    def give_up():
        with pytest.raises(Enough), turns.turn(meanwhile=late):
            raise AssertionError("gave up before")

    with turns.turn():
        first = threading.Thread(target=give_up)
        first.start()
        assert ended.wait(SOON)
        comers.come("the next", hurry=Hurry.CAN_WAIT)
    first.join(SOON)
    assert not first.is_alive() and comers.all_done() and comers.order == ["the next"]


def test_an_error_inside_ends_the_turn():
    turns = Turns()
    with pytest.raises(KeyError), turns.turn():
        raise KeyError
    with turns.turn():
        assert turns.waiting == 0
