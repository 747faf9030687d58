"""What a puzzle is: tokens with readable features, where a head should attend, and how well given weights do.

A token's features are few and have names: which word it is, of which kind, or where it stands, as the hand of a clock
with eight hours. A row of W_q says what a query with that feature seeks, a row of W_k what a key with that feature
offers, and W_q W_kᵀ which feature attends to which.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float

from attention_core.base.arrays import Array
from attention_core.base.errors import InputError
from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.head import one_head

LARGEST = 9.0  # no entry that is set by hand goes beyond
OTHERS = 64  # sentences on which a head is scored
OTHERS_SEED = 11
HOURS = 8


class Weights(NamedTuple):
    """The weights of all heads of a puzzle, side by side; with leading axes, those of many settings at once."""

    W_q: Float[Array, "*settings features d_all_k"]
    W_k: Float[Array, "*settings features d_all_k"]
    W_v: Float[Array, "*settings features d_v"]


@dataclass(frozen=True, eq=False)
class DrawnSentence:
    """One sentence: its words, their features, and for each job the weights that each query should have.

    A row of `target` sums to 1, or to 0 where the query does not count. `wanted` is the right output in a puzzle in
    which the output is scored.
    """

    words: tuple[str, ...]
    x: Float[Array, "tokens features"]
    target: Float[Array, "jobs queries keys"]
    may_attend: Bool[Array, "queries keys"]
    wanted: float = math.nan


@dataclass(frozen=True, eq=False)
class Sentences:
    """Several sentences in one array each: shorter ones are padded with tokens to which no other token may attend."""

    each: tuple[DrawnSentence, ...]
    x: Float[Array, "sentences tokens features"]
    target: Float[Array, "sentences jobs queries keys"]
    may_attend: Bool[Array, "sentences queries keys"]
    wanted: Float[Array, " sentences"]
    real: Bool[Array, "sentences tokens"]  # False for padding

    def __len__(self) -> int:
        return len(self.each)


@dataclass(frozen=True, eq=False, kw_only=True)
class Puzzle:
    """One level. `draw` makes sentences; a head has solved the level when its score on others reaches the `goal`.

    Each of the `n_heads` has the next `d_k` columns of W_q and W_k. Its numbers may be set in the rows that `asks` and
    `answers` name for it, by default those of all features; all other entries are 0. Several heads have a job each.
    Heads that are `stacked` have one job together: the second reads what the first has added to the features. W_v is
    `handed_on`, by default the identity. Where the puzzle `counts`, W_v is a single column that is set by hand, too,
    and the output is scored, not the weights.
    """

    key: str
    features: tuple[str, ...]
    d_k: int
    goal: float
    draw: Callable[[int, torch.Generator], list[DrawnSentence]]
    solution: Weights
    n_heads: int = 1
    stacked: bool = False
    counts: bool = False
    asks: tuple[tuple[str, ...], ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()
    handed_on: Float[Array, "features d_v"] | None = None

    def is_solved(self, score: float) -> bool:
        """Return whether the score reaches the goal, both rounded to whole percent."""
        return round(score, 2) >= self.goal

    def free_rows(self, matrix: str, head: int) -> tuple[int, ...]:
        """Return the rows of W_q, W_k or W_v in which numbers of a head may be set."""
        named = {"W_q": self.asks, "W_k": self.answers}.get(matrix, ())
        return tuple(self.features.index(name) for name in (named[head] if named else self.features))

    def is_free(self, matrix: str, row: int, column: int) -> bool:
        """Return whether a number may be set: rows and columns count from 0, columns through all heads."""
        if matrix == "W_v":
            return self.counts and column == 0 and 0 <= row < len(self.features)
        head, within = divmod(column, self.d_k)
        return within >= 0 and 0 <= head < self.n_heads and row in self.free_rows(matrix, head)

    def zeros(self) -> Weights:
        """Return the weights to begin with: all 0, but for a W_v that is given."""
        empty = torch.zeros(len(self.features), self.n_heads * self.d_k, dtype=torch.float64)
        return Weights(empty, empty.clone(), self.given_v())

    def given_v(self) -> Float[Array, "features d_v"]:
        """Return the W_v to begin with: 0 where it is set by hand, else `handed_on` or the identity."""
        if self.counts:
            return torch.zeros(len(self.features), 1, dtype=torch.float64)
        return torch.eye(len(self.features), dtype=torch.float64) if self.handed_on is None else self.handed_on

    def masks(self) -> Weights:
        """Return 1 where a number may be set, else 0."""
        shapes = {"W_q": self.zeros().W_q, "W_k": self.zeros().W_k, "W_v": self.given_v()}
        return Weights(
            *(
                torch.tensor(
                    [
                        [float(self.is_free(name, row, column)) for column in range(shape.shape[1])]
                        for row in range(len(shape))
                    ],
                    dtype=torch.float64,
                )
                for name, shape in shapes.items()
            )
        )

    def sentences(self, count: int, seed: int, purpose: str) -> Sentences:
        """Draw `count` sentences from the seed, with a separate random stream for each purpose."""
        return together(self.draw(count, generator(seed, f"puzzle {self.key} {purpose}")))


@lru_cache(maxsize=64)
def other_sentences(puzzle: Puzzle) -> Sentences:
    """Return the sentences on which every head of a puzzle is scored; shared, so they must not be changed."""
    return puzzle.sentences(OTHERS, OTHERS_SEED, "others")


def together(sentences: list[DrawnSentence]) -> Sentences:
    """Stack sentences in one array each. Padding attends to itself, and no other token attends to it."""
    most, (jobs, *_) = max(len(one.words) for one in sentences), sentences[0].target.shape
    count, n_features = len(sentences), sentences[0].x.shape[1]
    x = torch.zeros(count, most, n_features, dtype=torch.float64)
    target = torch.zeros(count, jobs, most, most, dtype=torch.float64)
    may_attend = torch.eye(most, dtype=torch.bool).repeat(count, 1, 1)
    real = torch.zeros(count, most, dtype=torch.bool)
    for place, one in enumerate(sentences):
        n = len(one.words)
        x[place, :n], target[place, :, :n, :n], real[place, :n] = one.x, one.target, True
        may_attend[place, :n, :n] = one.may_attend
    wanted = torch.tensor([one.wanted for one in sentences], dtype=torch.float64)
    return Sentences(tuple(sentences), x, target, may_attend, wanted, real)


# What a head of given weights does.


def two_layers(
    x: Float[Array, "*batch tokens features"],
    W_q: Float[Array, "*#batch features d_all_k"],
    W_k: Float[Array, "*#batch features d_all_k"],
    W_v: Float[Array, "*#batch features features"],
    d_k: int,
    may_attend: Bool[Array, "*#batch queries keys"],
) -> tuple[AttentionTrace, AttentionTrace]:
    """Run two heads one above the other: the second reads the features and what the first has added to them."""
    first = one_head(x, W_q[..., :d_k], W_k[..., :d_k], W_v, may_attend)
    return first, one_head(x + first.output, W_q[..., d_k:], W_k[..., d_k:], W_v, may_attend)


def heads_of(
    puzzle: Puzzle,
    weights: Weights,
    x: Float[Array, "*batch tokens features"],
    may_attend: Bool[Array, "*#batch queries keys"],
) -> tuple[AttentionTrace, ...]:
    """Run all heads of a puzzle, in their order. Raises InputError for a W_q or W_k of another shape."""
    expected = len(puzzle.features), puzzle.n_heads * puzzle.d_k
    for name in ("W_q", "W_k"):
        if tuple(getattr(weights, name).shape[-2:]) != expected:
            raise InputError(
                "{matrix} of this puzzle is {rows}×{columns}, but got {shape}",
                matrix=name,
                rows=expected[0],
                columns=expected[1],
                shape=str(tuple(getattr(weights, name).shape)),
            )
    if puzzle.stacked:
        return two_layers(x, *weights, puzzle.d_k, may_attend)
    columns = [slice(head * puzzle.d_k, (head + 1) * puzzle.d_k) for head in range(puzzle.n_heads)]
    return tuple(
        one_head(x, weights.W_q[..., part], weights.W_k[..., part], weights.W_v, may_attend) for part in columns
    )


def score_sentences(puzzle: Puzzle, weights: Weights, sentences: Sentences) -> Float[Array, "*settings sentences"]:
    """Score the weights on each sentence, from 0 to 1.

    For each query that counts, the score is the part of its weight that lies where it should: Σ min(weight, target),
    which is 1 where both agree. Where the output is scored, it is the share of tokens whose output is nearer to the
    right share than to that of one word more or less. Weights with leading axes hold many settings, and each is scored.
    """
    many = Weights(*(matrix[..., None, :, :] for matrix in weights)) if weights.W_q.ndim > 2 else weights
    traces = heads_of(puzzle, many, sentences.x, sentences.may_attend)
    if puzzle.counts:
        lengths = sentences.real.sum(dim=-1)
        off = (traces[0].output[..., 0] - sentences.wanted[:, None]).abs() * lengths[:, None]
        return ((off < 0.5) & sentences.real).sum(dim=-1) / lengths
    own = traces[-1:] if puzzle.stacked else traces
    jobs = sentences.target.shape[1]
    doing = own if len(own) == jobs else own * jobs  # a single head is scored on every job
    return sum(overlap(trace.weights, sentences.target[:, job]) for job, trace in enumerate(doing)) / jobs


def overlap(
    weights: Float[Array, "*settings sentences queries keys"], target: Float[Array, "sentences queries keys"]
) -> Float[Array, "*settings sentences"]:
    """Compute the part of the weight that lies where it should, as a mean over the queries that count."""
    asked = target.sum(dim=-1) > 0
    agree = torch.minimum(weights, target).sum(dim=-1)
    return agree.sum(dim=-1) / asked.sum(dim=-1)


def best_of_one_head(puzzle: Puzzle, sentences: Sentences) -> float | None:
    """Return the score that no single head can exceed on these sentences, or None where one head can do it all.

    Two jobs: a row of weights sums to 1, so what goes to one key is missing at the other. Two layers: sentences come in
    pairs with the same query token and the same candidates for the answer, of which another one is right in each
    sentence. A single head scores each token by itself, so the candidates have the same scores, and the same ratio of
    weights, in both sentences: what is right in one is wrong in the other.
    """
    if puzzle.stacked:
        return 0.5
    if sentences.target.shape[1] == 1:
        return None
    first, second = sentences.target[:, 0], sentences.target[:, 1]
    asked = first.sum(dim=-1) > 0
    most = (torch.maximum(first, second).amax(dim=-1) + torch.minimum(first, second).amax(dim=-1)) / 2
    return float(((most * asked).sum(dim=-1) / asked.sum(dim=-1)).mean())
