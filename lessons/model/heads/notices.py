"""What there is to notice in the lesson on heads, each sentence made from the numbers it speaks of."""

from jaxtyping import Bool
from torch import Tensor

from attention_core.measured.head_measures import HeadDifference, head_contributions, head_difference
from attention_core.one_head.attention import AttentionTrace
from lessons.model.heads.example import HeadsTrace, SideBySide
from lessons.screen import Fixed, ListOf, Message, argmax_ties, format_value, message, names, number, plural

HARDLY, CLEARLY = 0.05, 0.2  # shares of a row's weight: below the first heads hardly differ, from the second clearly
MOST_NAMED_ROWS = 3  # of several that tie


def points(share: float) -> Fixed:
    """A share in percent, with one decimal."""
    return Fixed(100 * share, 1)


def notice_difference(trace: SideBySide) -> tuple[Message, ...]:
    """Whether the heads differ, and by how much; nothing where every query sees a single key."""
    if trace.n_heads == 1:
        return (message("There is one head, so there is nothing to compare."),)
    difference = head_difference(trace.heads)
    if difference is None:
        return ()
    things = message("sentences") if trace.module is None else message("heads")
    measured = message(
        "{verdict}: on average, any two of them place {mean}% of a row's weight on different keys.",
        verdict=verdict_on_heads(difference.mean, things),
        mean=points(difference.mean),
    )
    return measured, *notice_furthest(trace, difference, things)


def verdict_on_heads(mean: float, things: Message) -> Message:
    """How much heads differ, or the sentences of a batch, in words."""
    if mean < HARDLY:
        return message("The {things} hardly differ", things=things)
    if mean < CLEARLY:
        return message("The {things} differ a little", things=things)
    return message("The {things} differ clearly", things=things)


def notice_furthest(trace: SideBySide, difference: HeadDifference, things: Message) -> tuple[Message, ...]:
    """The rows that differ most; nothing where many tie."""
    furthest = argmax_ties(difference.distances, lambda share: number(100 * share, 1))
    if len(furthest) > MOST_NAMED_ROWS:
        return ()
    rows, tokens = [], names(trace.tokens)
    for pair, place in furthest:
        (a, b), token = difference.pairs[pair], tokens[difference.queries[place]]
        rows.append(message("{things} {a} and {b} in the row of {token}", things=things, a=a + 1, b=b + 1, token=token))
    return (
        message(
            "The rows furthest apart are {rows}: {largest}%.",
            rows=ListOf(tuple(rows)),
            largest=points(float(difference.distances.max())),
        ),
    )


# The way of the tensors: what happens at one step, with the sizes of the moment.


def notice_project(trace: HeadsTrace) -> tuple[Message, ...]:
    """What a row of X becomes."""
    if not trace.usual_sizes:
        return (
            plural(
                "Each row of X, {d_model} wide, becomes a query and a key of one feature and a value of {values}. "
                "They hold the numbers of all heads, side by side.",
                "Each row of X, {d_model} wide, becomes a query and a key of {count} features and a value of {values}. "
                "They hold the numbers of all heads, side by side.",
                trace.q.shape[-1],
                d_model=trace.x.shape[-1],
                values=trace.v.shape[-1],
            ),
        )
    return (
        plural(
            "Each row of X, a single number, becomes a query, a key and a value of one number each.",
            "Each row of X, {count} numbers, becomes a query, a key and a value of {count} numbers each.",
            trace.x.shape[-1],
        ),
        *([message("They hold the numbers of all heads, side by side.")] if trace.n_heads > 1 else []),
    )


def notice_split(trace: HeadsTrace, role: str) -> tuple[Message, ...]:
    """How the features are shared out."""
    parts = getattr(trace.heads, role).shape
    whole, parts, each = shape_in_words(getattr(trace, role).shape), shape_in_words(parts), parts[-1]
    shared = plural(
        "Each head gets one feature of every token.",
        "Each head gets {count} neighbouring features of every token.",
        each,
    )
    split = message("The shape {whole} is read as {parts}.", whole=whole, parts=parts)
    return (split, shared) if trace.n_heads > 1 else (split,)


def notice_concatenate(trace: HeadsTrace) -> tuple[Message, ...]:
    """What becomes of the outputs of all heads."""
    shapes = {"parts": shape_in_words(trace.heads.output.shape), "whole": shape_in_words(trace.concatenated.shape)}
    if trace.n_heads == 1:
        return (message("The shape {whole} is read as {parts}.", whole=shapes["parts"], parts=shapes["whole"]),)
    return (
        message("The outputs of the heads, {parts}, are put side by side again: {whole}.", **shapes),
        message("No number changes, and no head knows yet what another has found."),
    )


def shape_in_words(shape: tuple[int, ...]) -> str:
    """A shape as a sentence writes it."""
    return "×".join(map(str, shape))


