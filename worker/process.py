"""One process that computes beside the server, so that a page which only draws need not wait for arithmetic.

What it is asked for are functions of what they are given alone, in modules that import neither Streamlit nor PyTorch.
So it knows nothing that would be lost with it: where it is killed, it is started again, and what was asked is asked
again. Where it does not run, whoever asks computes.
"""

import itertools
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from worker.messages import packed, read, send

log = logging.getLogger(__name__)
Result = TypeVar("Result")
# glibc keeps so many bytes that a step of training has freed: the next one takes them again. See malloc_trim(3).
KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_MMAP_THRESHOLD_": "4194304"}
TIMES = 2  # that the same is asked of it


class Gone(Exception):
    """The process has ended before it could answer."""

    def __init__(self):
        super().__init__("the process that computes has ended twice meanwhile")


class Process:
    """A process that runs, and what it has been asked for. All methods may be called by any thread."""

    def __init__(self):
        command = [sys.executable, str(Path(__file__).resolve().parent)]
        environment = {**os.environ, **KEPT_MEMORY}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert self._process.stdin is not None and self._process.stdout is not None  # as they are pipes
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._numbers = itertools.count()
        self._asked: dict[int, Future] = {}
        self._writing = threading.Lock()
        threading.Thread(target=self._read, name="answers of the worker", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    def compute(self, function: Callable[..., Result], *arguments: object) -> Result:
        """What a function gives. Raises what it raises, and `Gone`."""
        number, answer = next(self._numbers), Future()
        request = packed((number, function, arguments))
        self._asked[number] = answer
        try:
            with self._writing:
                send(self._requests, request)
        except (OSError, ValueError):
            raise Gone from None
        return answer.result()

    def end(self) -> None:
        """End it, whatever it computes."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        while (answer := read(self._answers)) is not None:
            number, error, result = answer
            future = self._asked.pop(number)
            future.set_result(result) if error is None else future.set_exception(error)
        self.end()
        for future in list(self._asked.values()):
            with suppress(Exception):
                future.set_exception(Gone())


class Worker:
    """The process, or the next one in the place of one that has ended."""

    def __init__(self):
        self._process: Process | None = None
        self._changing = threading.Lock()

    @property
    def runs(self) -> bool:
        """True where there is a process."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """Its number in the system."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it; a second call does nothing."""
        with self._changing:
            if self._process is None:
                self._start()

    def stop(self) -> None:
        """End it, and start no other."""
        with self._changing:
            process, self._process = self._process, None
        if process is not None:
            process.end()

    def compute(self, function: Callable[..., Result], *arguments: object) -> Result:
        """What a function gives, computed in the process where there is one. Raises what the function raises."""
        for _ in range(TIMES):
            process = self._process
            if process is None:
                break
            try:
                return process.compute(function, *arguments)
            except Gone:
                self._renew(process)
        else:
            raise Gone  # what ends it twice would end the server as well
        return function(*arguments)

    def _renew(self, ended: Process) -> None:
        """Start another, whoever of several threads sees first that it has ended."""
        with self._changing:
            if self._process is ended:
                log.warning("the worker has ended and is started again")
                self._start()

    def _start(self) -> None:
        try:
            self._process = Process()
        except OSError:
            self._process = None
            log.exception("the worker cannot be started: the server computes by itself")


WORKER = Worker()
