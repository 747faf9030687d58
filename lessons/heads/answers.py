"""How the numbers come about that are asked for on the page of several heads."""

from collections.abc import Iterable, Iterator

from lessons.heads.derivation import derive_heads
from lessons.heads.example import SideBySide
from lessons.screen.arithmetic import digits, sum_of, term
from lessons.screen.message import Numeral, message
from lessons.screen.screen import Step


def derive_of_heads(trace: SideBySide, head: int, number: str, *place: int) -> Iterable[Step]:
    """All lines that lead to a number that a question is about."""
    return sliced_numbers(*place) if number == "sliced" else row_without(trace, head, *place)


def sliced_numbers(n_heads: int, d_head: int) -> Iterator[Step]:
    """How many numbers the projections of heads hold that read only a slice each."""
    one, each = d_head * d_head, 3 * d_head * d_head
    yield Step(message("one matrix: {d_head} features in, {d_head} out", d_head=d_head), term(d_head) * d_head, one)
    yield Step(message("W_q, W_k and W_v of one head"), term(3) * one, each)
    yield Step(message("of all {heads} heads", heads=n_heads), term(n_heads) * each, n_heads * each)


def row_without(trace: SideBySide, head: int, query: int, key: int) -> Iterator[Step]:
    """What a row of weights sums to in training, where one of them is dropped and the others stay."""
    own, kept = derive_heads(trace).head(head), Numeral(digits(1 - trace.example.dropout))
    weights = [weight for m, weight in enumerate(own.numbers["weights"][query]) if own.visible[query][m] and m != key]
    left = sum(weights)
    yield own.step("weights", query, key)
    yield Step(
        message("what is left of the row of {query} without {key}", query=own.names[query], key=own.names[key]),
        sum_of(weights),
        left,
    )
    yield Step(
        message("each kept weight, and so their sum, is divided by the share that is kept, {kept}", kept=kept),
        term(left) / (1 - trace.example.dropout),
        left / (1 - trace.example.dropout),
    )
