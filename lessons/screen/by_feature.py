"""One more kind of figure: a query and each key, feature by feature, and how one of their scores adds up."""

from dataclasses import dataclass

from lessons.screen.message import Token
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class Amount:
    """A number, and the hundredths with which it is written: those of parts add up to those of their sum."""

    value: float
    hundredths: int


@dataclass(frozen=True)
class KeyByFeature:
    """What each of the features that are shown adds to the score of a key, then all others together, and the score."""

    key: Token
    parts: tuple[Amount, ...]
    score: Amount


@dataclass(frozen=True)
class FeatureTerm:
    """One feature, counted from 1: the number of the query, that of the key, and their product."""

    feature: int
    of_query: float
    of_key: float
    product: Amount


@dataclass(frozen=True, eq=False, kw_only=True)
class ByFeature(Figure):
    """For each key that a query may look at, what the features add to its score; and one score, added up.

    The features that are `shown` are counted from 1; `others` says how many there are besides. `terms` are those of the
    key at the place `chosen`, the largest first. Where scores are scaled, `scaled` is what becomes of that one, divided
    by the root of `divisor`. A click on a key chooses it: its position plus 1 is set under the name `picks`.
    """

    query: Token
    shown: tuple[int, ...]
    others: int
    keys: tuple[KeyByFeature, ...]
    chosen: int
    terms: tuple[FeatureTerm, ...]
    divisor: int
    scaled: float | None
    picks: str
