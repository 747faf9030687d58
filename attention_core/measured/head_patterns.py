"""Patterns of attention: for each query, the keys to which a head of that pattern attends.

A head's share of a pattern is the mean of its weight on these keys, over the queries for which there are any.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Named = Bool[Tensor, "queries keys"]


def previous_token(ids: Int[Tensor, " tokens"]) -> Named:
    """Return the pattern of attending to the token just before."""
    return torch.ones(len(ids), len(ids), dtype=torch.bool).triu(-1).tril(-1)


def first_token(ids: Int[Tensor, " tokens"]) -> Named:
    """Return the pattern of attending to the first token, where a head may rest that finds nothing."""
    return (torch.arange(len(ids)) == 0).expand(len(ids), -1)


def same_token(ids: Int[Tensor, " tokens"]) -> Named:
    """Return the pattern of attending to earlier occurrences of the query token."""
    return (ids == ids[:, None]).tril(-1)


def induction(ids: Int[Tensor, " tokens"]) -> Named:
    """Return the pattern of attending to what followed the query token earlier.

    Olsson et al. 2022, https://arxiv.org/abs/2209.11895.
    """
    followed = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    followed[:, 1:] = same_token(ids)[:, :-1]
    return followed.tril(-1)  # after “ha ha” the second ha follows itself, which says nothing
