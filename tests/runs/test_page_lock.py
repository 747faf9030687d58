"""One after the other, in order; pages that nobody waits for let the others go first, and nobody waits for ever."""

import threading
import time

import pytest
from waiting import wait_until

from runs.page_lock import PageLock, Priority

SOON = 10.0
LONG, LATER = Priority.CAN_WAIT, Priority.NOBODY_WAITS


class Comers:
    """Threads that come one after the other while somebody is inside, and write down when they are let in."""

    def __init__(self, lock):
        self.lock = lock
        self.order = []
        self.threads = []

    def come(self, name, *how):
        before = self.lock.waiting
        self.threads.append(threading.Thread(target=self._take, args=(name, *how)))
        self.threads[-1].start()
        assert wait_until(lambda: self.lock.waiting == before + 1)

    def _take(self, name, *how):
        with self.lock.page(*how):
            self.order.append(name)

    def all_done(self):
        for thread in self.threads:
            thread.join(SOON)
        return not any(thread.is_alive() for thread in self.threads)


@pytest.fixture
def lock():
    return PageLock()


@pytest.fixture
def comers(lock):
    return Comers(lock)


def test_they_go_in_in_the_order_in_which_they_came(lock, comers):
    with lock.page():
        for name in range(5):
            comers.come(name)
        assert comers.order == []
    assert comers.all_done() and comers.order == [0, 1, 2, 3, 4]


def seven_at_once(work):
    threads = [threading.Thread(target=work) for _ in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)


def test_there_is_never_more_than_one_inside(lock):
    inside, most = [], []

    def work():
        for _ in range(50):
            with lock.page():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    seven_at_once(work)
    assert len(most) == 350 and max(most) == 1


def test_those_that_wait_behind_have_every_fourth_turn_and_every_sixteenth(lock, comers):
    with lock.page():
        comers.come("long", LONG)
        comers.come("picture", LATER)
        comers.come("another picture", LATER)
        for name in range(17):
            comers.come(name)
        comers.come("long, later", LONG)
    assert comers.all_done()
    behind = ["long", 3, 4, 5, "long, later", *range(6, 13), "picture"]
    assert comers.order == [0, 1, 2, *behind, 13, 14, 15, 16, "another picture"]


def test_turns_for_which_nobody_waited_behind_are_not_counted(lock, comers):
    for _ in range(7):
        with lock.page():
            pass
    with lock.page():
        comers.come("long", LONG)
        for name in range(5):
            comers.come(name)
    assert comers.all_done() and comers.order == [0, 1, 2, "long", 3, 4]


def test_a_page_that_offers_its_turn_again_and_again_comes_to_its_end(lock, comers):
    taken, done = [], threading.Event()

    def train():
        with lock.page(LONG):
            for _ in range(10):
                taken.append(len(comers.order))
                lock.yield_turn()
        done.set()

    with lock.page():
        training = threading.Thread(target=train)
        training.start()
        assert wait_until(lambda: lock.waiting == 1)
        for name in range(40):
            comers.come(name)
    assert comers.all_done() and done.wait(SOON)
    assert taken == list(range(3, 40, 4)), "a piece of it after every few pages of others"


def test_whoever_is_let_in_stays_for_the_least_time():
    now = [0.0]
    lock = PageLock(clock=lambda: now[0], least_seconds=0.25)
    comers = Comers(lock)
    with lock.page(LONG):
        comers.come("lesson")
        for now[0], order in ((0.2, []), (0.25, ["lesson"])):
            lock.yield_turn()
            assert comers.order == order
        comers.come("another")
        now[0] = 0.4  # inside again since 0.25
        lock.yield_turn()
        assert comers.order == ["lesson"]
        now[0] = 0.5
        lock.yield_turn()
        assert comers.order == ["lesson", "another"]
    assert comers.all_done()


def test_who_stands_in_front_goes_before_its_like_alone(lock, comers):
    with lock.page():
        comers.come("picture", LATER)
        comers.come("the training", LATER, lambda: None, True)
        comers.come("lesson")
    assert comers.all_done() and comers.order == ["lesson", "the training", "picture"]


def test_a_page_that_nobody_waits_for_yields_to_those_that_somebody_waits_for_alone(lock, comers):
    with lock.page(LATER):
        comers.come("picture", LATER)
        lock.yield_turn()
        assert comers.order == []
        comers.come("lesson")
        lock.yield_turn()
        assert comers.order == ["lesson"]
        comers.order.append("the one inside")
    assert comers.all_done()
    assert comers.order == ["lesson", "the one inside", "picture"], "it goes on before others like it"


