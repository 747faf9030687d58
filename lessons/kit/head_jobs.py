"""What each head of a real model does, as names that it has earned: measured on sentences and tokens made here.

Four jobs are measured, each as a mean share of a head's attention, beside an even head and beside heads whose weights
are shuffled: the numbers of W_q and of W_k of the same layer in random places. A head earns the name of the first job
whose share reaches what its rule asks; where none does, it has no name.

Reading order: the jobs (`Job`), what was found (`HeadJobs`), the texts, the measurement.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.head_patterns import first_token, induction, previous_token
from attention_core.heads import MultiHeadAttention
from attention_core.randomness import generator
from attention_core.stored.tokenizing import Tokenizer
from attention_core.transformer import Transformer, widened
from lessons.screen.message import Message, message

JobKey = Literal["it_to_noun", "induction", "previous", "first", "mixture"]


@dataclass(frozen=True)
class Job:
    """Something that a head may do: its name, and the least share of a head's attention that earns it.

    `title` completes “Head 13.8: …”.
    """

    key: JobKey
    name: Message
    title: Message
    least: float


JOBS = (
    Job("it_to_noun", message("“it” → a noun"), message("from “it” to a noun"), 0.4),
    Job("induction", message("what came next last time"), message("what came next last time"), 0.3),
    Job("previous", message("the previous token"), message("one token back"), 0.5),
    Job("first", message("the first token"), message("rests on the first token"), 0.5),
)
MIXTURE = Job("mixture", message("a mixture"), message("a mixture, no name earned"), 0.0)


# What was found.


@dataclass(frozen=True, eq=False)
class Share:
    """The mean share of its attention that each head puts on some keys, over `n` queries.

    The same of the heads with shuffled weights, and of one that spreads its attention evenly.
    """

    heads: Sequence[Sequence[float]]  # layers, heads
    shuffled: Sequence[Sequence[float]]
    even: float
    n: int

    @property
    def random_head(self) -> float:
        """What a shuffled head puts there in the mean."""
        found = [share for layer in self.shuffled for share in layer]
        return sum(found) / len(found)


@dataclass(frozen=True, eq=False)
class HeadJobs:
    """All shares that were measured, by name: those of the jobs, and others that cards tell of."""

    shares: Mapping[str, Share]

    @property
    def all_heads(self) -> list[tuple[int, int]]:
        """Layer and head of every head, from 0."""
        layers = self.shares[JOBS[0].key].heads
        return [(layer, head) for layer, row in enumerate(layers) for head in range(len(row))]

    def share(self, name: str, layer: int, head: int) -> float:
        """What a head puts on the keys of this name."""
        return self.shares[name].heads[layer][head]

    def job_of(self, layer: int, head: int) -> Job:
        """The name that a head has earned."""
        return next((job for job in JOBS if self.share(job.key, layer, head) >= job.least), MIXTURE)

    def count(self, job: Job) -> int:
        """How many heads have this name."""
        return sum(self.job_of(*place) is job for place in self.all_heads)

    def by_chance(self, job: Job) -> int:
        """How many of as many heads with shuffled weights reach what the rule asks."""
        return sum(share >= job.least for layer in self.shares[job.key].shuffled for share in layer)

    def as_json(self) -> dict:
        """As it is kept: see `from_json`."""
        return {name: vars(share) for name, share in self.shares.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Mapping]) -> "HeadJobs":
        """What was kept."""
        return cls({name: Share(**share) for name, share in kept.items()})


# The texts.

ANIMALS = ("cat", "dog", "horse", "bird", "child", "lion")
THINGS = ("mat", "table", "chair", "box", "wall", "bench")
WITH_IT = ("The {first} sat near the {second} because it was", "The {first} stood behind the {second} and it")
PLAIN = (
    "My sister bought a red bicycle and rode it to school every day.",
    "Rain fell on the old town while the baker opened his shop.",
    "Every morning two geese walk across our garden to the pond.",
    "A train left the station an hour late because of the snow.",
    "We cooked rice with beans, onions and a little pepper.",
    "Nobody in the village had seen the lighthouse after the storm.",
    "When the music stopped, people looked at each other and laughed.",
    "His grandmother kept letters in a blue box under the bed.",
    "Water boils at a lower temperature on a high mountain.",
    "In spring the river rises and covers the lower fields.",
    "Most students finished the exam before the bell rang.",
    "Our neighbour plays the violin badly but with great joy.",
)
LISTS, LIST_LENGTH = 4, 30  # random tokens, each list said twice
MOST_TOGETHER = 24  # texts in one pass


@dataclass(frozen=True)
class SentenceWithIt:
    """A sentence with two nouns before its “it”."""

    text: str
    nouns: tuple[str, str]


def sentences_with_it() -> list[SentenceWithIt]:
    """Two sentences, filled with animals and things in either order, and with two animals."""
    made = []
    for firsts, seconds in ((ANIMALS, THINGS), (THINGS, ANIMALS), (ANIMALS, ANIMALS)):
        for sentence, (i, first), (j, second) in product(WITH_IT, enumerate(firsts), enumerate(seconds)):
            if (i + j) % 2 == 0 and first != second:
                made.append(SentenceWithIt(sentence.format(first=first, second=second), (first, second)))
    return made


# The measurement.

Named = Bool[Tensor, "queries keys"]  # for each query the keys whose share counts; none, where it does not count


@dataclass(frozen=True, eq=False)
class MarkedText:
    """A text in tokens, and which keys of which queries belong to what is measured."""

    ids: Int[Tensor, " tokens"]
    named: Mapping[str, Named]


def measure_head_jobs(
    transformer: Transformer, tokenizer: Tokenizer, say: Callable[[float], None] = lambda share: None
) -> HeadJobs:
    """The jobs of all heads of a causal model; `say` is told which share of the work is done.

    It takes some seconds: passes over about 1200 tokens.
    """
    texts = [*(mark_pronoun(tokenizer, one) for one in sentences_with_it()), *lists_said_twice(transformer)]
    texts += [mark_plain(tokenizer, text) for text in PLAIN]
    shuffled, sums, done = shuffle_heads(transformer), Sums(), 0
    for together in in_passes(texts):
        say(done / len(texts))
        with torch.inference_mode():
            sums.add(together, *weights_of_heads(transformer, shuffled, torch.stack([text.ids for text in together])))
        done += len(together)
    return HeadJobs(sums.means())


def mark_pronoun(tokenizer: Tokenizer, sentence: SentenceWithIt) -> MarkedText:
    """From “it” to either noun; from all other words behind both nouns; and to the animal and the thing apart."""
    encoding = tokenizer.encode(sentence.text, add_special_tokens=False)
    first, second = (tokens_of(word, sentence.text, encoding.offsets) for word in sentence.nouns)
    it = tokens_of("it", sentence.text, encoding.offsets)
    behind = torch.arange(len(it)) > int(second.nonzero()[-1])
    named = {"it_to_noun": pairs(it, first | second), "others_to_noun": pairs(behind & ~it, first | second)}
    of_kind = {word in ANIMALS: keys for word, keys in zip(sentence.nouns, (first, second), strict=True)}
    if len(of_kind) == 2:
        named |= {"it_to_animal": pairs(it, of_kind[True]), "it_to_thing": pairs(it, of_kind[False])}
    return MarkedText(torch.tensor(encoding.ids), named)


def tokens_of(word: str, text: str, offsets: Sequence[tuple[int, int]]) -> Bool[Tensor, " tokens"]:
    """The tokens that stand for a word of a text."""
    begin, end = re.search(rf"\b{word}\b", text).span()
    return torch.tensor([start < end and begin < stop for start, stop in offsets])


def pairs(queries: Bool[Tensor, " tokens"], keys: Bool[Tensor, " tokens"]) -> Named:
    """These keys of these queries."""
    return queries[:, None] & keys


def lists_said_twice(transformer: Transformer) -> Iterator[MarkedText]:
    """Lists of random tokens, each said twice: no list has one of them twice, and none is among the rarest."""
    common = transformer.config.vocabulary // 2
    for at in range(LISTS):
        ids = torch.randperm(common, generator=generator(at, "said twice"))[:LIST_LENGTH].repeat(2)
        yield MarkedText(ids, {"induction": induction(ids)})


def mark_plain(tokenizer: Tokenizer, text: str) -> MarkedText:
    """From the third token on, the one before and the first: for the second token these are the same."""
    ids = torch.tensor(tokenizer.encode(text, add_special_tokens=False).ids)
    counts = (torch.arange(len(ids)) > 1)[:, None]
    return MarkedText(ids, {"previous": previous_token(ids) & counts, "first": first_token(ids) & counts})


def in_passes(texts: Sequence[MarkedText]) -> Iterator[list[MarkedText]]:
    """Texts of equal length together, as many as a pass takes."""
    for length in sorted({len(text.ids) for text in texts}):
        alike = [text for text in texts if len(text.ids) == length]
        yield from (alike[at : at + MOST_TOGETHER] for at in range(0, len(alike), MOST_TOGETHER))


Weights = Float[Tensor, "layers texts heads queries keys"]


def weights_of_heads(
    transformer: Transformer, shuffled: Sequence[MultiHeadAttention], ids: Int[Tensor, "texts tokens"]
) -> tuple[Weights, Weights]:
    """The weights of all heads, and of those with shuffled weights on what enters the same layers."""
    layers = transformer(ids).layers
    may_attend = transformer.visible(layers[0].normed, 0)
    by_chance = [
        heads(layer.normed, may_attend)[1].heads.weights for heads, layer in zip(shuffled, layers, strict=True)
    ]
    return torch.stack([layer.attention.heads.weights for layer in layers]), torch.stack(by_chance)


def shuffle_heads(transformer: Transformer) -> list[MultiHeadAttention]:
    """The heads of each layer with the numbers of W_q, and those of W_k, in random places."""
    random = generator(0, "shuffled heads")

    def shuffle(weights: Tensor) -> Tensor:
        return weights.flatten()[torch.randperm(weights.numel(), generator=random)].view_as(weights)

    every = (widened(layer.attention) for layer in transformer.layers)
    return [replace(heads, W_q=shuffle(heads.W_q), W_k=shuffle(heads.W_k)) for heads in every]


class Sums:
    """Shares added up, by what is measured: of the heads, of the shuffled ones, of an even one; and the queries."""

    def __init__(self):
        self.sums: dict[str, list] = {}

    def add(self, texts: Sequence[MarkedText], weights: Weights, shuffled: Weights) -> None:
        """What some texts of equal length tell."""
        seen = torch.arange(1, weights.shape[-1] + 1)
        for at, text in enumerate(texts):
            for name, named in text.named.items():
                new = (
                    (weights[:, at] * named).sum(dim=(-1, -2)),
                    (shuffled[:, at] * named).sum(dim=(-1, -2)),
                    float((named.sum(dim=-1) / seen).sum()),
                    int(named.any(dim=-1).sum()),
                )
                before = self.sums.get(name, (0, 0, 0, 0))
                self.sums[name] = [old + more for old, more in zip(before, new, strict=True)]

    def means(self) -> dict[str, Share]:
        """For each query that counts."""
        return {
            name: Share((heads / n).tolist(), (shuffled / n).tolist(), even / n, n)
            for name, (heads, shuffled, even, n) in self.sums.items()
        }
