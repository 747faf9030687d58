"""From ids to vectors: one row of a table for each token of the vocabulary."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def embedding_table(vocabulary: int, d_model: int, generator: torch.Generator) -> Float[Tensor, "vocabulary d_model"]:
    """One vector for each token, drawn from the standard normal distribution, row after row.

    Row i is the same for every size of the vocabulary larger than i.
    """
    return torch.stack([torch.randn(d_model, generator=generator) for _ in range(vocabulary)])


def embed(
    ids: Int[Tensor, "*batch tokens"], table: Float[Tensor, "vocabulary d_model"]
) -> Float[Tensor, "*batch tokens d_model"]:
    """The row of the table for each id: the same token always gets the same vector."""
    return table[ids]
