"""One learner's run: a recording, how far it shall be trained, and what is seen there."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from attention_core.base.errors import Phrase
from attention_core.learning.training import TrainingHistory
from runs.recording import Recording


@dataclass(frozen=True, eq=False, kw_only=True)
class RunView(TrainingHistory):
    """What a learner sees of a run at one moment."""

    position: int  # updates made
    training: bool  # more are on their way
    finished: bool  # no more can be made
    problem: Phrase | None


class TrainingRun:
    """One learner's place on a recording: as far as it is recorded, but not beyond the learner's `goal`.

    Starts at step 0, standing still. It may be used from several threads of one visitor. Raises ValueError when the
    recording has not even a step 0.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        wake: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.recording = recording
        self.goal = 0
        self.last_seen = clock()
        self._wake = wake
        self._clock = clock
        if recording.newest < 0:
            recording.record(0)
        if recording.newest < 0:
            raise ValueError(str(recording.problem))

    def train(self) -> None:
        """Train to the end of the run."""
        self.goal = self.recording.settings.steps
        self.last_seen = self._clock()
        self._wake()

    def stop(self) -> None:
        """Stand still here; nothing is lost."""
        self.goal = self.position

    def step_once(self) -> None:
        """Stand still one step further on."""
        here = self.position
        self.last_seen = self._clock()
        self.recording.record(here + 1)
        self.goal = min(here + 1, self.recording.newest)

    @property
    def position(self) -> int:
        """The step this learner is at: never beyond what is recorded."""
        return min(self.goal, self.recording.newest)

    @property
    def training(self) -> bool:
        """True while the goal is ahead, and the recording goes on."""
        return self.position < self.goal and not self.recording.ended

    @property
    def finished(self) -> bool:
        """True when the end of the recording is reached."""
        return self.recording.ended and self.position >= self.recording.newest

    def look(self) -> RunView:
        """What to show now. Looking is also the sign that somebody still watches."""
        self.last_seen = self._clock()
        training, finished = self.training, self.finished  # before the position: what is said may only be outdated
        position = self.position
        if training:
            self._wake()
        return RunView(
            settings=self.recording.settings,
            position=position,
            training=training,
            finished=finished,
            problem=self.recording.problem if finished else None,
            losses=self.recording.losses(position),
            snapshot=self.recording.snapshot(position),
            evaluations=self.recording.evaluations(position),
        )
