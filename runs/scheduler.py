"""One thread that trains for everybody, in short turns.

A thread for each run would make them fight over the interpreter and starve the pages; one thread that
gives each growing recording 10 ms in turn is fair, and steps back while a page is being computed. A recording whose
steps take longer than that sits out rounds for it.
"""

import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attention_core.training import TrainingSettings
from runs.page_lock import Hurry, Turns
from runs.recording import FEWEST_SNAPSHOTS, Recording
from runs.run import TrainingRun


class Scheduler:
    """Grows the recordings that somebody plays and watches; shares a recording among all who ask for the same.

    `turn_seconds` is one recording's turn. A run that nobody has looked at for `patience_seconds` is left
    where it is, and goes on when somebody looks again. Tapes that nobody has a run on are forgotten unless
    they have ended; of those the longest unused go first, beyond `max_recordings` recordings. Beyond `max_growing`
    recordings at a time the ones that began to wait last stand in a queue, and see their place in it.

    Memory: a recording keeps at most MAX_SNAPSHOT_BYTES of weights, 2 MB, or two snapshots of a model larger than that,
    4 MB; while it can still grow, its optimiser and batches come to at most 6 MB more. A recording that nobody
    plays rests without these where it would soon be back: at once if that takes QUICKLY_BACK seconds, and SOON_BACK
    seconds once nobody has looked at it for `patience_seconds`. So `max_recordings` that have all ended hold 4 MB,
    with the largest models 8 MB; more are there only as long as somebody has a run on each of them. Where all
    together come to more than `max_bytes` of weights, they forget every second of their steps: first those that
    nobody has looked at for `patience_seconds`, down to FEWEST_UNWATCHED, then the fullest of the others, down to
    FEWEST_SNAPSHOTS.
    """

    COURTESY_SECONDS = 0.25  # the longest that training waits for pages, so that it never starves
    SENDING_SECONDS = 0.01  # in which a page that is computed goes out to its visitor
    IDLE_SECONDS = 0.5
    QUICKLY_BACK, SOON_BACK = 0.02, 0.1  # seconds, for which one step further on holds up a page, and so everybody
    SITS_OUT_SECONDS = 2.0  # at most, where steps are long: a recording should still move before its learner's eyes
    FEWEST_UNWATCHED = 4  # the beginning, the end and what lies between, for who comes back
    LOOKING_SECONDS = 10.0  # who has looked within this time looks again soon

    def __init__(
        self,
        *,
        turn_seconds: float = 0.010,
        patience_seconds: float = 60.0,
        max_recordings: int = 2,
        max_growing: int = 40,
        max_bytes: int = 8_000_000,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.turn_seconds = turn_seconds
        self.patience_seconds = patience_seconds
        self.max_recordings = max_recordings
        self.max_growing = max_growing
        self.max_bytes = max_bytes
        self._waiting: dict[Recording, None] = {}  # recordings that want to grow, those who asked first in front
        self._sits_out: weakref.WeakKeyDictionary[Recording, tuple[int, float]] = weakref.WeakKeyDictionary()
        self._clock = clock
        self._recordings: OrderedDict[TrainingSettings, Recording] = OrderedDict()
        self._opening: list[Recording] = []  # on which somebody will have a run in a moment
        self._runs: weakref.WeakSet[TrainingRun] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._something_to_do = threading.Event()
        self._pages = 0
        self._turns = Turns()
        self._no_page = threading.Event()
        self._no_page.set()
        self._last_page = -math.inf
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

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

    def open(self, settings: TrainingSettings, steps_per_second: float | None = None) -> TrainingRun:
        """A new run, standing at step 0 of the recording for these settings."""
        with self._lock:
            recording = self._recordings.get(settings) or Recording(settings)
            self._recordings[settings] = recording
            self._recordings.move_to_end(settings)
            self._opening.append(recording)
            self._forget_old_recordings()
        try:
            run = TrainingRun(recording, steps_per_second, wake=self._something_to_do.set, clock=self._clock)
            with self._lock:
                self._runs.add(run)
        finally:
            with self._lock:
                self._opening.remove(recording)
        return run

    @contextmanager
    def page(self, hurry: Hurry = Hurry.QUICK, *, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Training waits while a page is computed inside this context, and so do other pages, as in `Turns.turn`.

        Inside a page there may be another: it is part of the first.
        """
        if self._turns.inside:
            yield
            return
        with self._lock:
            self._pages += 1
            self._no_page.clear()
        try:
            with self._turns.turn(hurry, meanwhile=meanwhile):
                yield
        finally:
            with self._lock:
                self._pages -= 1
                self._last_page = time.monotonic()
                if self._pages == 0:
                    self._no_page.set()

    def let_pass(self, hurry: Hurry | None = None, *, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Inside a page: a good moment for pages in more of a hurry, as in `Turns.let_pass`. Elsewhere nothing."""
        self._turns.let_pass(hurry, meanwhile=meanwhile)

    def growing(self) -> dict[Recording, int]:
        """The recordings to grow now, and how far: the first `max_growing` that a run plays which somebody watches."""
        until = self._wanted()
        with self._lock:
            self._waiting = {recording: None for recording in (*self._waiting, *until) if recording in until}
            served = list(self._waiting)[: self.max_growing]
        return {recording: until[recording] for recording in served}

    def place_in_queue(self, run: TrainingRun) -> int:
        """0 for a run that is served, or wants nothing; else how many waiting recordings there are up to its own.

        A place becomes free when a recording is as far as its learners want it, or nobody watches it any more.
        """
        self.growing()
        with self._lock:
            place = list(self._waiting).index(run.recording) if run.recording in self._waiting else 0
        return max(0, place + 1 - self.max_growing)

    def watched(self) -> int:
        """How many runs play before somebody's eyes."""
        with self._lock:
            runs = list(self._runs)
        return sum(run.playing for run in self._seen_within(self.LOOKING_SECONDS, runs))

    def _seen_within(self, seconds: float, runs: list[TrainingRun]) -> list[TrainingRun]:
        """Those of the runs that somebody has looked at within so many seconds."""
        oldest = self._clock() - seconds
        return [run for run in runs if run.last_seen >= oldest]

    def _wanted(self) -> dict[Recording, int]:
        """Every recording that should grow, in the order in which they were opened, and how far."""
        with self._lock:
            order = {settings: i for i, settings in enumerate(self._recordings)}
            runs = list(self._runs)
        runs = self._seen_within(self.patience_seconds, runs)
        runs.sort(key=lambda run: order.get(run.recording.settings, len(order)))
        until: dict[Recording, int] = {}
        for run in runs:
            if not run.recording.ended and run.wanted > run.recording.newest:
                until[run.recording] = max(run.wanted, until.get(run.recording, 0))
        return until

    def _forget_old_recordings(self) -> None:
        in_use = {*self._opening, *(run.recording for run in self._runs)}
        for settings, recording in [
            (s, recording) for s, recording in self._recordings.items() if recording not in in_use
        ]:
            if not recording.ended or len(self._recordings) > self.max_recordings:
                del self._recordings[settings]

    def _make_room(self) -> None:
        """Let recordings rest, and thin them while all keep too much; never the steps at which somebody stands."""
        with self._lock:
            runs, opening = list(self._runs), set(self._opening)
            recordings = {*self._recordings.values(), *(run.recording for run in runs)}
        watched = opening | {run.recording for run in self._seen_within(self.patience_seconds, runs)}
        self._let_rest(recordings, watched, opening | {run.recording for run in runs if run.playing})
        surplus = sum(recording.snapshot_bytes for recording in recordings) - self.max_bytes
        fewest = {
            recording: FEWEST_SNAPSHOTS if recording in watched else self.FEWEST_UNWATCHED for recording in recordings
        }
        while surplus > 0 and (
            thick := [recording for recording in recordings if recording.can_be_thinned(fewest[recording])]
        ):
            first = max(thick, key=lambda recording: (recording not in watched, recording.snapshot_bytes))
            before = first.snapshot_bytes
            first.thin({run.position for run in runs if run.recording is first})
            if (freed := before - first.snapshot_bytes) <= 0:
                recordings.remove(first)
            surplus -= freed

    def _let_rest(self, recordings: set[Recording], watched: set[Recording], played: set[Recording]) -> None:
        """Whoever plays or looks must hardly wait for a recording that has rested."""
        for recording in recordings:
            seconds = self.QUICKLY_BACK if recording in watched else self.SOON_BACK
            if (
                recording.in_training
                and recording.seconds <= seconds
                and not (recording in watched and recording in played)
            ):
                recording.rest()

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._something_to_do.clear()
            growing = self.growing()
            if not growing:
                self._something_to_do.wait(self.IDLE_SECONDS)
                with self._lock:
                    self._forget_old_recordings()
            for recording, until in growing.items():
                if self._stopping.is_set():
                    return
                self._give_turn(recording, until)
            self._make_room()

    def _give_turn(self, recording: Recording, until: int) -> None:
        """Let a recording grow. One whose last step took several turns of time sits out instead."""
        rounds, since = self._sits_out.get(recording, (0, 0.0))
        if rounds > 0 and self._clock() < since + self.SITS_OUT_SECONDS:
            self._sits_out[recording] = rounds - 1, since
            return
        undisturbed, before = self._let_pages_pass(), recording.seconds
        recording.grow(until, self.turn_seconds, self._clock, self._page_wants if undisturbed else lambda: False)
        turns = int((recording.seconds - before) / self.turn_seconds)
        self._sits_out[recording] = turns - 1, self._clock()

    def _let_pages_pass(self) -> bool:
        """Wait until no page is computed, and until the last one is sent; but only so long. False where it took longer.

        Then the recording gets its whole turn, whatever comes; otherwise a page that comes ends it, after one step.
        """
        latest = time.monotonic() + self.COURTESY_SECONDS
        while (now := time.monotonic()) < latest:
            sent = self._last_page + self.SENDING_SECONDS
            if self._pages:
                self._no_page.wait(latest - now)
            elif now >= sent or self._stopping.wait(min(sent, latest) - now):
                return True
        return False

    def _page_wants(self) -> bool:
        return self._pages > 0
