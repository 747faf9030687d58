"""Warnings and errors as one line of JSON each, with nothing in them that a visitor wrote.

A traceback's last line is a message, and messages quote what was typed. So of what others log only the
kind and the place are kept; the words are kept of our own loggers, whose messages are constants. Whoever can make the
server complain can do so without end: of each minute so many lines are written, then how many were not.
"""

import hashlib
import json
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

SOURCE = Path(__file__).resolve().parent.parent.parent
STYLE = "ATTENTION_LAB_LOG"  # "full" for a developer: tracebacks with all their words
OURS = ("attention_core", "lessons", "runs", "models", "worker", "classes", "words", "attention_ui", "pages", "app")
SALT = os.urandom(16)  # so that a hash tells two visitors apart, today, and nothing else

log = logging.getLogger(__name__)


def log_without_words(session: Callable[[], str | None]) -> None:
    """From now on every warning and error of this process is written so. `session` names whose page is computed."""
    if os.environ.get(STYLE) == "full":
        return
    make, quota = logging.getLogRecordFactory(), Quota()

    def record(*args: object, **more: object) -> logging.LogRecord:
        made = make(*args, **more)
        if made.levelno >= logging.WARNING:
            who = session()
            count = 0 if made.levelno >= logging.CRITICAL else quota.take(who)
            made.left_out = count is None
            found = described(made, who) | ({"left_out": count} if count else {})
            line = json.dumps(found, ensure_ascii=False)
            made.msg, made.args, made.exc_info, made.stack_info = "%s", (line,), None, None
        return made

    logging.setLogRecordFactory(record)
    threading.excepthook = lambda caught: log.error("a thread ended with an error", exc_info=caught[:3])
    sys.excepthook = lambda *caught: log.critical("the process ended with an error", exc_info=caught)


def bare_lines() -> None:
    """Let the handlers there are print the line alone, without a prefix that a reader of JSON stumbles over."""
    loggers = [logging.getLogger(), *map(logging.getLogger, tuple(logging.root.manager.loggerDict))]
    for handler in {handler for logger in loggers for handler in logger.handlers}:
        handler.setFormatter(logging.Formatter("%(message)s"))
        handler.addFilter(lambda record: not getattr(record, "left_out", False))


class Quota:
    """How many lines may still be written in this minute, by all and by one visit."""

    SECONDS, MOST, MOST_OF_ONE = 60.0, 60, 10

    def __init__(self) -> None:
        self._lock, self._ends = threading.Lock(), 0.0
        self._written: Counter[str | None] = Counter()
        self._left_out, self._timer = 0, threading.Timer(0, self.tell)

    def take(self, session: str | None) -> int | None:
        """Take one line for this visit: how many were left out before it. None where there is no line left to take."""
        with self._lock:
            now = time.monotonic()
            if now >= self._ends:
                self._ends = now + self.SECONDS
                self._written.clear()
            few = session is None or self._written[session] < self.MOST_OF_ONE
            if few and self._written.total() < self.MOST:
                self._written[session] += 1
                count, self._left_out = self._left_out, 0
                return count
            if not self._timer.is_alive():
                self._timer = threading.Timer(self._ends - now, self.tell)
                self._timer.daemon = True
                self._timer.start()
            self._left_out += 1
            return None

    def tell(self) -> None:
        """Write a line for those that were left out, unless another has told of them."""
        if self._left_out:
            log.warning("lines like these were left out")


def described(record: logging.LogRecord, session_id: str | None) -> dict[str, object]:
    """What may be logged of an event."""
    found: dict[str, object] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
        "level": record.levelname.lower(),
        "logger": record.name,
        "line": f"{record.module}:{record.lineno}",
    }
    if record.name.split(".")[0] in OURS and not record.args:
        found["event"] = record.msg
    if session_id is not None:
        found["session"] = hashlib.blake2s(session_id.encode(), key=SALT, digest_size=6).hexdigest()
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        found["error"] = kinds(error)
        found["frames"] = our_frames(error.__traceback__)
    return found


def kinds(error: BaseException | None) -> list[str]:
    """The type of an error, then of what caused it."""
    found: list[str] = []
    while error is not None and len(found) < 5:
        found.append(f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins."))
        error = error.__cause__ or error.__context__
    return found


def our_frames(traceback: TracebackType | None) -> list[str]:
    """Where in our own files it happened, the outermost first."""
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        file = Path(code.co_filename)
        if file.is_relative_to(SOURCE) and "site-packages" not in file.parts:
            frames.append(f"{file.relative_to(SOURCE).as_posix()}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return frames
