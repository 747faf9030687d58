"""One more kind of figure: a sentence as a real model reads it, its guesses for what follows, and all its heads."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.base.arrays import Array
from lessons.screen.message import Message, Token
from lessons.screen.screen import Figure


@dataclass(frozen=True)
class Guess:
    """A token that may come next: the share that the model gives it, and what it gives it without the chosen head."""

    token: str
    share: float
    without: float | None = None


@dataclass(frozen=True)
class NamedHeads:
    """The heads of one job: what they are called, how many there are, and what is said of one that is pointed at.

    `says` holds the name {share} where the share of its attention is written.
    """

    key: str
    name: Message
    title: Message
    says: Message
    count: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelView(Figure):
    """A sentence in large words and ribbons from the `query`, as wide as the attention of one head.

    Beside it the `guesses`, below it a mark for each of the `heads`, by layer and head, of the job that it has been
    measured to do: the place of that job in `jobs`, and the share. Pointing at a head shows its ribbons, and pointing
    at a word those of the head that is `chosen`. None stands for what is not known: without the model all but one head,
    and while they are measured the jobs.
    """

    n_layers: int
    n_heads: int
    tokens: tuple[Token, ...]
    spaced: tuple[bool, ...]  # whether a space stands before each
    query: int
    chosen: tuple[int, int]
    off: bool
    of_head: Array  # queries, keys: of the chosen head
    of_query: Array | None  # layers, heads, keys
    guesses: tuple[Guess, ...]
    jobs: tuple[NamedHeads, ...]
    heads: Sequence[tuple[int, float]]  # of every head, in order: the place of its job, and its share
    about_head: tuple[Message, ...]  # what is said of the chosen head
