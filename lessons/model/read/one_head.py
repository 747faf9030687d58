"""One head on the text: where it looks, what it gives to several words together, and every weight in numbers."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from attention_core.base.traced import Written
from attention_core.one_head.attention import attend
from lessons.model.read.earned_names import called, how_it_was_earned
from lessons.model.read.reading import Reading
from lessons.screen import (
    Arcs,
    Argument,
    Fixed,
    ListOf,
    Matrices,
    Message,
    Percent,
    Step,
    argmax_ties,
    message,
    percent,
    plural,
)
from lessons.shared.matrices import KEYS, QUERIES, token_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.head import HEAD_SENTENCES
from lessons.trace.story import Names

LEAST_ARC = 0.05  # smaller weights are not drawn
MOST_IN_NUMBERS = 12  # tokens
MOST_TIED = 3  # keys that are named
WEIGHT_SENTENCES = {
    **HEAD_SENTENCES,
    "scores": message("score of {key} for {query}: query · key, both turned by their positions"),
}


def one_head_screen(reading: Reading) -> dict[str, Any]:
    """Arcs, and the weights as a matrix."""
    head = compute_head(reading)
    notice = (*looks_most(reading), *sum_of_weights(reading), *how_it_was_earned(reading))
    return {
        "figures": (arcs(reading, notice), weights_figure(reading, head)),
        "code": head.code(("weights", "output"), attention=head.result),
    }


def arcs(reading: Reading, notice: tuple[Message, ...]) -> Arcs:
    """The chosen head on the text."""
    return Arcs(
        key="read_arcs",
        name=message("Where one head looks"),
        notice=notice,
        tokens=reading.names,
        shares=reading.head.weights,
        head=called(reading.jobs, *reading.place),
        chosen=reading.query,
        hint=message(
            "Point at a word to see its arcs alone. Weights under {limit} are not drawn.", limit=Fixed(LEAST_ARC)
        ),
        least=LEAST_ARC,
    )


def looks_most(reading: Reading) -> tuple[Message, ...]:
    """What the word that asks gives most of its weight to, where it has a choice."""
    row, query = reading.row, reading.names[reading.query]
    most = argmax_ties(row, percent)
    if len(row) == 1 or len(most) > MOST_TIED:
        return ()
    return (
        plural(
            "From {query}, head {head} looks most at {keys}: {weight}.",
            "From {query}, head {head} looks most at {keys}: {weight} each.",
            len(most),
            head=reading.called,
            query=query,
            keys=ListOf(tuple(reading.names[key] for (key,) in most)),
            weight=Percent(float(row.max())),
        ),
    )


def sum_of_weights(reading: Reading) -> tuple[Message, ...]:
    """What the word that asks gives to the chosen words together; it gives nothing to those after it."""
    chosen = [token for token in reading.asked.together if token < len(reading.names)]
    if not chosen:
        return ()
    weights = reading.head.weights[reading.query]
    return (
        message(
            "From {query}, the head gives {keys} a total weight of {weight}.",
            query=reading.names[reading.query],
            keys=ListOf(tuple(reading.names[token] for token in chosen)),
            weight=Fixed(float(weights[chosen].sum())),
        ),
    )


def compute_head(reading: Reading) -> Computation:
    """The attention of the chosen head, from its queries, keys and values on."""
    head = reading.head
    d_k = head.q.shape[-1]
    inputs = {
        "q": head.q,
        "k": head.k,
        "v": head.v,
        "may_attend": head.visible,
        "scale": Written(1 / math.sqrt(d_k), f"1 ÷ √{d_k}"),
    }
    things: dict[str, Sequence[Argument]] = dict.fromkeys(("queries", "keys"), reading.names)
    return Computation(
        attend, inputs, Names(WEIGHT_SENTENCES, things, known=("scaled",))
    )  # of many keys, a story tells one


def weights_figure(reading: Reading, head: Computation) -> Matrices:
    """The weights of the chosen head; each can be followed to its query and key."""
    tokens = tuple(name.text for name in reading.names)
    matrix = traced_matrix(
        head,
        "weights",
        message("weights of head {head}", head=reading.called),
        tokens,
        key="read_weights",
        rows=token_axis(tokens, QUERIES),
        columns=token_axis(tokens, KEYS),
        visible=head.result.visible,
        before=lambda i, j: way_to_weight(head, i, j),
    )
    return Matrices(
        key="read_one_head",
        name=message("One head in numbers"),
        heading=message("One head in numbers"),
        bands=((matrix,),),
        first=matrix.key,
        numbered=len(tokens) <= MOST_IN_NUMBERS,
        hint=message("Rows are queries, columns are keys. Click a cell to follow its number."),
    )


def way_to_weight(head: Computation, query: int, key: int) -> Iterator[Step]:
    """From query and key to the score, scaled, and to its share in the row; what is hidden has no score."""
    if head.result.visible[query, key]:
        yield from head.follow("scaled").derive(query, key)
    yield from head.follow("weights").derive(query, key)[:-1]
