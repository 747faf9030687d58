"""What the lesson computes of a pass through the model; the page shows these functions as they run."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array, namespace
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.one_head.attention import Number


@dataclass(frozen=True, eq=False)
class LengthsAdded:
    """How long each value is, and how much of that is added: a weight stretches its value by itself."""

    length: Float[Array, "keys 1"]
    added: Float[Array, "keys 1"]


def lengths_added(weights: Float[Array, "keys 1"], v: Float[Array, "keys d_v"]) -> LengthsAdded:
    """What each key adds to the output of one query: a vector as long as weight · |value|."""
    length = namespace(v).sqrt((v * v).sum(axis=-1))[:, None]
    return LengthsAdded(length, weights * length)


def first_share_of_lengths(
    weights: Float[Tensor, "*heads queries keys"], v: Float[Tensor, "*heads keys d_v"]
) -> Float[Tensor, "*heads queries"]:
    """Of all lengths that a query adds up, the share of the first token's value."""
    added = weights * v.norm(dim=-1)[..., None, :]
    return added[..., 0] / added.sum(dim=-1)


def stop_early(model: Transformer, trace: ModelTrace, query: int) -> Float[Tensor, "steps vocabulary"]:
    """The scores for the token after a query if the model stopped there: at the embedding, then in each layer after
    the attention and after the MLP.

    The last norm and the map to the vocabulary are used as they are; only what leaves the last layer was trained for
    them. nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    steps = [trace.layers[0].x[query]]
    for layer in trace.layers:
        steps += [layer.after_attention[query], layer.output[query]]
    x = torch.stack(steps)
    return model.unembed(model.normed(x))


@dataclass(frozen=True, eq=False)
class Moved:
    """How far patched heads move the answer, of the whole way."""

    way: Float[Array, "heads 1"]


def way_moved(here: Number, there: Number, patched: Float[Array, "heads 1"]) -> Moved:
    """0 where a patch changes nothing, 1 where it alone makes the answer of the other text."""
    return Moved((here - patched) / (here - there))
