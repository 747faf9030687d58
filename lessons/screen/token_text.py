"""One more kind of figure: a text in tokens, one after the other as it is read, and something below each of them."""

from dataclasses import dataclass

from lessons.screen.message import Message
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class TextToken:
    """A token as it can be seen, what is written below it, and what pointing at it says.

    A `share` is drawn as a bar, 1 for the longest; one that is `beyond` the others is cut off and has another look.
    A click chooses number `chooses`, where the figure says what of.
    """

    text: str
    below: str
    says: Message
    share: float = 0.0
    beyond: bool = False
    marked: bool = False
    chooses: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenText(Figure):
    """The tokens of a text in lines, with bars below them where it `shares` something out.

    Where a click on a token means something, `picks` names what it chooses, such as the control of a word.
    """

    tokens: tuple[TextToken, ...]
    shares: bool = False
    picks: str = ""
