"""One more kind of figure: a sentence, and from one of its tokens a ribbon to each that it looks at."""

from dataclasses import dataclass

from lessons.screen.message import Message, Token
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class RibbonRow:
    """What one query looks at: its weights, 0 where it is not allowed to look; the keys that lead; and it in words."""

    shares: tuple[float, ...]
    visible: tuple[bool, ...]
    leads: tuple[int, ...]
    says: Message


@dataclass(frozen=True)
class RibbonMoment:
    """The rows of one head at one moment of its training, and how good the model is by then."""

    rows: tuple[RibbonRow, ...]
    says: Message


@dataclass(frozen=True, eq=False, kw_only=True)
class Ribbons(Figure):
    """A sentence in large words, and ribbons from the `query` that are as wide as its weights.

    Pointing at a word shows its ribbons. Where there are several moments, one can move and play through them; it stands
    at the last.
    """

    tokens: tuple[Token, ...]
    query: int
    moments: tuple[RibbonMoment, ...]