def test_a_page_that_takes_long_goes_before_those_that_nobody_waits_for_and_behind_all_others(lock, comers):
    with lock.page(LATER):
        comers.come("picture", LATER)
        comers.come("long", LONG)
        comers.come("lesson")
        lock.yield_turn()
        assert comers.order == ["lesson", "long"]
        comers.order.append("the one inside")
    assert comers.all_done() and comers.order == ["lesson", "long", "the one inside", "picture"]


def test_a_page_that_nobody_waits_for_does_not_go_up_where_it_takes_long(lock, comers):
    with lock.page(LATER):
        lock.lower_priority()
        comers.come("long", LONG)
        lock.yield_turn()
        assert comers.order == ["long"]
    assert comers.all_done()


def test_a_page_that_somebody_waits_for_yields_from_when_it_lowers_its_priority(lock, comers):
    with lock.page():
        comers.come("lesson")
        lock.yield_turn()
        assert comers.order == []
        lock.lower_priority()
        assert comers.order == ["lesson"]
        comers.come("another")
        lock.yield_turn()
        assert comers.order == ["lesson", "another"]
    assert comers.all_done()


def test_who_has_let_others_go_first_goes_on_before_whoever_came_later(lock, comers):
    with lock.page(LONG):
        comers.come("lesson")
        comers.come("long, later", LONG)
        lock.yield_turn()
        comers.order.append("the one inside")
    assert comers.all_done() and comers.order == ["lesson", "the one inside", "long, later"]


def test_who_was_away_goes_on_before_whoever_came_later(lock, comers):
    def stay_until_two_wait():
        with lock.page():
            assert wait_until(lambda: lock.waiting == 2)

    with lock.page(LONG):
        with lock.away():
            slow = threading.Thread(target=stay_until_two_wait)
            slow.start()
            assert wait_until(lambda: not lock.idle)
            comers.come("long, later", LONG)
        comers.order.append("the one inside")
    slow.join(SOON)
    assert comers.all_done() and comers.order == ["the one inside", "long, later"]


def test_the_next_page_of_a_thread_has_a_priority_of_its_own(lock, comers):
    with lock.page():
        lock.lower_priority()
    with lock.page():
        comers.come("lesson")
        lock.yield_turn()
        assert comers.order == []
    assert comers.all_done()


def test_who_ends_his_turn_before_his_block_lets_the_next_in_and_waits_for_nobody(lock, comers):
    with lock.page():
        comers.come("next")
        lock.end_turn()
        assert comers.all_done() and comers.order == ["next"], "before the block has ended"
        lock.end_turn()
        assert not lock.has_turn and lock.idle
    assert lock.idle


def test_who_is_not_inside_yields_nothing(lock):
    lock.yield_turn()
    lock.lower_priority()
    assert lock.idle


def test_a_page_inside_a_page_is_part_of_it(lock, comers):
    with lock.page():
        with lock.page(LATER):
            comers.come("the next")
        assert comers.order == [] and lock.waiting == 1
    assert comers.all_done() and comers.order == ["the next"]


def test_it_is_idle_while_nobody_computes_or_waits(lock, comers):
    assert lock.idle
    with lock.page():
        assert not lock.idle
        comers.come("the next")
    assert comers.all_done() and lock.idle
    with pytest.raises(KeyError), lock.page():
        raise KeyError
    assert lock.idle


def test_a_page_that_never_ends_stops_nobody():
    lock, stay = PageLock(patience_seconds=0.2), threading.Event()
    slow, comers = threading.Thread(target=linger, args=(lock, stay)), Comers(lock)
    slow.start()
    assert wait_until(lambda: not lock.idle)
    with lock.page():
        assert lock.waiting == 0
    with lock.page(LATER):
        pass
    assert not lock.idle
    comers.come("one of many")
    stay.set()
    slow.join(SOON)
    assert comers.all_done() and lock.idle


def test_a_long_line_that_moves_lets_nobody_in_beside():
    lock, inside, most = PageLock(patience_seconds=0.3), [], []

    def compute():
        with lock.page():
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.15)
            inside.pop()

    seven_at_once(compute)
    assert most == [1] * 7 and lock.idle


