"""One boolean mask, given to two functions of PyTorch that read it in opposite ways."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from lessons.heads.derivation import ManyHeadsDerivation
from lessons.kit.head_derivation import HeadDerivation
from lessons.kit.matrices import KEYS, QUERIES, head_matrix, token_axis
from lessons.pytorch.parity import Parity, TwoMeanings
from lessons.screen.arithmetic import term
from lessons.screen.format import names
from lessons.screen.message import Fixed, Message, message, plural
from lessons.screen.screen import Matrix, Step


def meanings_band(two: TwoMeanings, derivation: ManyHeadsDerivation) -> Iterator[Matrix]:
    """The mask, and the weights of head 1 that each function makes of it."""
    mask, own = two.mask.float(), derivation.head(0)
    tokens = tuple(name.text for name in own.names)

    def entry(i: int, j: int) -> Step:
        says = message("the mask for {query} → {key}: 1 is True", query=own.names[i], key=own.names[j])
        return Step(says, term(float(mask[i, j])), float(mask[i, j]))

    yield Matrix(
        key="mask",
        title=message("mask: 1 is True"),
        values=mask,
        rows=token_axis(tokens, QUERIES),
        columns=token_axis(tokens, KEYS),
        scale="weight",
        colour="weight",
        step=entry,
        given=True,
    )
    yield blocked_weights(two, own)
    yield head_matrix(
        own, "weights", message("scaled_dot_product_attention"), two.kept[0], key="kept", visible=two.mask.tolist()
    )


def blocked_weights(two: TwoMeanings, own: HeadDerivation) -> Matrix:
    """What nn.MultiheadAttention makes of the mask: it blocks where True. A blind row has no numbers."""
    blind, visible = two.mask.all(dim=-1), (~two.mask).tolist()
    masked = torch.tensor(own.numbers["scaled"]).masked_fill(two.mask, -math.inf)
    numbers = own.numbers | {"masked": masked.tolist(), "weights": two.blocked[0].tolist()}
    followed = replace(own, numbers=numbers, visible=visible)

    def step(i: int, j: int) -> Step:
        if not blind[i]:
            return followed.step("weights", i, j)
        says = message(
            "weight of {key}: every key is hidden from {query}, and 0 ÷ 0 has no value",
            query=own.names[i],
            key=own.names[j],
        )
        return Step(says, term(0) / 0, math.nan)

    def before(i: int, j: int) -> Iterator[Step]:
        return iter(()) if blind[i] else followed.before("weights", i, j)

    return head_matrix(
        followed, "weights", message("nn.MultiheadAttention"), two.blocked[0], key="blocked", step=step, before=before
    )


def notice_meanings(parity: Parity, two: TwoMeanings) -> Iterator[Message]:
    """One cell where the mask is True, in both functions; and who is left with nothing to look at."""
    blocked, kept, who = two.blocked[0], two.kept[0], names(parity.tokens)
    i, j = telling_cell(two.mask, kept)
    weight = float(blocked[i, j])
    yield message(
        "The mask is True for {query} → {key}: there nn.MultiheadAttention gives the weight {blocked}, "
        "scaled_dot_product_attention {kept}.",
        query=who[i],
        key=who[j],
        blocked=message("“not a number”") if math.isnan(weight) else Fixed(weight),
        kept=Fixed(float(kept[i, j])),
    )
    yield message(
        "Of the keys of {query} the first leaves {blocked} visible, the second {kept}.",
        query=who[i],
        blocked=int((~two.mask[i]).sum()),
        kept=int(two.mask[i].sum()),
    )
    blind = two.mask.all(dim=-1).nonzero().flatten().tolist()
    if blind:
        yield notice_blind_rows(parity, two, blind)


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


def notice_blind_rows(parity: Parity, two: TwoMeanings, blind: list[int]) -> Message:
    """What the module gives a query that is blocked everywhere, with weights and without."""
    weights = message("the weights are numbers all the same")
    if two.blocked[:, blind].isnan().all():
        weights = message("the weights are not numbers (0 ÷ 0)")
    output = message("with need_weights=False the output is not a number either")
    if not two.without_weights[blind].isnan().any():
        output = message("with need_weights=False numbers come out as if nothing were wrong")
    query = names(parity.tokens)[blind[0]]
    return plural(
        "{query} is blocked everywhere: {weights}; {output}.",
        "{count} tokens are blocked everywhere, {query} first: {weights}; {output}.",
        len(blind),
        query=query,
        weights=weights,
        output=output,
    )
