"""Starting a Streamlit server as a visitor's teacher would, watching its memory, and ending it again."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
OURS = ROOT
ORDINARY = ROOT / "benchmarks" / "ordinary"
NO_CHART = ROOT / "benchmarks" / "no_chart"
ONE_CHART = ROOT / "benchmarks" / "one_chart"
NO_FIGURE = "benchmarks/no_figure.py"  # run from our folder, with our settings
START_SECONDS = 60.0
END_SECONDS = 5.0


@dataclass(frozen=True)
class Resident:
    """What a process has in memory, in megabytes (2²⁰ bytes).

    Pages of files lie there once for all processes, and can be had again from the disk.
    """

    own: float
    files: float

    @property
    def whole(self) -> float:
        """Both."""
        return self.own + self.files


def resident(process: int | str = "self") -> Resident:
    """The resident memory of a process. Raises RuntimeError where the system does not tell."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    kilobytes = {
        name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in status) if "kB" in value
    }
    if "RssAnon" not in kilobytes:
        raise RuntimeError("the system does not tell how much memory a process has")
    return Resident(kilobytes["RssAnon"] / 1024, (kilobytes["RssFile"] + kilobytes["RssShmem"]) / 1024)


def private(process: int) -> float:
    """The memory that a process shares with no other, in megabytes; 0 where it has just ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def computed(process: int) -> float:
    """The seconds that a process has computed so far; 0 where it has just ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """`streamlit run app.py` in a folder, from `with` to the end of its block."""

    def __init__(self, folder: Path, *options: str, script: str = "app.py", begin: Callable[[], object] | None = None):
        self.folder = folder
        self.script = script
        self.options = options
        self.begin = begin  # what its process does first
        self.port = free_port()
        self.started = 0.0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> "Server":
        self.started = time.perf_counter()
        command = [sys.executable, "-m", "streamlit", "run", self.script]
        command += ["--server.port", str(self.port), "--server.address", "127.0.0.1", "--server.headless", "true"]
        self._process = subprocess.Popen(
            [*command, *self.options],
            cwd=self.folder,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            preexec_fn=self.begin,
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._log.close()

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> float:
        """The resident memory of the server, and what its worker has for itself, in megabytes (2²⁰ bytes)."""
        return self.resident().whole + sum(map(private, self.children()))

    def resident(self) -> "Resident":
        """The same, what is its own told apart from pages of files."""
        return resident(self._process.pid)

    def own_cpu_seconds(self) -> float:
        """The time that its threads have computed so far."""
        return computed(self._process.pid)

    def cpu_seconds(self) -> float:
        """The time that the server's threads and its worker have computed so far."""
        return self.own_cpu_seconds() + sum(map(computed, self.children()))

    def children(self) -> list[int]:
        """The processes that it has started and that have not ended."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    @property
    def was_killed(self) -> bool:
        """True after it was ended from outside, as by a kernel that has no memory left for it."""
        return self._process.poll() == -signal.SIGKILL

    def kill(self) -> None:
        """End it as a machine that dies."""
        self._process.kill()
        self._process.wait()

    def log(self) -> str:
        """Everything it has printed."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def complaints(self) -> list[str]:
        """Lines of the log that speak of errors or warnings."""
        words = ("Traceback", "Error", "error", "Warning", "warning", "Exception")
        return [line for line in self.log().splitlines() if any(word in line for word in words)]

    def _wait_until_ready(self) -> None:
        while time.perf_counter() - self.started < START_SECONDS:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server in {self.folder} ended at once:\n{self.log()}")
            if is_healthy(self.url):
                return
            time.sleep(0.02)
        raise TimeoutError(f"the server in {self.folder} was not ready after {START_SECONDS:.0f} s:\n{self.log()}")

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()


class Fleet:
    """Several servers of one folder, as behind a proxy that keeps each visitor with the same one of them."""

    def __init__(self, count: int, folder: Path, *options: str):
        self.folder, self.options = folder, options
        self.servers = [Server(folder, *options) for _ in range(count)]
        self._killed: list[Server] = []
        self._running = ExitStack()

    def __enter__(self) -> "Fleet":
        with ExitStack() as starting:
            for server in self.servers:
                starting.enter_context(server)
            self._running = starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def start_again(self, place: int) -> None:
        """A new server where one was killed."""
        self._killed.append(self.servers[place])
        self.servers[place] = self._running.enter_context(Server(self.folder, *self.options))

    def port(self, visitor: int) -> int:
        """Where the proxy sends this visitor."""
        return self.servers[visitor % len(self.servers)].port

    def memory(self) -> float:
        """The resident memory of the server that has most, in megabytes."""
        return max(server.memory() for server in self.servers)

    def cpu_seconds(self) -> float:
        """The time that all have computed so far."""
        return sum(server.cpu_seconds() for server in self.servers)

    def log(self) -> str:
        """Everything they have printed."""
        return "".join(server.log() for server in [*self._killed, *self.servers])

    def complaints(self) -> list[str]:
        """Lines of the logs that speak of errors or warnings."""
        return [line for server in [*self._killed, *self.servers] for line in server.complaints()]


def is_healthy(url: str) -> bool:
    """True when the server answers that it is well."""
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
