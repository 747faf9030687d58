"""What there is to learn: the data, what counts, where a perfect head looks, and what a loss means.

places        copy, previous token, reverse, the last few at once, random letters
finding       look-up, associative recall, pronouns, sorting
repeats       induction
characters    the next character of a text
vectors       the notebook's four fixed vectors
"""

from attention_core.tasks.characters import CharacterTask
from attention_core.tasks.common import (
    ENOUGH_RIGHT,
    MAX_VOCABULARY,
    NO_TARGET,
    Baseline,
    Batch,
    Task,
    TaskExample,
    conditional_entropy,
)
from attention_core.tasks.finding import LookUpTask, PronounTask, RecallTask, SortTask
from attention_core.tasks.places import CopyTask, LastTokensTask, NoiseTask, PreviousTask, ReverseTask
from attention_core.tasks.repeats import InductionTask
from attention_core.tasks.vectors import FourVectorsTask

TASKS: dict[str, Task] = {
    "copy": CopyTask(),
    "previous": PreviousTask(),
    "reverse": ReverseTask(),
    "sort": SortTask(),
    "lookup": LookUpTask(),
    "pronoun": PronounTask(),
    "last": LastTokensTask(),
    "recall": RecallTask(),
    "induction": InductionTask(),
    "characters": CharacterTask(),
    "noise": NoiseTask(),
    "vectors": FourVectorsTask(),
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
    "Task",
    "TaskExample",
    "conditional_entropy",
]
