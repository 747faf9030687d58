"""What a head looks at, as a number: its mean weight on the keys that a pattern names, beside what an even head gets.

A pattern says for each query which keys it names; a query for which it names none does not count. `START` stands at
position 0, where any head may rest that finds nothing; position 1 counts in no pattern, for there the previous token
is the start.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.masks import causal_mask
from attention_core.model import TinyTransformer
from attention_core.pieces import SPACE, START, UNKNOWN, Pieces

LEAST_WEIGHT, LEAST_TIMES_EVEN = 0.4, 2.0  # what a head's mean weight must reach to earn a name

Named = Bool[Tensor, "queries keys"]
Pattern = Callable[[Int[Tensor, " tokens"], Pieces], Named]


def previous_token(ids: Int[Tensor, " tokens"], pieces: Pieces | None = None) -> Named:
    """The token just before."""
    return torch.ones(len(ids), len(ids), dtype=torch.bool).triu(-1).tril(-1)


def first_token(ids: Int[Tensor, " tokens"], pieces: Pieces | None = None) -> Named:
    """The start, which carries no word."""
    return (torch.arange(len(ids)) == 0).expand(len(ids), -1)


def punctuation(ids: Int[Tensor, " tokens"], pieces: Pieces) -> Named:
    """Marks such as commas and full stops, looked at from a word."""
    marks = is_mark(pieces)[ids]
    return marks & ~marks[:, None] & causal_mask(len(ids))


def same_token(ids: Int[Tensor, " tokens"], pieces: Pieces | None = None) -> Named:
    """Earlier occurrences of the query token."""
    return (ids == ids[:, None]).tril(-1)


def induction(ids: Int[Tensor, " tokens"], pieces: Pieces | None = None) -> Named:
    """What followed the query token earlier. Olsson et al. 2022, https://arxiv.org/abs/2209.11895."""
    followed = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    followed[:, 1:] = same_token(ids)[:, :-1]
    return followed.tril(-1)  # after “ha ha” the second ha follows itself, which says nothing


PATTERNS: dict[str, Pattern] = {
    "previous token": previous_token,
    "start": first_token,
    "punctuation": punctuation,
    "induction": induction,
    "same token": same_token,
}
MEASURED_ON_LISTS = ("induction",)  # on `lists_said_twice`; the others on text that training did not read


def is_mark(pieces: Pieces) -> Bool[Tensor, " vocabulary"]:
    """Which pieces are punctuation marks."""
    others = (START, UNKNOWN, SPACE)
    return torch.tensor([not any(map(str.isalnum, token)) and token not in others for token in pieces.tokens])


@dataclass(frozen=True, eq=False)
class PatternScore:
    """Over `n` queries: the mean weight of each head on the keys named, and of a head that spreads it evenly.

    Without a query that counts, n is 0 and the weights are 0.
    """

    heads: Float[Tensor, "layers heads"]
    even: float
    n: int


def pattern_scores(model: TinyTransformer, pieces: Pieces, texts: Iterable[list[int]]) -> dict[str, PatternScore]:
    """The score of every pattern over these texts, each a row of ids that begins with `START`."""
    heads = torch.zeros(len(PATTERNS), model.config.n_layers, model.config.n_heads)
    even, n = torch.zeros(len(PATTERNS)), torch.zeros(len(PATTERNS))
    for text in texts:
        ids = torch.tensor(text)
        weights = torch.stack([layer.attention.heads.weights for layer in model(ids).layers])
        visible = torch.arange(1, len(ids) + 1)
        for which, pattern in enumerate(PATTERNS.values()):
            named = pattern(ids, pieces)
            named = named & (torch.arange(len(ids)) > 1)[:, None]
            heads[which] += (weights * named).sum(dim=(-1, -2))
            even[which] += (named.sum(dim=-1) / visible).sum()
            n[which] += named.any(dim=-1).sum()
    least = n.clamp(min=1)
    return {
        name: PatternScore(heads[i] / least[i], float(even[i] / least[i]), int(n[i])) for i, name in enumerate(PATTERNS)
    }


