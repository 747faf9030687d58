"""Files that take long to make: one at a time for all visits, step by step, and then kept for a while."""

import logging
import secrets
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import BinaryIO

from attention_ui.process.turns import page_turn
from attention_ui.streamlit_insides import session_is_open
from runs.page_lock import Priority
from words import speaking

log = logging.getLogger(__name__)
KEPT_SECONDS = 600.0
UNSEEN_SECONDS = 120.0  # that nobody has looked at it: a page that waits looks after ten seconds at the latest
LOOK_SECONDS = 1.0
RESTS, LONGEST_REST = 3, 1.0  # times as long as the step before it; seconds
PART = 64 * 1024  # bytes that are read at a time
Write = Callable[[BinaryIO], Iterator[None]]
END = object()


@dataclass(eq=False)
class Export:
    """A file that a visit has asked for: `write` writes it, in some `n_steps`, in the language with this code.

    Two with the same `content` are the same file. It has no name on the disk, and is gone as soon as nobody holds it.
    """

    session: str
    content: object
    name: str
    write: Write
    n_steps: int
    code: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    done: int = 0  # steps
    seen: float = 0.0  # when its page looked at it last
    ended: float | None = None
    failed: bool = False
    size: int = 0  # bytes
    _file: BinaryIO | None = None
    _reading: threading.Lock = field(default_factory=threading.Lock)

    @property
    def share(self) -> float:
        """How much of it has been made, from 0 to 1."""
        return min(self.done / max(self.n_steps, 1), 1.0)

    def begin(self) -> BinaryIO:
        """The file to write into, empty."""
        self._file = file = tempfile.TemporaryFile()  # noqa: SIM115  closed when the export has gone
        weakref.finalize(self, file.close)
        return file

    def parts(self) -> Iterator[bytes]:
        """What has been written, part by part. Several may read it at once."""
        assert self._file is not None
        for place in range(0, self.size, PART):
            with self._reading:
                self._file.seek(place)
                part = self._file.read(PART)
            yield part


class Line:
    """The exports of all visits, at most one of each. One thread makes them in the order in which they came; each step
    takes a `turn`, and rests after it: what computes beside pages slows them down outside their turns, too.

    It is there while there is something to make or to keep. What belongs to a visit that is not open any more is
    forgotten.
    """

    def __init__(
        self,
        turn: Callable[[], AbstractContextManager[object]],
        is_open: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._turn, self._is_open, self._clock = turn, is_open, clock
        self._exports: dict[str, Export] = {}
        self._lock = threading.RLock()
        self._pressed = threading.Event()
        self._thread: threading.Thread | None = None

    def join(self, export: Export) -> None:
        """Stand at the end, unless something of this visit stands there already. What it had is forgotten."""
        with self._lock:
            held = self._exports.get(export.session)
            if held is not None and held.ended is None:
                return
            self._exports.pop(export.session, None)
            self._exports[export.session] = export
            export.seen = self._clock()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="exports", daemon=True)
                self._thread.start()
        self._pressed.set()

    def of(self, session: str) -> Export | None:
        """What a visit has asked for, if it is still here: its page looks at it."""
        with self._lock:
            self._forget()
            export = self._exports.get(session)
            if export is not None:
                export.seen = self._clock()
            return export

    def before(self, export: Export) -> int:
        """How many files are made before this one."""
        with self._lock:
            waiting = self._waiting()
            return waiting.index(export) if export in waiting else 0

    def found(self, token: str) -> Export | None:
        """The file with this token, if it has been made and is still here."""
        with self._lock:
            self._forget()
            made = (export for export in self._waiting(ended=True) if not export.failed)
            return next((export for export in made if export.token == token), None)

    def leave(self, session: str) -> None:
        """Forget what a visit has asked for, made or not."""
        with self._lock:
            self._exports.pop(session, None)

    def stop(self) -> None:
        """Forget everything, and wait for the end of the step that is made just now."""
        with self._lock:
            self._exports.clear()
            thread = self._thread
        self._pressed.set()
        if thread is not None:
            thread.join()

    def _waiting(self, ended: bool = False) -> list[Export]:
        return [export for export in self._exports.values() if (export.ended is not None) == ended]

    def _forget(self) -> None:
        """What is too old, what nobody waits for any more, and what belongs to no open visit."""
        now = self._clock()
        for session, export in list(self._exports.items()):
            old = now - export.seen > UNSEEN_SECONDS if export.ended is None else now - export.ended > KEPT_SECONDS
            if old or not self._is_open(session):
                del self._exports[session]

    def _work(self) -> None:
        """Make one after the other, until there is nothing left."""
        while True:
            with self._lock:
                self._forget()
                if not self._exports:
                    self._thread = None
                    return
                first = next(iter(self._waiting()), None)
            if first is not None:
                self._make(first)
            else:
                self._pressed.wait(LOOK_SECONDS)
                self._pressed.clear()

    def _make(self, export: Export) -> None:
        """Make one file. What goes wrong its page and the log are told; it holds up nobody else."""
        file = export.begin()
        try:
            with speaking(export.code):
                self._write(export, file)
            export.size = file.tell()
        except Exception:
            log.exception("a file could not be made")
            export.failed = True
        export.ended = self._clock()

    def _write(self, export: Export, file: BinaryIO) -> None:
        """Write it as long as somebody waits for it."""
        steps = export.write(file)
        while self._step(steps):
            export.done += 1
            with self._lock:
                self._forget()
                if self._exports.get(export.session) is not export:
                    return

    def _step(self, steps: Iterator[None]) -> bool:
        """Go one step, and rest; False where there is none left."""
        with self._turn():
            began = self._clock()
            is_left = next(steps, END) is not END
            took = self._clock() - began
        if is_left:
            time.sleep(min(RESTS * took, LONGEST_REST))
        return is_left


@lru_cache(maxsize=1)
def exports() -> Line:
    """The line of this process. Pages go before it, and so does whatever else is computed."""
    return Line(partial(page_turn, Priority.NOBODY_WAITS), session_is_open)
