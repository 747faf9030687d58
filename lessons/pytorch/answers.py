"""How the numbers come about that are asked for beside PyTorch."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from lessons.heads.derivation import ManyHeadsDerivation
from lessons.pytorch.parity import Parity
from lessons.pytorch.weights_view import average_of_heads
from lessons.screen.arithmetic import divided, term
from lessons.screen.message import message
from lessons.screen.screen import Step


def derive_beside_pytorch(parity: Parity, derivation: ManyHeadsDerivation, number: str, *place: int) -> Iterable[Step]:
    """All lines that lead to a number that a question is about."""
    ways: dict[str, Callable[..., Iterable[Step]]] = {
        "blocked where True": partial(keys_left, parity, derivation, blocks=True),
        "blocked where False": partial(keys_left, parity, derivation, blocks=False),
        "averaged": average_of_heads(parity, derivation, 0).derive if parity.per_head is not None else None,
        "divided twice": partial(divided_again, derivation),
    }
    return ways[number](*place)


def keys_left(parity: Parity, derivation: ManyHeadsDerivation, query: int, *, blocks: bool) -> Iterator[Step]:
    """At how many keys a query may look, where True or False in its row of the mask blocks."""
    row = parity.may_attend[query].tolist()
    blocked, who = row.count(blocks), derivation.names[query]
    yield Step(message("entries of the mask in the row of {query}", query=who), term(len(row)), len(row))
    yield Step(
        message("of them True: each blocks a key") if blocks else message("of them False: each blocks a key"),
        term(blocked),
        blocked,
    )
    yield Step(
        message("keys at which {query} may look: those that are not blocked", query=who),
        term(len(row)) - blocked,
        len(row) - blocked,
    )


def divided_again(derivation: ManyHeadsDerivation, query: int, key: int) -> Iterator[Step]:
    """A score whose query was divided before PyTorch's function divides it once more."""
    own, divisor = derivation.head(0), derivation.divisor
    pair = {"query": own.names[query], "key": own.names[key], "divisor": divisor}
    score, root = own.numbers["scores"][query][key], math.sqrt(derivation.width("q"))
    yield from own.derive("scores", query, key)
    yield Step(
        message("score of {key} for {query} where q was divided by {divisor}", **pair),
        divided(score, divisor),
        score / root,
    )
    yield Step(
        message("the scaled score of {key} for {query}: the function divides by {divisor} once more", **pair),
        divided(score / root, divisor),
        score / root / root,
    )
