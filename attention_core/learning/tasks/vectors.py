"""The notebook's task: output four fixed vectors. It can be learnt by heart, without attending to other tokens."""

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch

from attention_core.learning.batches import Batch
from attention_core.learning.tasks.base import Baseline, Task, attention_to, shuffles
from attention_core.text.embeddings import fixed_vectors
from attention_core.text.tokens import Vocabulary

TRAINED = (5, 12, 31, 7)  # the notebook's tokens: The, cat, sat, down


@dataclass(frozen=True)
class FourVectorsTask(Task):
    """The task of giving back the vectors of four fixed tokens; held out are the same positions with other tokens."""

    key = "vectors"
    draws_afresh = False
    roles = ("self",)
    model = MappingProxyType(
        {
            "d_model": 8,
            "n_heads": 2,
            "positions": "none",
            "causal": False,
            "residual": False,
            "embedding_std": 1.0,
            "output": "vectors",
        }
    )
    training = MappingProxyType({"learning_rate": 0.01, "steps": 200, "batch_size": 1, "weight_decay": 0.0})

    MEMORISED = 0.01  # at this training loss and below, the four vectors are known

    window = 4

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The fifty tokens of the notebook: four words, the others numbered."""
        words: dict[int, str] = dict(zip(TRAINED, ("The", "cat", "sat", "down"), strict=True))
        return Vocabulary(tuple(words.get(i, f"token {i}") for i in range(50)))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Return the four tokens `size` times; every token is its own answer."""
        return self.copied(torch.tensor(TRAINED).expand(size, -1))

    def held_out(self, size: int, generator: torch.Generator) -> Batch | None:
        """Draw sequences of four different tokens that are not among the trained ones."""
        unseen = torch.tensor([i for i in range(len(self.vocabulary)) if i not in TRAINED])
        return self.copied(unseen[shuffles(size, len(unseen), generator)[:, : self.window]])

    def copied(self, inputs: torch.Tensor) -> Batch:
        """Return a batch in which every token is its own answer."""
        positions = torch.arange(self.window).expand(len(inputs), -1)
        return Batch(inputs, inputs, lambda: attention_to(positions, self.window))

    def baselines(self) -> list[Baseline]:
        """Return the loss of answering zero, which is the mean square of the vectors, and that of the right vectors."""
        vectors = fixed_vectors(len(self.vocabulary), self.model["d_model"])
        zero = float((vectors * self.model["embedding_std"]).square().mean())
        return [Baseline("zero", zero), Baseline("vectors", 0.0)]
