"""How the numbers come about that are asked for of a head with one thing changed."""

from collections.abc import Callable, Iterable, Iterator

from attention_core.embeddings import rotation_angles
from lessons.screen.arithmetic import term
from lessons.screen.message import Fixed, message
from lessons.screen.screen import Step
from lessons.variants.changed_head import VariedHead
from lessons.variants.costs import tokens_kept


def derive_of_variant(varied: VariedHead, number: str, *place: int) -> Iterable[Step]:
    """All lines that lead to a number that a question is about: of the changed head, or one of those below."""
    ways: dict[str, Callable[..., Iterator[Step]]] = {
        "reached": tokens_reached,
        "turned apart": radians_apart,
        "cached": numbers_cached,
    }
    return ways[number](varied, *place) if number in ways else varied.to_changed.derive(number, *place)


def tokens_reached(varied: VariedHead, n_layers: int) -> Iterator[Step]:
    """How many tokens can have reached one in the middle through so many windows."""
    reach = int(varied.amount)
    yield Step(message("tokens to the left: a reach for each layer"), term(n_layers) * reach, n_layers * reach)
    if varied.example.example.causal:
        yield Step(message("with the token itself"), term(n_layers * reach) + 1, n_layers * reach + 1)
    else:
        yield Step(
            message("as many to the right, and the token itself"),
            term(2) * (n_layers * reach) + 1,
            2 * n_layers * reach + 1,
        )


def radians_apart(varied: VariedHead, query: int, key: int, pair: int) -> Iterator[Step]:
    """By how much the turns of two tokens differ, in one pair of features."""
    omega, names = float(rotation_angles(2, varied.plain.q.shape[-1])[1, pair]), varied.example.names
    for token in (query, key):
        yield Step(
            message("turn of {token}, at position {place} counted from 0", token=names[token], place=token),
            term(token) * omega,
            token * omega,
        )
    says = message("apart: the turn of one step, {omega} radians, for each step between them", omega=Fixed(omega, 4))
    yield Step(says, (term(query) - key) * omega, (query - key) * omega)


def numbers_cached(varied: VariedHead, n_tokens: int) -> Iterator[Step]:
    """How many numbers the cache keeps after so many tokens."""
    d_k, d_v = varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    kept, sets = tokens_kept(varied, n_tokens, True), varied.kv_heads
    each = d_k + d_v
    yield Step(message("numbers for one token in one set: a key and a value"), term(d_k) + d_v, each)
    yield Step(message("times the sets of keys and values: {sets}", sets=sets), term(sets) * each, sets * each)
    yield Step(
        message("times the tokens that are kept: {kept}", kept=kept), term(kept) * (sets * each), kept * sets * each
    )
