"""What there is to notice at each stage of one head, from the tokens to the output."""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from attention_core.one_head.attention import AttentionTrace
from lessons.example.example import ExampleTrace, first_query
from lessons.screen import Fixed, ListOf, Message, Token, argmax_ties, message, plural
from lessons.shared.attention_notices import notice_mix, notice_row

Stage = Literal["x", "qkv", "scores", "scaled", "masked", "weights", "output"]
STAGES: tuple[Stage, ...] = get_args(Stage)
BUT_FOR_ROUNDING = {"rtol": 1e-5, "atol": 1e-6}
STAGE_NAMES = {
    "scores": message("scores"),
    "scaled": message("scaled"),
    "masked": message("masked scores"),
    "weights": message("weights"),
    "output": message("output"),
}


def notice_stage(stage: Stage, trace: ExampleTrace, head: int) -> tuple[Message, ...]:
    """What there is to notice at this stage."""
    says: dict[Stage, Callable[[ExampleTrace, AttentionTrace], tuple[Message, ...]]] = {
        "x": notice_x,
        "qkv": notice_qkv,
        "scores": notice_scores,
        "scaled": notice_scaled,
        "masked": notice_masked,
        "weights": notice_weights,
        "output": notice_output,
    }
    return says[stage](trace, trace.heads.select(head))


def longest(names: Sequence[Token], vectors: Tensor) -> tuple[ListOf, Fixed]:
    """Whose vector is longest, all of them where several read the same, and its length."""
    lengths = vectors.norm(dim=-1)
    return ListOf(tuple(names[i] for (i,) in argmax_ties(lengths))), Fixed(float(lengths.max()))


def notice_x(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """How many vectors there are, and which token repeats."""
    n, d_model = trace.x.shape
    size = plural(
        "{count} token, a row of size {d_model}.",
        "{count} tokens, each a row of size {d_model}.",
        n,
        d_model=d_model,
    )
    repeated = next((token for token in trace.tokens if trace.tokens.count(token) > 1), None)
    if repeated is None:
        return (size,)
    positions = tuple(i for i, token in enumerate(trace.tokens) if token == repeated)
    numbers = {"token": Token(repeated, positions[0]), "positions": ListOf(tuple(i + 1 for i in positions))}
    if all(torch.allclose(trace.x[positions[0]], trace.x[i], **BUT_FOR_ROUNDING) for i in positions):
        return size, message("{token} is at positions {positions}: the same row each time.", **numbers)
    return size, message(
        "{token} is at positions {positions}, each time with a different row: X holds more than the token.", **numbers
    )


def notice_qkv(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """What one row becomes, and whose key is longest: it can make large scores."""
    whose, length = longest(trace.names, attention.k)
    return (
        plural(
            "Each row of X becomes a query and a key of one feature and a value of {d_v}.",
            "Each row of X becomes a query and a key of {count} features and a value of {d_v}.",
            attention.q.shape[-1],
            d_v=attention.v.shape[-1],
        ),
        message("The longest key is that of {tokens}, with length {length}.", tokens=whose, length=length),
    )


def notice_scores(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """The pairs of query and key with the largest dot product."""
    best = argmax_ties(attention.scores)
    score = Fixed(float(attention.scores.max()))
    if len(best) == attention.scores.numel() > 1:
        return ()
    pairs = ListOf(
        tuple(
            message("the query of {query} with the key of {key}", query=trace.names[i], key=trace.names[j])
            for i, j in best
        )
    )
    return (message("The largest score is {score}: {pairs}.", score=score, pairs=pairs),)


def notice_scaled(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """What the division does to the range of the scores."""
    before = {"low": Fixed(float(attention.scores.min())), "high": Fixed(float(attention.scores.max()))}
    if not trace.example.scaling:
        return (message("Scaling is off: the scores run from {low} to {high}.", **before),)
    after = {"low": Fixed(float(attention.scaled.min())), "high": Fixed(float(attention.scaled.max()))}
    d_k = trace.example.d_k
    scaled = message("Divided by √{d_k}, they run from {low} to {high}.", d_k=d_k, **after)
    return message("The scores run from {low} to {high}.", **before), scaled


def notice_masked(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """How many scores are hidden, and what the first and the last query see."""
    n, hidden = len(trace.tokens), int((~attention.visible).sum())
    if not trace.example.causal:
        return (message("There is no mask: every query may look at every key."),)
    if not hidden:
        return ()
    return (
        message("The causal mask hides {hidden} of {total} scores.", hidden=hidden, total=attention.visible.numel()),
        message(
            "{first} sees only itself, {last} sees all {n} tokens.",
            first=trace.names[0],
            last=trace.names[-1],
            n=n,
        ),
    )


def notice_weights(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """A row with a strong preference, among those that have a choice."""
    choice = attention.visible.sum(dim=-1) > 1
    strongest = attention.weights.max(dim=-1).values.where(choice, -1.0)
    return (notice_row(trace.names, attention, int(strongest.argmax())),)


def notice_output(trace: ExampleTrace, attention: AttentionTrace) -> tuple[Message, ...]:
    """What the query receives that asks first."""
    return (notice_mix(trace.names, attention, first_query(trace)),)