def notice_joined(trace: HeadsTrace) -> tuple[Message, ...]:
    """How much each head adds to the last token's output."""
    token = names(trace.tokens)[-1]
    lengths = head_contributions(trace.heads.output, trace.module.W_o)[:, -1].norm(dim=-1)
    longest, shortest = argmax_ties(lengths), argmax_ties(-lengths)
    most, least = Fixed(float(lengths.max())), Fixed(float(lengths.min()))
    mixes = message("W_o mixes the heads: every number of the output is made from all of them.")
    if len(longest) == trace.n_heads:
        return () if trace.n_heads == 1 else (mixes,)
    return (
        mixes,
        plural(
            "For {token}, head {heads} adds the longest vector, of length {length}.",
            "For {token}, heads {heads} add the longest vectors, of length {length} each.",
            len(longest),
            token=token,
            heads=numbers_of_heads(longest),
            length=most,
        ),
        plural(
            "Head {heads} adds the shortest, of length {length}.",
            "Heads {heads} add the shortest, of length {length} each.",
            len(shortest),
            heads=numbers_of_heads(shortest),
            length=least,
        ),
    )


def numbers_of_heads(heads: list[tuple[int, ...]]) -> ListOf:
    """Heads as they are counted from 1."""
    return ListOf(tuple(head + 1 for (head,) in heads))


def notice_model(trace: SideBySide) -> tuple[Message, ...]:
    """What the heads of this model do otherwise than multi-head attention does as a rule."""
    if trace.trained is None or not isinstance(trace, HeadsTrace):
        return ()
    said = []
    if trace.module.rotary is not None:
        said.append(message("After the split, each head of this model turns its queries and keys by their positions."))
    if trace.added is not None:
        said.append(message("Before it makes queries and keys, this model adds a position vector to X."))
    if trace.trained.sliced:
        said.append(message("Each head of this model reads only a slice of X: its matrices are zero elsewhere."))
    return tuple(said)


# Dropout.


def notice_dropout(trace: SideBySide, dropped: AttentionTrace, head: int) -> tuple[Message, ...]:
    """How many weights were dropped, what the rows sum to then, and that this is the case in training only."""
    if trace.chosen.dropout == 0:
        return (message("The dropout is 0, so nothing is dropped in training either."),)
    return (
        notice_dropped(trace, dropped, head),
        *notice_row_sums(trace, dropped, head),
        message("Over many draws a row sums to 1 on average. Outside training nothing is dropped."),
    )


def notice_dropped(trace: SideBySide, dropped: AttentionTrace, head: int) -> Message:
    """How many weights were dropped, and what became of the others."""
    visible, gone = int(trace.heads.visible[head].sum()), int(was_dropped(trace, dropped, head).sum())
    kept = Fixed(1 - trace.chosen.dropout)
    return message(
        "Visible weights dropped in training: {count} of {visible}. The rest are divided by {kept}.",
        count=gone,
        visible=visible,
        kept=kept,
    )


def was_dropped(trace: SideBySide, dropped: AttentionTrace, head: int) -> Bool[Tensor, "queries keys"]:
    """The weights of a head that training set to 0."""
    return (trace.heads.weights[head] > 0) & (dropped.weights[head] == 0)


def notice_row_sums(trace: SideBySide, dropped: AttentionTrace, head: int) -> tuple[Message, ...]:
    """The rows whose sums are furthest from 1; nothing where that is every row, or one on either side."""
    tokens, sums = names(trace.tokens), dropped.weights[head].sum(dim=-1)
    rows = [row for (row,) in argmax_ties((sums - 1).abs())]
    named, each = ListOf(tuple(tokens[row] for row in rows)), tuple(Fixed(float(sums[row])) for row in rows)
    if len(set(map(format_value, each))) > 1 or len(rows) == len(tokens):
        return ()
    return (
        plural(
            "The row whose sum is furthest from 1 is that of {rows}: it now sums to {sum}.",
            "The rows whose sums are furthest from 1 are those of {rows}: they now sum to {sum} each.",
            len(rows),
            rows=named,
            sum=each[0],
        ),
    )


# Parameters.


def notice_parameters(trace: HeadsTrace) -> tuple[Message, ...]:
    """That the number of heads is not in the count; nothing where heads are not as wide together as a token."""
    if not trace.usual_sizes or trace.n_heads == 1:
        return ()
    return (
        plural(
            "The number of heads does not change the number of parameters: {heads} heads of 1 feature share the "
            "projections that one head of "
            "{d} would have.",
            "The number of heads does not change the number of parameters: {heads} heads of {count} features share "
            "the projections that one "
            "head of {d} would have.",
            trace.d_head,
            heads=trace.n_heads,
            d=trace.x.shape[-1],
        ),
    )
