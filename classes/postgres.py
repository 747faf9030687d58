"""The same keeper for several processes: PostgreSQL, with the statements of `keeper`.

PostgreSQL and not Redis: the statements are the same, a vote is one of them there as well, and what was answered is on
disk. It needs the package of `requirements-classes.txt`.
"""

from collections.abc import Callable, Sequence

import psycopg

from classes.keeper import UNREACHABLE, Keeper
from classes.stages import RefusedError

CONNECT_SECONDS = 3
MAKING_TABLES = 20_260  # any number: two processes that make the tables at the same time wait for each other


class PostgresKeeper(Keeper):
    """Classes in a database: postgresql://user:password@host/name."""

    begin = "BEGIN"
    of_a_class = "FOR SHARE OF c"  # nobody closes a vote while another one is written, and the other way round

    now = "extract(epoch FROM clock_timestamp())::double precision"

    def __init__(self, url: str):
        self._start()
        self.outlives_process = True
        self._url, self._connection = url, None
        with self._changing():
            self._run("SELECT pg_advisory_xact_lock(?)", MAKING_TABLES)
            self._make_tables()

    def _execute(self, statement: str, values: Sequence[object], result: Callable[[object], object]):
        """Where the connection is lost, once more with a new one: what was sent twice is done once."""
        with self._lock:
            for _ in range(1 if self._inside else 2):
                try:
                    if self._connection is None or self._connection.closed:
                        self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_SECONDS)
                    return result(self._connection.execute(self._spoken(statement).replace("?", "%s"), values))
                except psycopg.OperationalError as error:
                    reason = error
                except psycopg.Error as error:
                    raise RefusedError(UNREACHABLE) from error
        raise RefusedError(UNREACHABLE) from reason
