"""A keeper of classes for several processes: PostgreSQL, with the statements of `keeper`.

PostgreSQL and not Redis: the statements are the same, a vote is one of them there as well, and what was answered is on
disk. It needs the package of `requirements-classes.txt`.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any, LiteralString, cast

import psycopg

from classes.keeper import LIMIT_SECONDS, TABLES, UNREACHABLE, Keeper
from classes.stages import UnreachableError

MAKING_TABLES = 20_260  # any number: two processes that make the tables at the same time wait for each other
# The server ends what takes longer, and what a process has begun that hangs: others wait for its locks.
LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout")


class PostgresKeeper(Keeper):
    """Classes in a database: postgresql://user:password@host/name. It connects when it is first asked something."""

    begin = "BEGIN"
    of_a_class = "FOR SHARE OF c"  # nobody closes a vote while another one is written, and the other way round
    now = "extract(epoch FROM clock_timestamp())::double precision"

    def __init__(self, url: str):
        self._start()
        self.outlives_process = True
        self._url, self._aborted = url, False
        self._connection: psycopg.Connection | None = None

    def abort(self) -> None:
        """Close the way to the server: the thread that waits for it is told so. The connection itself is not safe in
        two threads.
        """
        self._aborted = True
        connection = self._connection
        with contextlib.suppress(OSError, psycopg.Error):  # it may be closed by now
            if connection is not None:
                way = socket.socket(fileno=os.dup(connection.fileno()))
                with way:
                    way.shutdown(socket.SHUT_RDWR)

    def _execute(self, statement: str, values: Sequence[object], result: Callable[[Any], Any]) -> Any:
        """Where the connection was lost, once more with a new one: what was sent twice is done once."""
        spoken = cast(LiteralString, self._spoken(statement).replace("?", "%s"))  # no visitor's text is in it
        with self._lock:
            self._aborted = False
            try:
                try:
                    return result(self._connected().execute(spoken, values))
                except psycopg.OperationalError:
                    lost = self._connection is not None and self._connection.closed
                    if self._inside or self._aborted or not lost:
                        raise
                    return result(self._connected().execute(spoken, values))
            except psycopg.Error as error:
                raise UnreachableError(UNREACHABLE) from error

    def _connected(self) -> psycopg.Connection:
        """The connection; where there is none any more, a new one to a database that has the tables."""
        if self._connection is None or self._connection.closed:
            self._connection = None  # until there is one
            self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=int(LIMIT_SECONDS))
            try:
                self._prepare(self._connection)
            except BaseException:
                self._connection.close()
                raise
        return self._connection

    def _prepare(self, connection: psycopg.Connection) -> None:
        for limit in LIMITS:
            connection.execute(cast(LiteralString, f"SET {limit} = {round(1000 * LIMIT_SECONDS)}"))  # milliseconds
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING_TABLES,))
            for table in TABLES:
                connection.execute(table)
