"""Which features a head can see: measured, by adding 1 to them."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.heads import Heads


def head_reach(
    module: Heads,
    x: Float[Tensor, "tokens d_model"],
    features: list[int],
    may_attend: Bool[Tensor, "tokens tokens"] | None,
    scale: float,
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> Float[Tensor, "heads features"]:
    """The largest change in the output of each head when 1 is added to one of these features of every token.

    `positions` are those that queries and keys are made of besides.
    """
    d_model = x.shape[-1]
    nudges = torch.cat([torch.zeros(1, d_model), torch.eye(d_model)[features]])  # the first leaves x as it is
    outputs = module(x + nudges[:, None], may_attend, scale=scale, positions=positions)[1].heads.output
    return (outputs[1:] - outputs[0]).abs().amax(dim=(-1, -2)).T


def outside_slice(reach: Float[Tensor, "heads features"], features: list[int], d_head: int) -> Float[Tensor, " heads"]:
    """The largest of these changes by a feature outside the head's own slice of X; 0 where there is none."""
    owner = torch.tensor(features) // d_head
    heads = torch.arange(len(reach))[:, None]
    return reach.masked_fill(owner == heads, 0).amax(dim=-1)
