"""One more kind of figure: matrices of many features as strips, a row a token, a thin bar a number."""

from dataclasses import dataclass

from attention_core.base.arrays import Array
from lessons.screen.message import Message, Token
from lessons.screen.screen import Colour, Figure


@dataclass(frozen=True, eq=False, kw_only=True)
class Strip:
    """One matrix. A bar goes up or down as its number does, and is as long as that, up to the `limit`.

    A question covers what is not `given`. The strips of the tokens that are `lit` stand out.
    """

    key: str
    name: str
    shape: Message
    values: Array
    limit: float
    colour: Colour
    given: bool = False
    lit: tuple[tuple[int, Colour], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Strips(Figure):
    """What enters a head, wide, and what the head makes of it, narrow: as wide as there are numbers, all alike."""

    tokens: tuple[Token, ...]
    strips: tuple[Strip, ...]  # the first is what enters
    query: int
    meets: int  # the token whose key the query meets
