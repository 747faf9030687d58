"""Measures what each head of a real model does: see `head_jobs`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.base.randomness import generator
from attention_core.measured.head_patterns import first_token, induction, previous_token, same_token
from attention_core.model.transformer import Transformer
from attention_core.model.weights import widened
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.stored.tokenizing import Tokenizer
from lessons.shared.head_jobs import (
    ANIMALS,
    PLAIN,
    HeadJobs,
    SentenceWithIt,
    SentenceWithNames,
    Share,
    paragraphs,
    sentences_with_it,
    sentences_with_names,
)

LISTS, LIST_LENGTH = 4, 30  # random tokens, each list said twice
MOST_TOGETHER = 8  # texts in one pass, all of which is in memory
Named = Bool[Tensor, "queries keys"]  # for each query the keys whose share counts; none, where it does not count


@dataclass(frozen=True, eq=False)
class MarkedText:
    """A text in tokens, and which keys of which queries belong to what is measured."""

    ids: Int[Tensor, " tokens"]
    named: Mapping[str, Named]


def measure_head_jobs(
    transformer: Transformer,
    tokenizer: Tokenizer,
    say: Callable[[float], None] = lambda share: None,
    together: int = MOST_TOGETHER,
    alone: Callable[[], AbstractContextManager] = nullcontext,
) -> HeadJobs:
    """The jobs of all heads of a causal model; `say` is told which share of the work is done.

    It takes some seconds: passes over about 2100 tokens, in each so many texts `together`. Each is made `alone`, where
    others read as well.
    """
    texts = [*(mark_pronoun(tokenizer, one) for one in sentences_with_it()), *lists_said_twice(transformer)]
    texts += [mark_names(tokenizer, one) for one in sentences_with_names()]
    texts += [mark_plain(tokenizer, text) for text in PLAIN]
    texts += [mark_punctuation(tokenizer, text) for text in paragraphs()]
    sums, done = Sums(), 0
    for some in in_passes(texts, together):
        say(done / len(texts))
        with alone(), torch.inference_mode():
            sums.add(some, *weights_of_heads(transformer, torch.stack([text.ids for text in some])))
        done += len(some)
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


def mark_names(tokenizer: Tokenizer, sentence: SentenceWithNames) -> MarkedText:
    """From the last token to the name that has come again, where it stands the second time."""
    encoding = tokenizer.encode(sentence.text, add_special_tokens=False)
    again = tokens_of(sentence.again, sentence.text, encoding.offsets, occurrence=1)
    last = torch.arange(len(again)) == len(again) - 1
    return MarkedText(torch.tensor(encoding.ids), {"name_again": pairs(last, again)})


def tokens_of(word: str, text: str, offsets: Sequence[tuple[int, int]], occurrence: int = 0) -> Bool[Tensor, " tokens"]:
    """The tokens that stand for a word of a text, where it occurs for the first time or a later one."""
    begin, end = list(re.finditer(rf"\b{word}\b", text))[occurrence].span()
    return torch.tensor([start < end and begin < stop for start, stop in offsets])


def pairs(queries: Bool[Tensor, " tokens"], keys: Bool[Tensor, " tokens"]) -> Named:
    """These keys of these queries."""
    return queries[:, None] & keys


def lists_said_twice(transformer: Transformer) -> Iterator[MarkedText]:
    """Lists of random tokens, each said twice: no list has one of them twice, and none is among the rarest."""
    common = transformer.config.vocabulary // 2
    for at in range(LISTS):
        ids = torch.randperm(common, generator=generator(at, "said twice"))[:LIST_LENGTH].repeat(2)
        yield MarkedText(ids, {"induction": induction(ids), "same": same_token(ids)})


def mark_plain(tokenizer: Tokenizer, text: str) -> MarkedText:
    """From the third token on, the one before and the first: for the second token these are the same."""
    ids = torch.tensor(tokenizer.encode(text, add_special_tokens=False).ids)
    counts = (torch.arange(len(ids)) > 1)[:, None]
    return MarkedText(ids, {"previous": previous_token(ids) & counts, "first": first_token(ids) & counts})


def mark_punctuation(tokenizer: Tokenizer, text: str) -> MarkedText:
    """From each word to the marks before it, which have no letter and no digit."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    marks = torch.tensor([not any(map(str.isalnum, text[begin:end])) for begin, end in encoding.offsets])
    return MarkedText(torch.tensor(encoding.ids), {"punctuation": pairs(~marks, marks).tril(-1)})


def in_passes(texts: Sequence[MarkedText], together: int) -> Iterator[list[MarkedText]]:
    """Texts of equal length, so many of them together."""
    for length in sorted({len(text.ids) for text in texts}):
        alike = [text for text in texts if len(text.ids) == length]
        yield from (alike[at : at + together] for at in range(0, len(alike), together))


Weights = Float[Tensor, "layers texts heads queries keys"]


def weights_of_heads(transformer: Transformer, ids: Int[Tensor, "texts tokens"]) -> tuple[Weights, Weights]:
    """The weights of all heads, and of those with shuffled weights on what enters the same layers."""
    layers = transformer(ids, scored=slice(0)).layers
    may_attend = transformer.visible(layers[0].normed, 0)
    by_chance = [
        heads(layer.normed, may_attend)[1].heads.weights
        for heads, layer in zip(shuffled_heads(transformer), layers, strict=True)
    ]
    return torch.stack([layer.attention.heads.weights for layer in layers]), torch.stack(by_chance)


def shuffled_heads(transformer: Transformer) -> Iterator[MultiHeadAttention]:
    """The heads of each layer with the numbers of W_q, and those of W_k, in random places: each time the same."""
    random = generator(0, "shuffled heads")

    def shuffle(weights: Tensor) -> Tensor:
        return weights.flatten()[torch.randperm(weights.numel(), generator=random)].view_as(weights)

    for layer in transformer.layers:
        heads = widened(layer.attention)
        yield replace(heads, W_q=shuffle(heads.W_q), W_k=shuffle(heads.W_k))


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
