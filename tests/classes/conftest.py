"""Every test of the keeper runs with SQLite and with PostgreSQL."""

import pytest
from databases import running_postgres

from classes.keeper import Keeper


class Clock:
    """The time of a database, which stands until somebody moves it."""

    now = 1_000_000

    def of(self, kind):
        """This kind of keeper, in a database with this time."""
        return type(kind.__name__, (kind,), {"now": property(lambda _: str(self.now))})


@pytest.fixture(scope="session")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def keeper(request, clock, tmp_path):
    if request.param == "sqlite":
        return clock.of(Keeper)(tmp_path)
    pytest.importorskip("psycopg", reason="no psycopg here: install requirements-classes.txt")
    from classes.postgres import PostgresKeeper

    kept = clock.of(PostgresKeeper)(request.getfixturevalue("postgres").url)
    kept._run("DELETE FROM classes")
    return kept


@pytest.fixture
def room(keeper):
    """A class that has been asked a question with three cards."""
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, 3, "the first question")
    return code, key
