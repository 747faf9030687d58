"""One learner's run: a place on a recording that plays, pauses, steps, and what is seen there."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from attention_core.training import TrainingHistory
from runs.recording import Recording


@dataclass(frozen=True, eq=False, kw_only=True)
class RunView(TrainingHistory):
    """What a learner sees of a run at one moment."""

    position: int  # the step on screen
    playing: bool
    finished: bool  # the end is on screen
    problem: str | None


class TrainingRun:
    """One learner's place on a recording. Starts at step 0, standing still.

    While it plays, the place moves by `steps_per_second`, or as fast as the recording grows where that is None.
    It may be used from several threads of one visitor. Raises ValueError when the recording has not even a step 0.
    """

    LOOK_AHEAD_SECONDS = 2.0

    def __init__(
        self,
        recording: Recording,
        steps_per_second: float | int | None = None,
        *,
        wake: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.recording = recording
        self.steps_per_second = checked_pace(steps_per_second)
        self.last_seen = clock()
        self._wake = wake
        self._clock = clock
        self._lock = threading.RLock()
        self._playing = False
        self._from_step = 0
        self._from_time = clock()
        if recording.newest < 0:
            recording.record(0)
        if recording.newest < 0:
            raise ValueError(recording.problem)

    def play(self) -> None:
        """Go on from here."""
        with self._lock:
            self._stand_at(self.position)
            self._playing = True
            self.last_seen = self._clock()
        self._wake()

    def pause(self) -> None:
        """Stand still here; nothing is lost."""
        with self._lock:
            self._stand_at(self.position)
            self._playing = False

    def step_once(self) -> None:
        """Stand still one step further on."""
        with self._lock:
            self.pause()
            self.last_seen = self._clock()
            self.recording.record(self._from_step + 1)
            self._stand_at(min(self._from_step + 1, self.recording.newest))

    def set_pace(self, steps_per_second: float | int | None) -> None:
        """Move at another speed from here on."""
        with self._lock:
            self._stand_at(self.position)
            self.steps_per_second = checked_pace(steps_per_second)
        self._wake()

    @property
    def position(self) -> int:
        """The step this learner is at: never beyond what is recorded."""
        with self._lock:
            head = max(self.recording.newest, 0)
            if not self._playing:
                return self._from_step
            if self.steps_per_second is None:
                return head
            moved = (self._clock() - self._from_time) * self.steps_per_second
            wished = self._from_step + max(int(moved), 0)
            if wished > head:
                self._stand_at(head)  # time lost waiting for the recording is not made up for in a rush
            return min(wished, head)

    @property
    def playing(self) -> bool:
        """True while the place moves, or waits for the recording to grow."""
        return self._playing and not self.finished

    @property
    def finished(self) -> bool:
        """True when the end of the recording is reached."""
        return self.recording.ended and self.position >= self.recording.newest

    @property
    def wanted(self) -> int:
        """The step up to which the recording should be recorded for this learner."""
        if not self._playing:
            return -1
        if self.steps_per_second is None:
            return self.recording.settings.steps
        ahead = math.ceil(self.steps_per_second * self.LOOK_AHEAD_SECONDS)
        return min(self.position + max(ahead, 1), self.recording.settings.steps)

    def look(self) -> RunView:
        """What to show now. Looking is also the sign that somebody still watches."""
        self.last_seen = self._clock()
        if self._playing:
            self._wake()
        with self._lock:
            position, finished = self.position, self.finished
            playing = self._playing and not finished
        return RunView(
            settings=self.recording.settings,
            position=position,
            playing=playing,
            finished=finished,
            problem=self.recording.problem if finished else None,
            losses=self.recording.losses(position),
            snapshot=self.recording.snapshot(position),
            evaluations=self.recording.evaluations(position),
        )

    def _stand_at(self, step: int) -> None:
        self._from_step, self._from_time = step, self._clock()


def checked_pace(steps_per_second: float | int | None) -> float | None:
    """The pace, if it is one. Raises ValueError otherwise."""
    if steps_per_second is not None and not (math.isfinite(steps_per_second) and steps_per_second > 0):
        raise ValueError(f"a pace is a number of steps per second above 0, but got {steps_per_second}")
    return steps_per_second
