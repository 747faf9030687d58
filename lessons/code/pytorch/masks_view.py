"""One boolean mask, given to two functions of PyTorch that read it in opposite ways."""

import math
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.measured.parity import TwoMeanings
from lessons.code.pytorch.compute import Beside, compute_meanings
from lessons.screen import Fixed, Matrix, Message, Token, message, plural
from lessons.shared.matrices import KEYS, QUERIES, token_axis, traced_matrix


def meanings_band(beside: Beside, two: TwoMeanings) -> Iterator[Matrix]:
    """The mask, and the weights of head 1 that each function makes of it. A blind row has no numbers."""
    tokens, computation = beside.ours.tokens, compute_meanings(beside)
    axes = {"rows": token_axis(tokens, QUERIES), "columns": token_axis(tokens, KEYS)}
    look = {**axes, "scale": "weight", "colour": "weight"}
    mask = {"values": two.mask.float(), "given": True, **look}
    blocked = {"key": "blocked", "values": two.blocked[0], "visible": ~two.mask, **look}
    kept = {"key": "kept", "values": two.kept[0], "visible": two.mask, **look}
    yield traced_matrix(computation, "mask", message("mask: 1 is True"), tokens, **mask)
    yield traced_matrix(computation, "blocked.weights", message("nn.MultiheadAttention"), tokens, **blocked)
    yield traced_matrix(computation, "kept.weights", message("scaled_dot_product_attention"), tokens, **kept)


def notice_meanings(two: TwoMeanings, who: Sequence[Token]) -> Iterator[Message]:
    """One cell where the mask is True, in both functions; and who is left with nothing to look at."""
    blocked, kept = two.blocked[0], two.kept[0]
    i, j = telling_cell(two.mask, kept)
    weight = float(blocked[i, j])
    yield message(
        "The mask is True for {query} → {key}: nn.MultiheadAttention gives the weight {blocked}, "
        "scaled_dot_product_attention gives {kept}.",
        query=who[i],
        key=who[j],
        blocked=message("“not a number”") if math.isnan(weight) else Fixed(weight),
        kept=Fixed(float(kept[i, j])),
    )
    blind = two.mask.all(dim=-1).nonzero().flatten().tolist()
    if blind:
        yield notice_blind_rows(two, who, blind)


def telling_cell(mask: Bool[Tensor, "queries keys"], kept: Float[Tensor, "queries keys"]) -> tuple[int, int]:
    """Where the mask is True and both functions have a choice: two keys left to look at in either meaning.

    Where no query has that, at least the one that blocks leaves something; else any cell. Of these the one that
    gets the largest weight where it is kept.
    """
    true, false = mask.sum(dim=-1), (~mask).sum(dim=-1)
    for telling in ((true > 1) & (false > 1), (true > 0) & (false > 0), true > 0):
        if telling.any():
            break
    shown = torch.where(mask & telling[:, None], kept, -1.0)
    return divmod(int(shown.argmax()), len(mask))


def notice_blind_rows(two: TwoMeanings, who: Sequence[Token], blind: list[int]) -> Message:
    """What the module gives a query that is blocked everywhere, with weights and without."""
    weights = message("the weights are still numbers")
    if two.blocked[:, blind].isnan().all():
        weights = message("the weights are not numbers (0 ÷ 0)")
    output = message("with need_weights=False the output is not a number either")
    if not two.without_weights[blind].isnan().any():
        output = message("with need_weights=False numbers come out as if nothing were wrong")
    return plural(
        "{query} is blocked everywhere: {weights}; {output}.",
        "{count} tokens are blocked everywhere, the first of them {query}: {weights}; {output}.",
        len(blind),
        query=who[blind[0]],
        weights=weights,
        output=output,
    )
