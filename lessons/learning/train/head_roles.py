"""When a head takes up its job: from which evaluation on it keeps enough of its weight there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingHistory
from lessons.screen import ListOf, Message, Percent, message
from lessons.shared.head_maps import head_name

# More than all other cells together can have. A head that only begins to lean there stays below it for long, and all
# tasks whose heads form at all get well above it (0.7 and more); untrained heads have 0.25 at most.
MOST_OF_WEIGHT = 0.5

# What a head is called that does the job, and the share of its weight from which on it counts as doing it.
JOBS: dict[str, tuple[Message, float]] = {
    "self": (message("copying head"), MOST_OF_WEIGHT),
    "previous": (message("previous-token head"), MOST_OF_WEIGHT),
    "mirror": (message("mirroring head"), MOST_OF_WEIGHT),
    "next_larger": (message("sorting head"), MOST_OF_WEIGHT),
    "pair": (message("look-up head"), MOST_OF_WEIGHT),
    "needed": (message("story head"), MOST_OF_WEIGHT),
    "referent": (message("pronoun head"), MOST_OF_WEIGHT),
    "last": (message("last-letter head"), MOST_OF_WEIGHT),
    "one_back": (message("one-back head"), MOST_OF_WEIGHT),
    "two_back": (message("two-back head"), MOST_OF_WEIGHT),
    "three_back": (message("three-back head"), MOST_OF_WEIGHT),
    "letter_before": (message("previous-token head"), MOST_OF_WEIGHT),
    "number": (message("recall head"), MOST_OF_WEIGHT),
    "after_match": (message("induction head"), MOST_OF_WEIGHT),
    "next": (message("head that reads ahead"), MOST_OF_WEIGHT),
}


@dataclass(frozen=True)
class Formed:
    """A job, from which evaluation on some heads do it, and which: several where they begin at the same one."""

    role: str
    step: int
    heads: tuple[tuple[int, int], ...]  # (layer, head), counted from 0

    @property
    def label(self) -> Message:
        """What a head is called that does it."""
        return JOBS[self.role][0]


def formed_heads(history: TrainingHistory) -> tuple[Formed, ...]:
    """For each job that a head does now: since when it has kept enough of its weight there, the earliest head first.

    A head that once did and then fell back counts from when it did again.
    """
    roles, steps = history.settings.task.roles, [evaluation.step for evaluation in history.evaluations]
    if not roles or not steps:
        return ()
    found = []
    for role, weights in zip(roles, np.stack([e.role_weights for e in history.evaluations], axis=1), strict=True):
        enough = weights >= JOBS[role][1]  # evaluations layers heads
        stays = np.logical_and.accumulate(enough[::-1])[::-1]
        if stays[-1].any():
            first = np.where(stays[-1], stays.argmax(axis=0), len(steps))
            heads = tuple((int(layer), int(head)) for layer, head in np.argwhere(first == first.min()))
            found.append(Formed(role, steps[first.min()], heads))
    return tuple(sorted(found, key=lambda formed: formed.step))


def by_step(formed: Sequence[Formed]) -> dict[int, list[Formed]]:
    """The jobs that are done from the same evaluation on, by its step."""
    return {step: [one for one in formed if one.step == step] for step in sorted({one.step for one in formed})}


def formed_sentences(history: TrainingHistory) -> tuple[Message, ...]:
    """Which head does which job since when, and which job no head does."""
    task = history.settings.task
    if isinstance(task, CharacterTask):
        return (message("A text gives heads no fixed job, so no moment is marked."),)
    formed = formed_heads(history)
    said = [formed_sentence(step, several) for step, several in by_step(formed).items()]
    missing = [role for role in task.roles if role not in {one.role for one in formed}]
    if missing and history.evaluations:
        labels = ListOf(tuple(JOBS[role][0] for role in missing))
        said.append(
            message(
                "Not formed so far: {labels}. A head must put {enough} of its weight on its job.",
                labels=labels,
                enough=Percent(MOST_OF_WEIGHT),
            )
        )
    return tuple(said)


def formed_sentence(step: int, several: Sequence[Formed]) -> Message:
    """What has formed at one evaluation."""
    which = ListOf(
        tuple(
            message("{label} ({heads})", label=one.label, heads=ListOf(tuple(head_name(*h) for h in one.heads)))
            for one in several
        )
    )
    if step == 0:
        return message("Present before any training: {which}.", which=which)
    return message("Formed by training step {step}: {which}.", step=step, which=which)
