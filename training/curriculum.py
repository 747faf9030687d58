"""What the model reads, and when: novels and stories, then lists of words said twice, then sentences said twice.

A head that finds what followed a token last time does not form from novels and stories in the time we have; lists in
which that is the only thing to know let it form within minutes. So the curriculum is ours, not nature's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.pieces import SPACE, START, UNKNOWN, Pieces
from attention_core.tasks import NO_TARGET
from training.tokenizer import library_of

FEWEST_COMMON = 64  # words that the first lists are made of
LONGEST_SAID_TWICE = 31  # pieces: said twice, with the start, they fill a context of 64


@dataclass(frozen=True)
class Stage:
    """A part of the training: how many of the sequences of a batch are of which kind."""

    name: str
    share: float  # of all steps
    novels: int
    stories: int
    lists: int = 0
    sentences: int = 0


STAGES = (
    Stage("novels and stories", 0.5, novels=16, stories=16),
    Stage("and lists said twice", 0.25, novels=8, stories=8, lists=16),
    Stage("and sentences said twice", 0.25, novels=8, stories=8, lists=8, sentences=8),
)


@dataclass(frozen=True)
class Stream:
    """Running text as one long row of ids, and where its sentences start."""

    ids: Int[Tensor, " tokens"]
    starts: Int[Tensor, " sentences"]


@dataclass(frozen=True)
class Corpus:
    """All that a model learns from. Without novels, stories take their part."""

    novels: Stream
    stories: Stream
    common: Int[Tensor, " words"]  # ids of whole words, the most frequent first


@dataclass(frozen=True)
class TrainingBatch:
    """Ids, each row beginning with `START`, and the next id at each position; NO_TARGET where it does not count."""

    inputs: Int[Tensor, "batch tokens"]
    targets: Int[Tensor, "batch tokens"]


def stream(pieces: Pieces, texts: Iterable[str]) -> Stream:
    """The texts one after the other. A sentence starts with each text, and after a full stop, ! or ?."""
    encoded = [encoding.ids for encoding in library_of(pieces).encode_batch(list(texts))]
    ids = torch.tensor([i for text in encoded for i in text])
    ends = torch.tensor([pieces.ids[mark] for mark in ".!?"])
    begins = torch.tensor([token.startswith(SPACE) for token in pieces.tokens])
    starts = torch.zeros(len(ids), dtype=torch.bool)
    starts[1:] = torch.isin(ids[:-1], ends) & begins[ids[1:]]
    starts[torch.tensor([0, *accumulate(map(len, encoded))][:-1])] = True
    return Stream(ids, starts.nonzero()[:, 0])


def corpus(pieces: Pieces, novels: Iterable[str], stories: Iterable[str]) -> Corpus:
    """The corpus of these texts."""
    tales = stream(pieces, stories)
    books = stream(pieces, novels) if (novels := list(novels)) else tales
    counts = torch.bincount(books.ids, minlength=len(pieces.tokens))
    order = counts.argsort(descending=True, stable=True).tolist()
    words = [i for i in order if pieces.tokens[i].startswith(SPACE) and len(pieces.tokens[i]) > 3]
    return Corpus(books, tales, torch.tensor(words))


def draw_batch(
    texts: Corpus, pieces: Pieces, context: int, stage: Stage, done: float, random: torch.Generator
) -> TrainingBatch:
    """The sequences of one step. `done` is the share of the stage's steps that lie behind."""
    ordinary = [running(texts.novels, context, random) for _ in range(stage.novels)]
    ordinary += [running(texts.stories, context, random) for _ in range(stage.stories)]
    repeated = [word_list(texts, pieces, done, random) for _ in range(stage.lists)]
    repeated += [sentence(texts, random) for _ in range(stage.sentences)]
    start = torch.full((len(ordinary) + len(repeated), 1), pieces.ids[START])
    again = [said.repeat(context // len(said) + 1)[:context] for said in repeated]
    rows = torch.cat([start, torch.stack(ordinary + again)], dim=1)
    targets = rows[:, 1:].clone()
    for row, said in zip(targets[len(ordinary) :], repeated, strict=True):
        row[: len(said) + 1] = NO_TARGET  # nobody can know what is said first, nor that it will be said again
    targets[targets == pieces.ids[UNKNOWN]] = NO_TARGET
    return TrainingBatch(rows[:, :-1], targets)


def running(text: Stream, length: int, random: torch.Generator) -> Int[Tensor, " tokens"]:
    """Running text from the start of a sentence on."""
    starts = text.starts[: int(torch.searchsorted(text.starts, len(text.ids) - length, right=True))]
    at = int(starts[draw(len(starts), random)])
    return text.ids[at : at + length]


def word_list(texts: Corpus, pieces: Pieces, done: float, random: torch.Generator) -> Int[Tensor, " tokens"]:
    """Words in no order: first the most frequent ones, soon any piece at all."""
    known = FEWEST_COMMON * 2 ** max(0.0, (done - 0.08) / 0.05)
    if known < len(texts.common):
        return texts.common[torch.randint(int(known), (4 + draw(17, random),), generator=random)]
    length = 4 + draw(LONGEST_SAID_TWICE - 3, random)
    if draw(2, random):
        return texts.novels.ids[torch.randint(len(texts.novels.ids), (length,), generator=random)]
    return torch.randint(pieces.ids[UNKNOWN] + 1, len(pieces.tokens), (length,), generator=random)


def sentence(texts: Corpus, random: torch.Generator) -> Int[Tensor, " tokens"]:
    """A sentence of a novel or a story, cut where it is too long to be said twice."""
    text = (texts.novels, texts.stories)[draw(2, random)]
    which = draw(len(text.starts) - 1, random)
    begin, end = text.starts[which : which + 2].tolist()
    return text.ids[begin : min(end, begin + LONGEST_SAID_TWICE)]


def draw(n: int, random: torch.Generator) -> int:
    """A whole number from 0 to n − 1."""
    return int(torch.randint(n, (), generator=random))
