"""What is measured of a model once a machine: in the background, kept as JSON beside the weights that were measured.

What there is to measure is no matter of this file: it is a function of the model, and has a name and a version, which
goes up when it comes to measure something else.
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from models.disk import move_into_place, one_process
from models.opening import SharedModel
from models.store import stored_file

Say = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Measured:
    """How much of the work is done, from 0 to 1; what was measured, once it is; or why it could not be."""

    done: float = 0.0
    value: object = None
    error: Exception | None = None

    @property
    def runs(self) -> bool:
        """True while it may still change by itself."""
        return self.value is None and self.error is None


class Ended(Exception):
    """The process ends: nobody waits for what is measured."""


class Measurement:
    """One thing that can be measured of any model: once a machine, and by one thread of each process.

    `measure` is handed the model and a function that it tells how much is done; what it returns is kept as JSON. All
    methods may be called by any thread, and none of them waits but `wait`.
    """

    def __init__(self, name: str, version: int, measure: Callable[[SharedModel, Say], object]):
        self.name, self.version, self.measure = name, version, measure
        self._changing = threading.Lock()
        self._found: dict[Path, Measured] = {}
        self._threads: dict[Path, threading.Thread] = {}

    def of(self, model: SharedModel) -> Measured:
        """What was measured of a model, or how far it is: the first who asks begins it."""
        file = self.file_of(model)
        with self._changing:
            if file not in self._found:
                kept = read_kept(file)
                self._found[file] = Measured(value=kept)
                if kept is None:
                    self._threads[file] = threading.Thread(target=self._run, args=(file, model), name=self.name)
                    self._threads[file].start()
            return self._found[file]

    def wait(self, model: SharedModel) -> Measured:
        """The same, when it has ended in one way or another."""
        self.of(model)
        thread = self._threads.get(self.file_of(model))
        if thread is not None:
            thread.join()
        return self.of(model)

    def file_of(self, model: SharedModel) -> Path:
        """Where it is kept: files of a model that have changed are another model."""
        weights = stored_file(model.files)
        return weights.with_name(f"{weights.stem}-{self.name}-{self.version}.json")

    def _run(self, file: Path, model: SharedModel) -> None:
        try:
            self._say(file, Measured(1.0, self._measure_once(file, model)))
        except Ended:
            pass
        except Exception as error:  # a thread must not end without a word: the page would wait for ever
            self._say(file, Measured(error=error))

    def _measure_once(self, file: Path, model: SharedModel) -> object:
        """By one process, while the others wait; kept where it can be."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with one_process(file.with_suffix(".lock"), go_on):
                value = read_kept(file)
                if value is None:
                    value = self._measure(file, model)
                    keep(file, value)
                return value
        except PermissionError:  # nothing can be kept in the folder: each process measures anew
            return self._measure(file, model)

    def _measure(self, file: Path, model: SharedModel) -> object:
        def say(done: float) -> None:
            go_on()
            self._say(file, replace(self._found[file], done=done))

        return json.loads(json.dumps(self.measure(model, say)))

    def _say(self, file: Path, now: Measured) -> None:
        with self._changing:
            self._found[file] = now


def go_on() -> None:
    """Stop a thread whose process ends."""
    if not threading.main_thread().is_alive():
        raise Ended


def read_kept(file: Path) -> object:
    """What was kept; None where there is nothing, or nothing that can be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep(file: Path, value: object) -> None:
    """Write it under another name until it is whole, where there is room for it."""
    new = file.with_suffix(".new")
    with suppress(OSError):  # a disk that is full: the process has it in memory
        new.write_text(json.dumps(value), encoding="utf-8")
        move_into_place(new, file)
