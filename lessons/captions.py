"""Sentences that say what the numbers show. Each is computed from the tensors it speaks of."""

from lessons.example import ExampleTrace
from lessons.formatting import magnitude, seen


def tiny_number(value: float) -> str:
    """As `magnitude`, with its sign."""
    return f"{'−' if value < 0 else ''}{magnitude(abs(value))}"


def name(tokens: tuple[str, ...], place: int) -> str:
    """The token in quotes; with its place where the same token comes more than once."""
    again = f" ({place + 1})" if tokens.count(tokens[place]) > 1 else ""
    return f"“{seen(tokens[place])}”{again}"


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


def plural(word: str, count: int) -> str:
    """The word, with an s unless there is exactly one."""
    return word if count == 1 else f"{word}s"
