"""The sink: how much of its weight each head gives to the first token, and what the value there adds."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from lessons.model.read.compute import first_share_of_lengths, lengths_added
from lessons.model.read.many_heads import resting, to_first_token
from lessons.model.read.reading import Reading
from lessons.screen import Axis, Fixed, Matrices, Matrix, Message, Percent, message
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names

LENGTH_SENTENCES = {
    "weights": message("weight of {key}"),
    "v": message("value of {key}, feature {feature}"),
    "length": message("length of the value of {key}: the root of the sum of its squares"),
    "added": message("length of what {key} adds: weight · length"),
}
LAYER_AXIS, HEAD_AXIS = message("layers"), message("heads")


def first_token_screen(reading: Reading) -> dict[str, Any]:
    """A map of all heads twice; then for the chosen one what each token adds."""
    computation = compute_lengths(reading)
    return {
        "figures": (all_heads_figure(reading), tokens_figure(reading, computation)),
        "code": computation.code(("length", "added"), first_share_of_lengths),
    }


def shares_of_first(reading: Reading) -> tuple[Float[Tensor, "layers heads"], Float[Tensor, "layers heads"]]:
    """For each head, in the mean over the queries after the first token, its weight on that, and its share of all
    lengths added."""
    layers = [layer.attention.heads for layer in reading.trace.layers]
    weights, v = (torch.stack([getattr(layer, name) for layer in layers]) for name in ("weights", "v"))
    lengths = first_share_of_lengths(weights, v)
    after = lengths[..., 1:] if lengths.shape[-1] > 1 else lengths
    return to_first_token(weights).mean(dim=-1), after.mean(dim=-1)


def all_heads_figure(reading: Reading) -> Matrices:
    """Layers from left to right, heads from top to bottom."""
    weight, length = shares_of_first(reading)
    bands = (
        (map_of_heads("sink_weight", message("weight on the first token"), weight, reading),),
        (map_of_heads("sink_length", message("its share of what is added, by length"), length, reading),),
    )
    return Matrices(
        key="read_sink",
        name=message("How much every head gives to the first token, and what that adds"),
        notice=(resting(reading), chosen_head(reading, weight, length)),
        bands=bands,
        first="sink_weight",
        numbered=False,
        hint=message("Layers from left to right, heads from top to bottom; the area of each square shows the share."),
    )


def map_of_heads(key: str, title: Message, values: Float[Tensor, "layers heads"], reading: Reading) -> Matrix:
    """A square for each head; the chosen one is marked."""
    n_layers, n_heads = values.shape
    marked = torch.zeros(n_heads, n_layers, dtype=torch.bool)
    marked[reading.asked.head, reading.asked.layer] = True
    return Matrix(
        key=key,
        title=title,
        values=values.mT,
        rows=Axis(HEAD_AXIS, tuple(map(str, range(n_heads))), named=True),
        columns=Axis(LAYER_AXIS, tuple(map(str, range(n_layers))), named=True),
        scale="weight",
        colour="weight",
        marked=marked,
    )


def chosen_head(
    reading: Reading, weight: Float[Tensor, "layers heads"], length: Float[Tensor, "layers heads"]
) -> Message:
    """The same of one head, in the mean over the queries."""
    return message(
        "On average over all queries, head {head} gives the first token {weight} of its weight; by length, that is "
        "{length} of what the head adds.",
        head=reading.called,
        weight=Percent(float(weight[reading.place])),
        length=Percent(float(length[reading.place])),
    )


def compute_lengths(reading: Reading) -> Computation:
    """What each token adds to the output of the word that asks, in the chosen head."""
    inputs = {"weights": reading.row[:, None], "v": reading.head.v[: reading.query + 1]}
    return Computation(lengths_added, inputs, Names(LENGTH_SENTENCES, {"keys": reading.names}))


def tokens_figure(reading: Reading, computation: Computation) -> Matrices:
    """Weight, length of the value, and their product, for each token that is seen."""
    tokens = tuple(name.text for name in reading.names)[: reading.query + 1]
    rows = token_axis(tokens, KEYS)
    titles = {
        "weights": (message("weight"), "weight", "weight"),
        "length": (message("length of value"), "number", "v"),
        "added": (message("weight · length"), "number", "v"),
    }
    matrices = tuple(
        traced_matrix(
            computation,
            name,
            title,
            tokens,
            rows=rows,
            columns=single_axis(name),
            scale=scale,
            colour=colour,
            given=name == "weights",
        )
        for name, (title, scale, colour) in titles.items()
    )
    return Matrices(
        key="read_lengths",
        name=message("What each token adds to the output of one head"),
        heading=message("What does each token add to the output at {query}?", query=reading.names[reading.query]),
        notice=(longest_value(reading, computation),),
        bands=(matrices,),
        first="added",
    )


def longest_value(reading: Reading, computation: Computation) -> Message:
    """The length of the first token's value beside the mean of the others'."""
    lengths = computation.result.length[:, 0]
    if len(lengths) == 1:
        return message("{query} sees no other token.", query=reading.names[0])
    return message(
        "In head {head}, the value of {first} has length {length}; the others average {others}.",
        head=reading.called,
        first=reading.names[0],
        length=Fixed(float(lengths[0])),
        others=Fixed(float(lengths[1:].mean())),
    )
