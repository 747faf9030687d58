"""How the numbers come about that are asked for on the page of positions, each in an order of its own."""

from collections.abc import Callable, Iterable, Iterator

from attention_core.attention import AttentionTrace, attend
from attention_core.masks import causal_mask
from lessons.example.example import ExampleTrace
from lessons.kit.head_derivation import derive_head
from lessons.positions.permutation import attend_with_positions
from lessons.positions.positioned_head import added_step, going_in_step, positioned_head
from lessons.screen.screen import Step


def attention_with(example: ExampleTrace, head: int, *, causal: bool) -> AttentionTrace:
    """The head without positions, with the causal mask or with none, whatever the example has."""
    a = example.heads.select(head)
    return attend(a.q, a.k, a.v, causal_mask(len(example.tokens)) if causal else None, scale=example.scale)


def derive_in_order(example: ExampleTrace, head: int, number: str, *place: int) -> Iterable[Step]:
    """All lines that lead to a number that a question is about."""
    return DERIVED_IN_ORDER[number](example, head, *place)


def weight_of_two_tokens(example: ExampleTrace, head: int, query: int, key: int) -> Iterable[Step]:
    """Their weight without mask and positions: the same wherever the two stand."""
    return derive_head(example, head, attention_with(example, head, causal=False)).derive("weights", query, key)


def output_at_the_front(example: ExampleTrace, head: int, token: int, feature: int) -> Iterable[Step]:
    """Of a token that was moved to the front, below the causal mask."""
    others = (position for position in range(len(example.tokens)) if position != token)
    moved = positioned_head(example, head, "none").permuted((token, *others))
    attention = attend_with_positions(moved.x, moved.projections, moved.kind, moved.seed, causal_mask(len(moved.x)))
    return moved.derivation(attention).derive("output", 0, feature)


def row_at_another_place(example: ExampleTrace, head: int, token: int, place: int, feature: int) -> Iterator[Step]:
    """What goes in for a token that has changed places with another, with sinusoidal positions."""
    order = [*range(len(example.tokens))]
    order[token], order[place] = place, token
    swapped = positioned_head(example, head, "sinusoidal").permuted(tuple(order))
    yield swapped.derivation(attention_with(example, head, causal=False)).step("x", place, feature)
    yield added_step(swapped, place, feature)
    yield going_in_step(swapped, place, feature)


def wave_added(example: ExampleTrace, head: int, position: int, feature: int) -> Iterator[Step]:
    """One number of a sinusoidal position."""
    yield added_step(positioned_head(example, head, "sinusoidal"), position, feature)


DERIVED_IN_ORDER: dict[str, Callable[..., Iterable[Step]]] = {
    "weight of two tokens": weight_of_two_tokens,
    "output at the front": output_at_the_front,
    "row at another place": row_at_another_place,
    "wave": wave_added,
}
