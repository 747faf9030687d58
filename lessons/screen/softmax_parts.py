"""One more kind of figure: numbers that become parts of one whole."""

from dataclasses import dataclass

from lessons.screen.message import Message, Token
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class Portion:
    """What one key gets: its number, the size that is made of it, its part of the whole; what pointing at it says."""

    key: Token
    number: float
    size: float
    share: float
    says: Message


@dataclass(frozen=True, eq=False, kw_only=True)
class Sharing(Figure):
    """Numbers become sizes, and the sizes parts of one whole: bars up or down, bars from 0 to 1, one bar in parts.

    The three `lines` say what each of them is and how it comes about. While it is covered the numbers are seen, and
    `asks` stands where the whole will be. A click picks a cell of the one row of `matrix`.
    """

    query: Token
    portions: tuple[Portion, ...]
    lines: tuple[tuple[Message, Message], ...]
    asks: Message
    matrix: str
    number_domain: float  # the longest bar of a number: one that is longer ends there, with an arrow
