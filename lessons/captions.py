"""Sentences that say what the numbers show. Each is computed from the tensors it speaks of."""

from attention_core.attention import AttentionTrace
from lessons.example import ExampleTrace
from lessons.formatting import magnitude, number, percent, seen

STAGES = ("x", "qkv", "scores", "scaled", "masked", "weights", "output")


def tiny_number(value: float) -> str:
    """As `magnitude`, with its sign."""
    return f"{'−' if value < 0 else ''}{magnitude(abs(value))}"


def name(tokens: tuple[str, ...], place: int) -> str:
    """The token in quotes; with its place where the same token comes more than once."""
    again = f" ({place + 1})" if tokens.count(tokens[place]) > 1 else ""
    return f"“{seen(tokens[place])}”{again}"


def stage_caption(stage: str, trace: ExampleTrace, head: int = 0) -> str:
    """One sentence on what to notice at this stage of the pipeline."""
    attention = trace.heads.select(head)
    if stage == "x":
        return tokens_caption(trace)
    if stage == "qkv":
        return projections_caption(trace, attention)
    if stage == "scaled":
        return scaling_caption(trace, attention)
    captions = {
        "scores": scores_caption,
        "masked": mask_caption,
        "weights": weights_caption,
        "output": output_caption,
    }
    return captions[stage](trace.tokens, attention)


def tokens_caption(trace: ExampleTrace) -> str:
    """How many vectors there are, and which token comes twice."""
    n, d_model = trace.x.shape
    size = f"{n} {plural('token', n)}, each a row of {d_model} {plural('number', d_model)}."
    repeated = next((token for token in trace.tokens if trace.tokens.count(token) > 1), None)
    if repeated is None:
        return f"{size} No token comes twice, so each has a row of its own."
    places = [str(i + 1) for i, token in enumerate(trace.tokens) if token == repeated]
    where = f"{', '.join(places[:-1])} and {places[-1]}"
    return f"{size} “{seen(repeated)}” stands at places {where}: the same row each time."


def projections_caption(trace: ExampleTrace, attention: AttentionTrace) -> str:
    """What one row becomes, and whose key is longest: it can make the largest scores."""
    lengths = attention.k.norm(dim=-1)
    longest = int(lengths.argmax())
    return (
        f"Each row of X becomes a query and a key of {attention.q.shape[-1]} and a value of {attention.v.shape[-1]}. "
        f"The longest key is that of {name(trace.tokens, longest)}: length {number(float(lengths[longest]))}."
    )


def scores_caption(tokens: tuple[str, ...], attention: AttentionTrace) -> str:
    """The best match of all."""
    flat = int(attention.scores.argmax())
    i, j = divmod(flat, len(tokens))
    return (
        f"The largest score is {number(float(attention.scores[i, j]))}: "
        f"the query of {name(tokens, i)} fits the key of {name(tokens, j)} best."
    )


def scaling_caption(trace: ExampleTrace, attention: AttentionTrace) -> str:
    """What the division does to the range of the scores."""
    low, high = (number(float(v)) for v in (attention.scores.min(), attention.scores.max()))
    if trace.scale == 1:
        why = "√1 = 1" if trace.example.scaling else "the scaling is switched off"
        return f"Nothing changes here, as {why}: the scores run from {low} to {high}."
    scaled_low, scaled_high = (number(float(v)) for v in (attention.scaled.min(), attention.scaled.max()))
    return (
        f"Divided by √{trace.example.d_k} = {number(1 / trace.scale)}, the scores run "
        f"from {scaled_low} to {scaled_high}; before, from {low} to {high}."
    )


def mask_caption(tokens: tuple[str, ...], attention: AttentionTrace) -> str:
    """How many scores are hidden, and who sees least."""
    hidden, total = int((~attention.visible).sum()), attention.visible.numel()
    if not hidden:
        return f"No mask: all {total} {plural('score', total)} stay, and every token may look at every token."
    choices = attention.visible.sum(dim=-1)
    least, most = int(choices.argmin()), int(choices.argmax())
    return (
        f"{hidden} of {total} scores are hidden: {name(tokens, least)} sees {int(choices[least])} of {len(tokens)} "
        f"{plural('token', len(tokens))}, {name(tokens, most)} sees {int(choices[most])}."
    )


def weights_caption(tokens: tuple[str, ...], attention: AttentionTrace) -> str:
    """The row with the strongest preference among those that have a choice."""
    choices = attention.visible.sum(dim=-1)
    if int(choices.max()) == 1:
        return f"{name(tokens, 0)} has nothing else to look at, so it gives itself the whole weight: 100 %."
    strongest = attention.weights.masked_fill((choices == 1)[:, None], -1).max(dim=-1).values
    return row_caption(tokens, attention, int(strongest.argmax()))


def row_caption(tokens: tuple[str, ...], attention: AttentionTrace, query: int) -> str:
    """Whom this query looks at most, and second most among those it may look at."""
    row = attention.weights[query]
    choices = int(attention.visible[query].sum())
    order = row.masked_fill(~attention.visible[query], -1).argsort(descending=True, stable=True).tolist()
    if choices == 1:
        return f"{name(tokens, query)} looks at {name(tokens, order[0])} alone ({percent(float(row[order[0]]))})."
    first, second = order[:2]
    return (
        f"{name(tokens, query)} looks mostly at {name(tokens, first)} ({percent(float(row[first]))}), "
        f"then at {name(tokens, second)} ({percent(float(row[second]))})."
    )


def output_caption(tokens: tuple[str, ...], attention: AttentionTrace, query: int | None = None) -> str:
    """What a query, the last unless named, takes away: a mixture, and its largest part."""
    last = len(tokens) - 1 if query is None else query
    row = attention.weights[last]
    choices, most = int(attention.visible[last].sum()), int(row.argmax())
    if choices == 1:
        return f"{name(tokens, last)} takes away the value of {name(tokens, most)}, unmixed."
    return (
        f"{name(tokens, last)} takes away a mixture of {choices} values; "
        f"the largest part, {percent(float(row[most]))}, is the value of {name(tokens, most)}."
    )


def plural(word: str, count: int) -> str:
    """The word, with an s unless there is exactly one."""
    return word if count == 1 else f"{word}s"
