"""The attention of every head of every layer on one text."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.one_head.attention import AttentionTrace
from lessons.screen import (
    Cells,
    ListOf,
    Matrices,
    Matrix,
    Message,
    Percent,
    Step,
    Token,
    argmax_ties,
    message,
    names,
    percent,
    plural,
)
from lessons.shared.matrices import KEYS, QUERIES, token_axis
from lessons.trace.story import step_of_given

ONLY_WEIGHTS = message("Rows are queries, columns are keys. Point at a cell to read its weight.")
TARGETS_MARKED = message("A marked corner shows where a perfect head would look.")
MOST_NAMED = 3  # cells that a sentence names where they tie
MOST_NUMBERED = 12  # tokens

Traces = Sequence[AttentionTrace]  # one for each layer, with an axis of heads in front


def head_name(layer: int, head: int) -> Message:
    """A head; the screen counts from 1."""
    return message("layer {layer}, head {head}", layer=layer + 1, head=head + 1)


def every_head(
    tokens: tuple[str, ...],
    layers: Traces,
    targets: Bool[Tensor, "queries keys"] | None = None,
    *,
    width: int = 630,
    noticed: bool = True,
    left_out: tuple[int, int] | None = None,
) -> Matrices:
    """A row of maps for each layer, or all in one row where a layer has a single head; `targets` are marked.

    The title of the head that is `left_out` says so, and its map is grey. What there is to notice is not said where it
    is not `noticed`: among all weights it takes a while to find.
    """
    called = names(tokens)
    look = {"rows": token_axis(tokens, QUERIES), "columns": token_axis(tokens, KEYS), "marked": targets}
    maps = tuple(
        tuple(
            map_of(called, trace, layer, head, left_out == (layer, head), **look) for head in range(len(trace.weights))
        )
        for layer, trace in enumerate(layers)
    )
    single = all(len(heads) == 1 for heads in maps)
    seen = tuple(trace.visible.numpy().tobytes() for trace in layers)
    marked = None if targets is None else targets.numpy().tobytes()
    notice = (strongest_attention(called, layers), *([] if targets is None else [TARGETS_MARKED])) if noticed else ()
    return Matrices(
        key="heads",
        name=message("The attention of every head"),
        first=maps[0][0].key,
        width=width,
        hint=ONLY_WEIGHTS,
        notice=notice,
        bands=(tuple(heads[0] for heads in maps),) if single else maps,
        numbered=len(tokens) <= MOST_NUMBERED,
        alike=(tokens, tuple(map(len, maps)), seen, marked, left_out),
    )


def map_of(
    called: Sequence[Token], trace: AttentionTrace, layer: int, head: int, left_out: bool, **look: Any
) -> Matrix:
    """The weights of one head. There is nothing to follow: only the model as a whole leads to them."""
    weights, visible, name = trace.weights[head].tolist(), trace.visible[head].tolist(), head_name(layer, head)

    def step(i: int, j: int) -> Step:
        pair = {"head": name, "query": called[i], "key": called[j]}
        says = message("{head}: {query} → {key}", **pair)
        if not visible[i][j]:
            says = message("{head}: {query} → {key}: masked", **pair)
        return step_of_given(says, weights[i][j])

    key = f"{layer}.{head}"
    title, colour = (message("{head}: left out", head=name), "muted") if left_out else (name, "weight")
    return Matrix(
        key=key,
        title=title,
        values=trace.weights[head],
        scale="weight",
        colour=colour,
        visible=visible,
        step=step,
        sources=lambda i, j: (Cells(key, row=i),),
        **look,
    )


def strongest_attention(called: Sequence[Token], layers: Traces) -> Message:
    """The largest weight of any head, among queries that have a choice."""
    weights = torch.stack([trace.weights for trace in layers])
    choosing = torch.stack([trace.visible for trace in layers]).sum(dim=-1, keepdim=True) > 1
    strongest = argmax_ties(weights.where(choosing, -torch.inf), percent)
    if not strongest:
        return message("With only one token to look at, there is no choice.")
    weight = Percent(float(weights[strongest[0]]))
    if len(strongest) > MOST_NAMED:
        return message(
            "Largest weight where there is a choice: {weight}, in {count} cells.",
            weight=weight,
            count=len(strongest),
        )
    pairs = tuple(
        message("{query} to {key} ({head})", query=called[i], key=called[j], head=head_name(layer, head))
        for layer, head, i, j in strongest
    )
    return plural(
        "Largest weight where there is a choice: {pairs}, {weight}.",
        "Largest weights where there is a choice: {pairs}, {weight} each.",
        len(strongest),
        pairs=ListOf(pairs),
        weight=weight,
    )
