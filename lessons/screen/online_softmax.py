"""One more kind of figure: a row of numbers that is read block by block, with what is known after each."""

from dataclasses import dataclass

from lessons.screen.message import Message, Token
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class BlockState:
    """What is known after one block: of the numbers so far the largest, and what was made of them.

    `sizes` are e to the differences from the largest, and `says` what pointing at each of them says; `output` is what
    comes out if these were all the keys. The four `lines` say what happened on each line of the picture.
    """

    begin: int
    end: int
    largest: float
    sizes: tuple[float, ...]
    total: float
    output: tuple[float, ...]
    says: tuple[Message, ...]
    output_says: tuple[Message, ...]
    lines: tuple[Message, Message, Message, Message]


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineSoftmaxFigure(Figure):
    """Numbers as bars, read block by block; below them sizes, the parts of their sum, and the output so far.

    The browser moves from block to block, forth and back. `titles` name the four lines.
    """

    query: Token
    keys: tuple[Token, ...]
    numbers: tuple[float, ...]
    moments: tuple[BlockState, ...]
    titles: tuple[Message, Message, Message, Message]
    number_domain: float  # the longest bar of a number: no number is beyond it
    output_domain: float  # the same of the output
