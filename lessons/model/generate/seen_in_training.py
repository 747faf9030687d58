"""What a generated text owes to the training text: steps that stand there too, characters never read there."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from attention_core.learning.tasks import CharacterTask
from attention_core.model.generation import NewToken


def never_an_input(task: CharacterTask) -> tuple[str, ...]:
    """The characters that no training window has as an input, only as a target.

    No gradient ever reaches their rows of the token table.
    """
    inputs = set(task.windows[:, :-1].flatten().tolist())
    return tuple(token for i, token in enumerate(task.vocabulary.tokens) if i not in inputs)


@dataclass(frozen=True)
class LegalSteps:
    """Steps from one token to the next: how many were generated, how many of them the training text has too."""

    legal: int
    total: int


def legal_steps(start: Sequence[str], new_tokens: Sequence[NewToken], training_text: Sequence[str]) -> LegalSteps:
    """Count the steps onto new tokens that also occur in the training text."""
    text = [*start, *(new.token for new in new_tokens)]
    steps, known = list(pairwise(text[len(start) - 1 :])), set(pairwise(training_text))
    return LegalSteps(sum(step in known for step in steps), len(steps))
