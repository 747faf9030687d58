"""A real PostgreSQL for the tests: started in a folder of its own, reached by a socket there, ended with them."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


class Postgres:
    """One server; it refuses to run as root, so there it runs as the user that its package brings."""

    def __init__(self):
        if BIN is None:
            pytest.skip("no PostgreSQL here: install it (Debian: apt install postgresql)")
        self.folder = Path(tempfile.mkdtemp(prefix="votes-"))  # short: the path of a socket may have 107 characters
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.call("initdb", "--username", "lab", "--auth", "trust", "--no-sync", "--pgdata", self.folder / "data")

    @property
    def url(self):
        return f"postgresql://lab@/postgres?host={self.folder}"

    def call(self, program, *arguments):
        done = subprocess.run(
            [BIN / program, *arguments],
            user=self.user,
            cwd=self.folder,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        log = self.folder / "log"
        self.call("pg_ctl", "start", "--wait", "-D", self.folder / "data", "-l", log, "-o", options)

    def stop(self):
        self.call("pg_ctl", "stop", "--mode", "immediate", "-D", self.folder / "data")  # as if it were killed

    def freeze(self):
        """Stop all its processes where they are: the system still takes what is sent to them, and nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def _signal(self, what):
        parent = (self.folder / "data" / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for process in (parent, *children):
            with contextlib.suppress(ProcessLookupError):  # it had served its client
                os.kill(int(process), what)

    def end(self):
        self.stop()
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def running_postgres():
    """A server that runs until the block is left."""
    server = Postgres()
    server.start()
    try:
        yield server
    finally:
        server.end()
