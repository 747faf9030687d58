"""A turn of training: some steps of several runs of one shape, in whichever process computes them.

It needs nothing but what it is given, and gives back all that has become of it: so it may be computed beside the
server, and begun again where that failed. No PyTorch is imported here.
"""

import functools
import math
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from attention_core.learning.batches import Batch
from attention_core.learning.evaluation import Evaluation
from attention_core.learning.steps import (
    DRAWN_TOGETHER,
    EVALUATE_EVERY,
    DrawnBatches,
    Draws,
    TrainingStack,
    TrainingState,
    TrainingStep,
)
from attention_core.model.weights import of_vector

Weights: TypeAlias = Float[np.ndarray, " parameters"]


@dataclass(frozen=True)
class Stay:
    """Which steps keep their weights: each of the `first` ones, then one in `stride`."""

    stride: int
    first: int

    def __contains__(self, step: int) -> bool:
        return step % self.stride == 0 or step < self.first


@dataclass(eq=False)
class TimeOver:
    """True once it is `seconds` since it was first asked, by the clock of the process that asks."""

    seconds: float
    until: float | None = None

    def __call__(self) -> bool:
        now = time.monotonic()
        self.until = self.until or now + self.seconds
        return now >= self.until


@dataclass(eq=False)
class Drawn:
    """What was drawn for a turn before it begins, as NumPy's arrays: the next batches, and those for evaluation."""

    blocks: list[DrawnBatches]
    aside: Batch | None

    def block(self) -> DrawnBatches:
        """The next batches."""
        return self.blocks.pop(0)

    def held_out(self) -> Batch | None:
        """The sequences for evaluation."""
        return self.aside


@dataclass(eq=False)
class DrawnAhead:
    """What a run draws, where a turn may need it before it is known which part of it will be used."""

    draws: Draws
    waiting: list[DrawnBatches] = field(default_factory=list)

    def block(self) -> DrawnBatches:
        """The next batches, those first that have been drawn already."""
        return self.waiting.pop(0) if self.waiting else self.draws.block()

    def held_out(self) -> Batch | None:
        """The sequences for evaluation."""
        return self.draws.held_out()

    def ahead(self, n_blocks: int) -> list[DrawnBatches]:
        """The next batches; they remain the next."""
        while len(self.waiting) < n_blocks:
            self.waiting.append(self.draws.block())
        return self.waiting[:n_blocks]


@dataclass(eq=False)
class RunTurn:
    """What a turn made of one run: its losses and evaluations, the weights that stay, and where the run stands now."""

    begin: int  # the first step of the turn
    losses: list[float] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    kept: dict[int, Weights] = field(default_factory=dict)  # by steps
    weights: Weights | None = None  # after the update that follows the last step
    means: tuple[Weights, ...] = ()
    drawn: int = 0

    def add(self, step: TrainingStep, stay: Container[int]) -> None:
        """Add a step. The weights of the newest go with the next, unless they stay or are the last good ones."""
        newest = step.step - 1
        if math.isfinite(step.loss) and newest in self.kept and newest not in stay:
            del self.kept[newest]
        self.losses.append(step.loss)
        if step.evaluation is not None:
            self.evaluations.append(step.evaluation)
        self.kept[step.step] = step.weights


def take_turn(
    states: Sequence[TrainingState],
    n_steps: int,
    stay: Sequence[Container[int]],
    over: Callable[[], bool] = lambda: False,
    evaluated: bool = True,
) -> list[RunTurn]:
    """Take a turn: at most `n_steps` steps of each run, at least one, until the time is `over` or one of them ends.

    The weights of those steps `stay` that are named for each run. The states are changed.
    """
    stack, turns = TrainingStack(states, evaluated=evaluated), [RunTurn(state.step) for state in states]
    try:
        with np.errstate(all="ignore"):  # a loss that is no number ends a run
            for n_before in range(n_steps):
                try:
                    steps = stack.step()
                except Exception:
                    if not n_before:
                        raise
                    break  # what was computed before counts; what fails will fail again as the first of a turn
                for turn, step, stays in zip(turns, steps, stay, strict=True):
                    turn.add(step, stays)
                if over() or any(map(is_last, states, steps)):
                    break
    finally:
        stack.write_back()
    for turn, state in zip(turns, states, strict=True):
        turn.weights, turn.means, turn.drawn = state.weights, state.means, state.drawn
    return turns


def is_last(state: TrainingState, step: TrainingStep) -> bool:
    """True where no step follows."""
    return step.step == state.settings.steps or not math.isfinite(step.loss)


def sent_away(state: TrainingState, n_steps: int, evaluated: bool = True) -> TrainingState:
    """A state as it is sent to another process: of NumPy's arrays, with all that so many steps draw."""
    if not isinstance(state.draws, DrawnAhead):
        state.draws = DrawnAhead(state.draws)
    blocks = state.draws.ahead(max(0, math.ceil((state.step + n_steps - state.drawn) / DRAWN_TOGETHER)))
    steps = range(state.step, state.step + n_steps)
    evaluates = evaluated and any(step % EVALUATE_EVERY == 0 or step == state.settings.steps for step in steps)
    draws = Drawn(list(blocks), sendable_batch(state.draws.held_out()) if evaluates else None)
    model = of_vector(state.settings.model, state.weights)  # of NumPy's arrays
    return replace(state, settings=replace(state.settings, model=model), draws=draws)


def come_back(state: TrainingState, turn: RunTurn) -> None:
    """Let a state be where a turn of what was sent away has ended."""
    while state.drawn < turn.drawn:
        state.inputs[:], state.targets[:] = state.draws.block()
        state.drawn += DRAWN_TOGETHER
    state.weights[:] = turn.weights
    for mine, means in zip(state.means, turn.means, strict=True):
        mine[:] = means
    state.step = turn.begin + len(turn.losses)


def sendable_batch(batch: Batch | None) -> Batch | None:
    """A batch of NumPy's arrays, where a perfect head attends found beforehand: what finds it cannot be sent."""
    if batch is None or batch.target_attention is None:
        return batch and batch.in_numpy()
    return replace(batch.in_numpy(), find_attention=functools.partial(np.asarray, batch.target_attention.numpy()))
