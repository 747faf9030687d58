"""The PostgreSQL of the tests, for measurements of servers that share their classes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests" / "classes"))

from databases import BIN, Postgres
from report import lack

from classes.postgres import PostgresKeeper


@contextmanager
def shared_database() -> Iterator[tuple[Postgres, PostgresKeeper]]:
    """A database in which all servers that start meanwhile keep their classes."""
    if BIN is None:
        lack("there is no PostgreSQL")
    database = Postgres()
    database.start()
    os.environ["ATTENTION_LAB_CLASSES_URL"] = database.url
    try:
        yield database, PostgresKeeper(database.url)
    finally:
        database.end()
