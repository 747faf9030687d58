"""A database that hangs, is away or fails: everybody is answered in time, and the log and the health check are told."""

import contextlib
import logging
import sqlite3
import threading
from functools import partial

import pytest
from waiting import wait_until

from classes import prompt
from classes.keeper import NO_CLASS, UNREACHABLE, Keeper
from classes.prompt import LOG_SECONDS, REST_SECONDS, TOLD_SECONDS, PromptKeeper
from classes.stages import RefusedError, UnreachableError

SOON = 20.0


class Hanging(Keeper):
    """A keeper that does not answer until it is let go or aborted."""

    def __init__(self, folder):
        super().__init__(folder)
        self.let_go, self.asked, self.aborted = threading.Event(), [], 0
        self.let_go.set()

    def revision(self, code):
        self.asked.append(code)
        assert self.let_go.wait(SOON)
        return super().revision(code)

    def abort(self):
        self.aborted += 1
        self.let_go.set()


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def hanging(tmp_path):
    return Hanging(tmp_path)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def prompt_keeper(hanging, clock):
    return PromptKeeper(lambda: hanging, seconds=SOON, clock=clock)


def hang(hanging, prompt_keeper):
    hanging.let_go.clear()
    prompt_keeper.seconds = 0.05
    with pytest.raises(UnreachableError, match=UNREACHABLE):
        prompt_keeper.revision("AAAAAA")
    prompt_keeper.seconds = SOON


def test_who_asks_a_database_that_hangs_is_answered_and_what_hangs_is_ended(hanging, prompt_keeper):
    hang(hanging, prompt_keeper)
    assert hanging.aborted == 1


def test_for_a_moment_nobody_else_waits_then_one_finds_out(hanging, prompt_keeper, clock):
    hang(hanging, prompt_keeper)
    for _ in range(30):
        with pytest.raises(UnreachableError):
            prompt_keeper.revision("BBBBBB")
    assert hanging.asked == ["AAAAAA"], "thirty students were refused at once"
    clock.now += REST_SECONDS
    assert prompt_keeper.revision("CCCCCC") == prompt_keeper.revision("DDDDDD") == -1


def test_what_was_given_up_before_it_was_asked_is_never_asked(hanging, prompt_keeper):
    prompt_keeper.revision("first")
    hanging.let_go.clear()
    hanging.abort = lambda: None
    prompt_keeper.seconds, refused = 0.05, []

    def ask(code):
        with pytest.raises(UnreachableError):
            prompt_keeper.revision(code)
        refused.append(code)

    threads = [threading.Thread(target=ask, args=(f"{n}",)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert len(refused) == 5
    hanging.let_go.set()
    prompt_keeper._asks.submit(int).result(SOON)  # the thread that asks is free again
    assert len(hanging.asked) == 2


def test_a_page_that_waits_is_told_so(hanging, clock):
    seen = []

    class Waiting:
        def __enter__(self):
            seen.append(len(hanging.asked))

        def __exit__(self, *_):
            seen.append(len(hanging.asked))

    assert PromptKeeper(lambda: hanging, Waiting, clock=clock).revision("AAAAAA") == -1
    assert seen == [0, 1]


def test_a_refusal_is_an_answer(prompt_keeper):
    with pytest.raises(RefusedError, match=NO_CLASS.split(":")[0]) as refused:
        prompt_keeper.look("AAAAAA")
    assert not isinstance(refused.value, UnreachableError) and prompt_keeper.problem is None
    with pytest.raises(AttributeError):
        prompt_keeper.no_such_deed("AAAAAA")


def test_a_failure_is_one_line_a_kind_and_told_for_a_while(hanging, prompt_keeper, clock, caplog, whole_records):
    assert prompt_keeper.problem is None
    for _ in range(3):
        hang(hanging, prompt_keeper)
        hanging.let_go.set()
        clock.now += REST_SECONDS
        with hanging._lock:  # the one that hung may only now be at it
            hanging._connection.close()
        for _ in range(3):
            with pytest.raises(UnreachableError):
                prompt_keeper.look("AAAAAA")
        hanging._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        hanging._make_tables()
    ours = [line for line in caplog.records if line.name == prompt.__name__]
    assert [type(line.exc_info[1].__cause__).__name__ for line in ours] == ["NoneType", "ProgrammingError"]
    assert {line.levelno for line in ours} == {logging.ERROR} and not any(line.args for line in ours)
    assert prompt_keeper.problem == "the database of the classes fails; the log says how"
    clock.now += TOLD_SECONDS
    assert prompt_keeper.problem is None
    clock.now += LOG_SECONDS
    hang(hanging, prompt_keeper)
    assert len([line for line in caplog.records if line.name == prompt.__name__]) == 3


def test_postgres_that_freezes_stops_refuses_and_comes_back(postgres):
    pytest.importorskip("psycopg", reason="no psycopg here: install requirements-classes.txt")
    from classes.postgres import PostgresKeeper

    keeper = PostgresKeeper(postgres.url)
    asks = PromptKeeper(lambda: keeper)
    code, key = asks.open_class()
    asks.ask(code, key, 0, 2, "?")
    for end, begin in ((postgres.freeze, postgres.thaw), (postgres.stop, postgres.start)):
        end()
        asks.seconds = 0.2
        try:
            for deed in (partial(asks.vote, code, "a", 1, "open", 1), partial(asks.revision, code)):
                with pytest.raises(UnreachableError):
                    deed()
        finally:
            begin()
            asks.seconds = SOON
        wait_until(lambda: answers(asks), SOON)
        asks.vote(code, "a", 1, "open", 1)
        assert keeper.votes(code, 1, 2).first == (0, 1) and asks.look(code).stage == "open"
    asks.close(code, key)


def answers(asks):
    with contextlib.suppress(UnreachableError):
        return asks.revision("") == -1


def test_sqlite_that_is_locked_or_full_is_answered_in_time_and_goes_on(tmp_path):
    keeper = Keeper(tmp_path)
    prompt_keeper = PromptKeeper(lambda: keeper, seconds=0.1)
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, 2, "?")
    other = sqlite3.connect(tmp_path / "classes.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnreachableError):
        prompt_keeper.vote(code, "a", 1, "open", 0)
    other.execute("ROLLBACK")
    keeper._connection.execute("PRAGMA max_page_count = 1")  # as on a disk that is full
    with pytest.raises(UnreachableError):
        for token in range(1000):
            keeper.vote(code, str(token), 1, "open", 0)
    keeper._connection.execute("PRAGMA max_page_count = 1000000")
    keeper.vote(code, "a", 1, "open", 1)
    assert keeper.own(code, "a", 1) == {1: 1}
