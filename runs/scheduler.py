"""One thread that trains for everybody, in short turns.

A thread for each run would make them fight over the interpreter and starve the pages; one thread that gives each
recording some milliseconds in turn is fair. What it gives them is computed in a process of its own where there is one,
else in the same line as the pages. Recordings of one shape, such as those of a class that trains the same model with
different seeds, have their turn together.
"""

import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor

from attention_core.learning.training import TrainingSettings, stack_shape
from runs.page_lock import PageLock, Priority
from runs.recording import Recording, TakeTurn, record_together
from runs.run import TrainingRun

MAX_RECORDINGS = 8
LANES = 2  # groups of runs that are on their way at once: while one is computed beside, the other is made ready here
NUMBERS_TOGETHER = 2**16  # features of all tokens of a stack's batches: more would leave the processor's cache


class Scheduler:
    """Records what somebody trains and watches; shares a recording among all who ask for the same settings.

    A run that nobody has looked at for `patience_seconds` is left where it is, and goes on when somebody looks again.
    At most `max_recordings` are kept, or as many as somebody has a run on; those used longest ago go first.

    `beside` takes turns outside this process, where one can, and says None where not: then they stand in line with the
    pages.
    """

    IDLE_SECONDS = 0.5

    def __init__(
        self,
        pages: PageLock | None = None,
        *,
        turn_seconds: float = 0.020,
        patience_seconds: float = 60.0,
        max_recordings: int = MAX_RECORDINGS,
        clock: Callable[[], float] = time.monotonic,
        beside: Callable[[], TakeTurn | None] = lambda: None,
    ):
        self.turn_seconds = turn_seconds
        self.patience_seconds = patience_seconds
        self.max_recordings = max_recordings
        self._pages = PageLock() if pages is None else pages
        self._clock = clock
        self._beside = beside
        self._recordings: OrderedDict[TrainingSettings, Recording] = OrderedDict()  # the last used at the end
        self._runs: weakref.WeakSet[TrainingRun] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._something_to_do = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._lanes = ThreadPoolExecutor(LANES, "training beside")

    def start(self) -> None:
        """Start the thread; a second call does nothing."""
        with self._lock:
            if not self.alive:
                self._stopping.clear()
                self._thread = threading.Thread(target=self._work, name="training", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread after its present turn; the recordings stay."""
        with self._lock:
            thread, self._thread = self._thread, None
        self._stopping.set()
        self._something_to_do.set()
        if thread is not None:
            thread.join()

    @property
    def alive(self) -> bool:
        """True while the thread runs; when it is gone, every training stands still."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def open(self, settings: TrainingSettings) -> TrainingRun:
        """A new run, standing at step 0 of the recording for these settings. Raises ValueError where there is none."""
        with self._lock:
            recording = self._recordings[settings] = self._recordings.get(settings) or Recording(settings)
            self._recordings.move_to_end(settings)
            run = TrainingRun(recording, wake=self._something_to_do.set, clock=self._clock)
            self._runs.add(run)
            self._forget_recordings()
            return run

    def wanted(self) -> dict[Recording, int]:
        """The recordings to go on with, and how far: those whose learners want more and still watch."""
        until = {}
        for run in self.watched():
            until[run.recording] = max(run.goal, until.get(run.recording, 0))
        return until

    def watched(self) -> list[TrainingRun]:
        """The runs that are trained and looked at: several of one recording where several watch it."""
        with self._lock:
            runs = list(self._runs)
        oldest = self._clock() - self.patience_seconds
        return [run for run in runs if run.training and run.last_seen >= oldest]

    def _forget_recordings(self) -> None:
        in_use = {run.recording for run in self._runs}
        unused = [settings for settings, recording in self._recordings.items() if recording not in in_use]
        for settings in unused[: max(0, len(self._recordings) - self.max_recordings)]:
            del self._recordings[settings]

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._something_to_do.clear()
            wanted = self.wanted()
            if not wanted:
                self._something_to_do.wait(self.IDLE_SECONDS)
                with self._lock:
                    self._forget_recordings()
            if (take := self._beside()) is not None:
                wanted = self._take_turns_beside(take, wanted)
            for group in of_one_shape(wanted):
                with self._pages.page(Priority.NOBODY_WAITS, early=True):
                    if self._stopping.is_set():
                        return
                    over = self._clock() + self.turn_seconds
                    record_together(group, lambda over=over: self._clock() >= over)

    def _take_turns_beside(self, take: TakeTurn, wanted: Mapping[Recording, int]) -> dict[Recording, int]:
        """Give each group a turn, and return the others: those that need PyTorch, which only the server has."""
        beside = {one: until for one, until in wanted.items() if one.settings.engine == "numpy"}
        list(self._lanes.map(lambda group: record_together(group, lambda: True, take), of_one_shape(beside, LANES)))
        return {one: until for one, until in wanted.items() if one not in beside}


def of_one_shape(wanted: Mapping[Recording, int], lanes: int = 1) -> list[dict[Recording, int]]:
    """The recordings that can be trained together, and quicker so than one after the other; a group for each lane."""
    groups: dict[Hashable, list[dict[Recording, int]]] = {}
    share = math.ceil(len(wanted) / lanes)
    for recording, until in wanted.items():
        settings = recording.settings
        most = NUMBERS_TOGETHER // (settings.batch_size * settings.task.window * settings.model.d_model)
        alike = groups.setdefault(stack_shape(settings), [{}])
        if len(alike[-1]) >= max(1, min(most, share)):
            alike.append({})
        alike[-1][recording] = until
    return [group for alike in groups.values() for group in alike]
