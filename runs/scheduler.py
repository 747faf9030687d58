"""One thread that trains for everybody, in short turns.

A thread for each run would make them fight over the interpreter and starve the pages; one thread that
gives each growing tape 10 ms in turn is fair, and steps back while a page is being computed. A tape whose
steps take longer than that sits out rounds for it.
"""

import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attention_core.training import FEWEST_SNAPSHOTS, Tape, TrainingRun, TrainingSettings
from runs.page_lock import Hurry, Turns


class Scheduler:
    """Grows the tapes that somebody plays and watches; shares a tape among all who ask for the same.

    `turn_seconds` is one tape's turn. A run that nobody has looked at for `patience_seconds` is left
    where it is, and goes on when somebody looks again. Tapes that nobody has a run on are forgotten unless
    they have ended; of those the longest unused go first, beyond `max_tapes` tapes. Beyond `max_growing`
    tapes at a time the ones that began to wait last stand in a queue, and see their place in it.

    Memory: a tape keeps at most MAX_SNAPSHOT_BYTES of weights, 2 MB, or two snapshots of a model larger than that,
    4 MB; while it can still grow, its optimiser and batches come to at most 6 MB more. A tape that nobody
    plays rests without these where it would soon be back: at once if that takes QUICKLY_BACK seconds, and SOON_BACK
    seconds once nobody has looked at it for `patience_seconds`. So `max_tapes` tapes that have all ended hold 4 MB,
    with the largest models 8 MB; more are there only as long as somebody has a run on each of them. Where all tapes
    together come to more than `max_bytes` of weights, they forget every second of their steps: first those that
    nobody has looked at for `patience_seconds`, down to FEWEST_UNWATCHED, then the fullest of the others, down to
    FEWEST_SNAPSHOTS.
    """

    COURTESY_SECONDS = 0.25  # the longest that training waits for pages, so that it never starves
    SENDING_SECONDS = 0.01  # in which a page that is computed goes out to its visitor
    IDLE_SECONDS = 0.5
    QUICKLY_BACK, SOON_BACK = 0.02, 0.1  # seconds, for which one step further on holds up a page, and so everybody
    SITS_OUT_SECONDS = 2.0  # at most, where steps are long: a tape should still move before its learner's eyes
    FEWEST_UNWATCHED = 4  # the beginning, the end and what lies between, for who comes back
    LOOKING_SECONDS = 10.0  # who has looked within this time looks again soon

    def __init__(
        self,
        *,
        turn_seconds: float = 0.010,
        patience_seconds: float = 60.0,
        max_tapes: int = 2,
        max_growing: int = 40,
        max_bytes: int = 8_000_000,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.turn_seconds = turn_seconds
        self.patience_seconds = patience_seconds
        self.max_tapes = max_tapes
        self.max_growing = max_growing
        self.max_bytes = max_bytes
        self._waiting: dict[Tape, None] = {}  # tapes that want to grow, those who asked first in front
        self._sits_out: weakref.WeakKeyDictionary[Tape, tuple[int, float]] = weakref.WeakKeyDictionary()
        self._clock = clock
        self._tapes: OrderedDict[TrainingSettings, Tape] = OrderedDict()
        self._opening: list[Tape] = []  # on which somebody will have a run in a moment
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
        """End the thread after its present turn; the tapes stay."""
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
        """A new run, standing at step 0 of the tape for these settings."""
        with self._lock:
            tape = self._tapes.get(settings) or Tape(settings)
            self._tapes[settings] = tape
            self._tapes.move_to_end(settings)
            self._opening.append(tape)
            self._forget_old_tapes()
        try:
            run = TrainingRun(tape, steps_per_second, wake=self._something_to_do.set, clock=self._clock)
            with self._lock:
                self._runs.add(run)
        finally:
            with self._lock:
                self._opening.remove(tape)
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

    def growing(self) -> dict[Tape, int]:
        """The tapes to grow now, and how far: the first `max_growing` that a run plays which somebody watches."""
        until = self._wanted()
        with self._lock:
            self._waiting = {tape: None for tape in (*self._waiting, *until) if tape in until}
            served = list(self._waiting)[: self.max_growing]
        return {tape: until[tape] for tape in served}

    def place_in_queue(self, run: TrainingRun) -> int:
        """0 for a run that is served, or wants nothing; else how many waiting tapes there are up to its own.

        A place becomes free when a tape is as far as its learners want it, or nobody watches it any more.
        """
        self.growing()
        with self._lock:
            place = list(self._waiting).index(run.tape) if run.tape in self._waiting else 0
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

    def _wanted(self) -> dict[Tape, int]:
        """Every tape that should grow, in the order in which they were opened, and how far."""
        with self._lock:
            order = {settings: i for i, settings in enumerate(self._tapes)}
            runs = list(self._runs)
        runs = self._seen_within(self.patience_seconds, runs)
        runs.sort(key=lambda run: order.get(run.tape.settings, len(order)))
        until: dict[Tape, int] = {}
        for run in runs:
            if not run.tape.ended and run.wanted > run.tape.head:
                until[run.tape] = max(run.wanted, until.get(run.tape, 0))
        return until

    def _forget_old_tapes(self) -> None:
        in_use = {*self._opening, *(run.tape for run in self._runs)}
        for settings, tape in [(s, tape) for s, tape in self._tapes.items() if tape not in in_use]:
            if not tape.ended or len(self._tapes) > self.max_tapes:
                del self._tapes[settings]

    def _make_room(self) -> None:
        """Let tapes rest, and thin them while all together keep too much; never the steps at which somebody stands."""
        with self._lock:
            runs, opening = list(self._runs), set(self._opening)
            tapes = {*self._tapes.values(), *(run.tape for run in runs)}
        watched = opening | {run.tape for run in self._seen_within(self.patience_seconds, runs)}
        self._let_rest(tapes, watched, opening | {run.tape for run in runs if run.playing})
        surplus = sum(tape.snapshot_bytes for tape in tapes) - self.max_bytes
        fewest = {tape: FEWEST_SNAPSHOTS if tape in watched else self.FEWEST_UNWATCHED for tape in tapes}
        while surplus > 0 and (thick := [tape for tape in tapes if tape.can_be_thinned(fewest[tape])]):
            first = max(thick, key=lambda tape: (tape not in watched, tape.snapshot_bytes))
            before = first.snapshot_bytes
            first.thin({run.position for run in runs if run.tape is first})
            if (freed := before - first.snapshot_bytes) <= 0:
                tapes.remove(first)
            surplus -= freed

    def _let_rest(self, tapes: set[Tape], watched: set[Tape], played: set[Tape]) -> None:
        """Whoever plays or looks must hardly wait for a tape that has rested."""
        for tape in tapes:
            seconds = self.QUICKLY_BACK if tape in watched else self.SOON_BACK
            if tape.in_training and tape.seconds <= seconds and not (tape in watched and tape in played):
                tape.rest()

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._something_to_do.clear()
            growing = self.growing()
            if not growing:
                self._something_to_do.wait(self.IDLE_SECONDS)
                with self._lock:
                    self._forget_old_tapes()
            for tape, until in growing.items():
                if self._stopping.is_set():
                    return
                self._give_turn(tape, until)
            self._make_room()

    def _give_turn(self, tape: Tape, until: int) -> None:
        """Let a tape grow. One whose last step took several turns of time sits out instead, or it would slow all."""
        rounds, since = self._sits_out.get(tape, (0, 0.0))
        if rounds > 0 and self._clock() < since + self.SITS_OUT_SECONDS:
            self._sits_out[tape] = rounds - 1, since
            return
        undisturbed, before = self._let_pages_pass(), tape.seconds
        tape.grow(until, self.turn_seconds, self._clock, self._page_wants if undisturbed else lambda: False)
        turns = int((tape.seconds - before) / self.turn_seconds)
        self._sits_out[tape] = turns - 1, self._clock()

    def _let_pages_pass(self) -> bool:
        """Wait until no page is computed, and until the last one is sent; but only so long. False where it took longer.

        Then the tape gets its whole turn, whatever comes; otherwise a page that comes ends it, after one step.
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
