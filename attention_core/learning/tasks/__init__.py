"""Tasks to learn: their data, what counts in the loss, where a perfect head attends, and what a loss means.

base          what every task has
positional    copy, previous token, reverse, the last few at once, random letters
lookup        look-up, associative recall, pronouns, sorting
story         sentences of which one head has to find two words
induction     a random sequence that repeats itself
text          the next character of a text
vectors       the notebook's four fixed vectors
"""

from attention_core.learning.batches import NO_TARGET, Batch
from attention_core.learning.tasks.base import (
    ENOUGH_RIGHT,
    MAX_VOCABULARY,
    Baseline,
    Task,
    TaskExample,
    conditional_entropy,
    fingerprints,
)
from attention_core.learning.tasks.induction import InductionTask
from attention_core.learning.tasks.lookup import LookUpTask, PronounTask, RecallTask, SortTask
from attention_core.learning.tasks.positional import CopyTask, LastTokensTask, NoiseTask, PreviousTask, ReverseTask
from attention_core.learning.tasks.story import StoryTask
from attention_core.learning.tasks.text import CharacterTask
from attention_core.learning.tasks.vectors import FourVectorsTask

TASKS: dict[str, Task] = {
    task.key: task
    for task in (
        CopyTask(),
        PreviousTask(),
        ReverseTask(),
        SortTask(),
        LookUpTask(),
        StoryTask(),
        PronounTask(),
        LastTokensTask(),
        RecallTask(),
        InductionTask(),
        CharacterTask(),
        NoiseTask(),
        FourVectorsTask(),
    )
}

__all__ = [
    "ENOUGH_RIGHT",
    "MAX_VOCABULARY",
    "NO_TARGET",
    "TASKS",
    "Baseline",
    "Batch",
    "CharacterTask",
    "CopyTask",
    "FourVectorsTask",
    "InductionTask",
    "LastTokensTask",
    "LookUpTask",
    "NoiseTask",
    "PreviousTask",
    "PronounTask",
    "RecallTask",
    "ReverseTask",
    "SortTask",
    "StoryTask",
    "Task",
    "TaskExample",
    "conditional_entropy",
    "fingerprints",
]