def lists_said_twice(pieces: Pieces, count: int, length: int, random: torch.Generator) -> list[list[int]]:
    """Lists of random pieces, each said twice: looking back alone tells what comes next. No list has a piece twice."""
    first = pieces.ids[UNKNOWN] + 1
    drawn = [torch.randperm(len(pieces.tokens) - first, generator=random)[:length] + first for _ in range(count)]
    return [[pieces.ids[START], *said, *said] for said in (one.tolist() for one in drawn)]


# The head that is not there.

NAME_PAIRS = (
    ("mary", "john"),
    ("anna", "peter"),
    ("emma", "tom"),
    ("lucy", "sam"),
    ("alice", "henry"),
    ("jane", "george"),
    ("the queen", "the king"),
    ("the woman", "the man"),
    ("the girl", "the boy"),
    ("my sister", "my brother"),
)
PRONOUN_SENTENCES = (
    "{first} saw {second} at the gate, but {pronoun} did not stop.",
    "{first} sat with {second} by the fire and {pronoun} told a story.",
    "on monday {first} called {second} and {pronoun} was very glad.",
    "{first} walked home with {second} because {pronoun} was tired.",
)


@dataclass(frozen=True, eq=False)
class PronounScore:
    """The mean weight of each head from a pronoun on the name that it agrees with, and on the other, over n cases."""

    matching: Float[Tensor, "layers heads"]
    other: Float[Tensor, "layers heads"]
    n: int


def pronoun_score(model: TinyTransformer, pieces: Pieces) -> PronounScore:
    """How well heads find whom a pronoun means, over both pronouns and both orders of each pair of names.

    A name of several pieces is left out.
    """
    matching, other, n = 0, 0, 0
    for sentence, pair, swapped, she in product(PRONOUN_SENTENCES, NAME_PAIRS, (False, True), (True, False)):
        first, second = reversed(pair) if swapped else pair
        pronoun = "she" if she else "he"
        ids = [pieces.ids[START], *pieces.encode(sentence.format(first=first, second=second, pronoun=pronoun))]
        female, male, query = (last_piece(pieces, word) for word in (*pair, pronoun))
        if None in (female, male, query):
            continue
        weights = torch.stack([layer.attention.heads.weights for layer in model(torch.tensor(ids)).layers])
        row = weights[..., ids.index(query), :]
        at = [ids.index(female), ids.index(male)]
        matching, other, n = matching + row[..., at[not she]], other + row[..., at[she]], n + 1
    return PronounScore(matching / n, other / n, n)


def last_piece(pieces: Pieces, words: str) -> int | None:
    """The id of the last of these words, or None where it is several pieces."""
    ids = pieces.encode(words.split()[-1])
    return ids[0] if len(ids) == 1 else None


# What was measured of a model that ships.


@dataclass(frozen=True)
class MeasuredPattern:
    """A `PatternScore` that was kept, with the most that a head of an untrained model got on the same texts."""

    heads: list[list[float]]
    even: float
    untrained: float
    n: int

    def earned(self, layer: int, head: int) -> bool:
        """Whether this head has earned the name of the pattern on these texts: a rule written before the training."""
        weight = self.heads[layer][head]
        return weight >= LEAST_WEIGHT and weight >= LEAST_TIMES_EVEN * self.even and weight > self.untrained


@dataclass(frozen=True)
class MeasuredHeads:
    """The scores of all heads, pattern by pattern, on the texts that give names and on others that confirm them."""

    naming: dict[str, MeasuredPattern]
    confirming: dict[str, MeasuredPattern]

    def name_of(self, layer: int, head: int) -> str | None:
        """The pattern that the head has earned on both, or None; of several, the one furthest above an even head."""
        earned = [
            name
            for name in self.naming
            if self.naming[name].earned(layer, head) and self.confirming[name].earned(layer, head)
        ]
        above_even = {name: self.naming[name].heads[layer][head] - self.naming[name].even for name in earned}
        return max(above_even, key=above_even.__getitem__, default=None)