def test_beside_a_page_that_never_ends_each_waits_as_long_whoever_has_gone_in_before():
    lock, stay, waits = PageLock(patience_seconds=0.3), threading.Event(), []
    slow = threading.Thread(target=linger, args=(lock, stay))
    slow.start()
    assert wait_until(lambda: not lock.idle)

    def compute():
        began = time.monotonic()
        with lock.page():
            waits.append(time.monotonic() - began)

    threads = [threading.Thread(target=compute) for _ in range(6)]
    for thread in threads:
        thread.start()
        time.sleep(0.13)  # so that each comes while another is about to go
    for thread in threads:
        thread.join(SOON)
    stay.set()
    slow.join(SOON)
    assert len(waits) == 6 and max(waits) < 0.3 + 5 * PageLock.CHECK_SECONDS


def linger(lock, stay):
    with lock.page():
        stay.wait(SOON)


class Enough(BaseException):
    """What Streamlit raises where a visitor wants another page is no Exception either."""


def fed_up():
    raise Enough


def test_who_gives_up_while_others_go_first_is_out_and_nobody_is_stuck(lock, comers):
    stay = threading.Event()
    slow = threading.Thread(target=linger, args=(lock, stay))
    with pytest.raises(Enough), lock.page(LATER):
        slow.start()
        assert wait_until(lambda: lock.waiting == 1)
        lock.yield_turn(fed_up)
        raise AssertionError("nobody called")
    stay.set()
    slow.join(SOON)
    assert wait_until(lambda: lock.idle)
    with lock.page():
        comers.come("the next")
    assert comers.all_done() and comers.order == ["the next"]


def test_who_gives_up_leaves_the_queue_to_the_others(lock, comers):
    stay = threading.Event()
    slow = threading.Thread(target=linger, args=(lock, stay))
    slow.start()
    assert wait_until(lambda: not lock.idle)
    with pytest.raises(Enough), lock.page(check=fed_up):
        raise AssertionError("nobody called")
    assert lock.waiting == 0
    comers.come("the next")
    assert comers.order == [], "the slow one is still inside, alone"
    stay.set()
    slow.join(SOON)
    assert comers.all_done() and comers.order == ["the next"]


def test_who_gives_up_when_called_passes_the_turn_on(lock, comers):
    asked, enough = threading.Event(), threading.Event()

    def late():
        asked.set()
        assert enough.wait(SOON)
        raise Enough

    def give_up():
        with pytest.raises(Enough), lock.page(check=late):
            raise AssertionError("gave up before")

    with lock.page():
        first = threading.Thread(target=give_up)
        first.start()
        assert asked.wait(SOON)
        comers.come("the next", LATER)
    assert wait_until(lambda: lock.waiting == 1), "the first is called"
    assert comers.order == []
    enough.set()
    first.join(SOON)
    assert not first.is_alive() and comers.all_done() and comers.order == ["the next"]


def test_an_error_inside_ends_the_turn(lock):
    with pytest.raises(KeyError), lock.page():
        raise KeyError
    with lock.page():
        assert lock.waiting == 0


def test_whoever_is_away_holds_nobody_up_and_has_a_turn_again(lock, comers):
    with lock.page():
        comers.come("came early")
        with lock.away():
            assert comers.all_done() and lock.idle, "a page was computed meanwhile"
        assert not lock.idle
        comers.come("came late")
        assert comers.order == ["came early"]
    assert comers.all_done() and comers.order == ["came early", "came late"]


def test_a_turn_while_one_is_away_does_not_change_when_one_came(lock):
    with lock.page():
        came = lock._here.came
        with lock.away(), lock.page(LATER, lambda: None, True):
            assert lock._here.came < came
        assert lock._here.came == came


def test_who_has_no_turn_is_nowhere_away(lock):
    with lock.away():
        assert lock.idle
    assert lock.idle


@pytest.mark.parametrize("priority", Priority)
def test_who_comes_back_has_the_turn_that_was_left_also_where_the_wait_is_ended(lock, comers, priority):
    class Ended(Exception):
        pass

    def end():
        raise Ended

    with pytest.raises(Ended), lock.page(priority), lock.away(end):
        stays = threading.Event()

        def stay():
            with lock.page():
                stays.wait(SOON)

        other = threading.Thread(target=stay)
        other.start()
        assert wait_until(lambda: not lock.idle)
    stays.set()
    other.join(SOON)
    assert lock.idle and lock.waiting == 0
