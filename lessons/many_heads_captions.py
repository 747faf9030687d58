"""Sentences of the lesson on heads, each computed from the numbers it speaks of."""

from attention_core.attention import AttentionTrace
from lessons.captions import name, plural
from lessons.formatting import number
from lessons.heads_example import HeadsTrace, Reach, SideBySide, head_difference, head_parts

HARDLY, CLEARLY = 0.05, 0.2  # shares of a row's weight: below the first heads hardly differ, from the second clearly


def difference_caption(trace: SideBySide) -> str:
    """Whether the heads differ, and by how much: measured, not promised."""
    noun, difference = trace.noun, head_difference(trace.heads)
    if trace.n_heads == 1:
        return f"There is one {noun}, so there is nothing to compare."
    if difference is None:
        return f"No query has a choice here, so all {noun}s look alike."
    a, b = (place + 1 for place in difference.heads)
    verdict = "hardly differ" if difference.mean < HARDLY else "differ clearly"
    verdict = "differ a little" if HARDLY <= difference.mean < CLEARLY else verdict
    return (
        f"The {noun}s {verdict}: on average two of them place {points(difference.mean)} of a row's weight on "
        f"different tokens (0 %: the same row, 100 %: no token in common). "
        f"From equal shares a row is {points(difference.from_even)} away. "
        f"Furthest apart are {noun}s {a} and {b} in the row of {name(trace.tokens, difference.query)}: "
        f"{points(difference.largest)}."
    )


def points(share: float) -> str:
    """A share in percent, with one decimal."""
    return f"{number(100 * share, 1)} %"


def way_caption(step: str, trace: HeadsTrace) -> str:
    """What happens at one step, with the sizes of the moment."""
    n, d_model = trace.x.shape
    h, d_head = trace.n_heads, trace.d_head
    if step == "project":
        heads = f"those of all {h} heads side by side" if h > 1 else "there is one head, and they are all its own"
        return (
            f"Each row of X, {d_model} {plural('number', d_model)}, becomes a query, a key and a value of {d_model}: "
            f"{heads}."
        )
    if step == "split":
        return (
            f"{n}×{d_model} is read as {h}×{n}×{d_head}: each head gets {d_head} neighbouring "
            f"{plural('feature', d_head)} of every token. No number changes."
        )
    if step == "concatenate":
        return (
            f"The outputs of the {h} {plural('head', h)}, {h}×{n}×{d_head}, stand side by side again: {n}×{d_model}. "
            "No number changes, and no head has heard of another."
        )
    return output_caption(trace)


def output_caption(trace: HeadsTrace) -> str:
    """How much each head brings to the last token's output."""
    last = len(trace.tokens) - 1
    lengths = head_parts(trace)[:, last].norm(dim=-1)
    who = name(trace.tokens, last)
    if len(lengths) == 1:
        return f"W_o mixes the features of the one head. What it adds for {who} has length {number(float(lengths[0]))}."
    most, least = int(lengths.argmax()), int(lengths.argmin())
    return (
        f"W_o mixes the heads: every number of the output is made from all of them. For {who}, "
        f"head {most + 1} adds most, a vector of length {number(float(lengths[most]))}, "
        f"and head {least + 1} least, {number(float(lengths[least]))}."
    )


def reach_caption(reach: Reach) -> str:
    """What a sliced head cannot see, in numbers, and what both ways cost."""
    cost = (
        f"W_q, W_k and W_v hold {thousands(reach.projected_maps)} numbers when every head projects all features, and "
        f"{thousands(reach.sliced_maps)} when each has its slice only."
    )
    if len(reach.projected) == 1:
        return f"{cost} With one head the slice is everything, so the two read the same features."
    projected, sliced = (float(reach.outside(changes).max()) for changes in (reach.projected, reach.sliced))
    return (
        f"{cost} Add 1 to a feature drawn here that lies outside a head's slice: the output of a "
        f"projecting head changes by up to {number(projected)}, that of a sliced head by {zero_or(sliced)}."
    )


def zero_or(value: float) -> str:
    """Exactly 0 where it is exactly 0."""
    return "exactly 0" if value == 0 else f"up to {number(value)}"


def dropout_caption(trace: SideBySide, dropped: AttentionTrace, head: int) -> str:
    """Which row is furthest from 1, and why."""
    p = trace.example.dropout
    if p == 0:
        return "The dropout is 0, so training mode changes nothing and every row still sums to 1."
    sums = dropped.weights[head].sum(dim=-1)
    row = int((sums - 1).abs().argmax())
    gone = int((dropped.weights[head] == 0).sum() - (trace.heads.weights[head] == 0).sum())
    visible = int(trace.heads.visible[head].sum())
    return (
        f"In training, {gone} of the {visible} {plural('weight', visible)} of this {trace.noun} "
        f"{'was' if gone == 1 else 'were'} dropped and the others divided by {number(1 - p)}. "
        f"Furthest from 1 is the row of {name(trace.tokens, row)}, which now sums to {number(float(sums[row]))}; "
        f"the mean of all rows is {number(float(sums.mean()))}. Only over many draws does it come to 1; "
        "outside training nothing is dropped."
    )


def parameter_caption(trace: HeadsTrace) -> str:
    """How many parameters there are, and that the number of heads is not in the count."""
    d_model, bias = trace.x.shape[-1], trace.example.bias
    total = sum(parameter.numel() for parameter in trace.module.parameters())
    formula = f"4 · {d_model} · {d_model}" + (f" + 4 · {d_model}" if bias else "")
    count = f"{thousands(total)} parameters: {formula}. The number of heads is not in it"
    if trace.n_heads == 1:
        return f"{count}: several heads would share the same maps."
    return (
        f"{count}: {trace.n_heads} heads of {trace.d_head} {plural('feature', trace.d_head)} share the maps "
        f"that one head of {d_model} would have."
    )


def thousands(count: int) -> str:
    """A count with its thousands set apart."""
    return f"{count:,}"
