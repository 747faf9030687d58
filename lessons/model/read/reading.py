"""A text as the real model reads it: what every view of the lesson is made of."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.randomness import generator
from attention_core.model.transformer import ModelTrace
from attention_core.one_head.attention import AttentionTrace
from lessons.example.real_model import DEFAULT_TEXT, CutText, RealModel, cut_text, head_name
from lessons.example.token_names import called_alone, told_apart, typed
from lessons.model.read.choices import MOST_PATCHED, MOST_TOKENS, ReadChoices
from lessons.screen import Message, Token, message, plural, visible_text
from lessons.shared.computed_once import computed_once
from lessons.shared.head_jobs import HeadJobs

Place = tuple[int, int]  # layer and head, both from 0
Group = tuple[Place, ...]  # heads that something is done to at once


@dataclass(frozen=True, eq=False)
class Reading:
    """A text and all that the model computes for it. One without a token gives way to the first text of the lesson.

    `jobs` are the names that its heads have earned, where that was measured.
    """

    asked: ReadChoices
    model: RealModel
    jobs: HeadJobs | None = None

    @cached_property
    def whole_text(self) -> CutText:
        """All tokens of the text."""
        return cut_text(self.model, self.asked.text)

    @cached_property
    def text(self) -> CutText:
        """The tokens that are read."""
        whole = self.whole_text if self.whole_text.ids else cut_text(self.model, DEFAULT_TEXT)
        return whole.first(self.most_tokens)

    @property
    def most_tokens(self) -> int:
        """How many tokens are read: no more than the model sees at once."""
        return min(MOST_TOKENS, self.model.transformer.config.context)

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return names_of(self.text)

    @property
    def query(self) -> int:
        """The token that asks."""
        last = len(self.text.ids) - 1
        return last if self.asked.word is None else min(self.asked.word, last)

    @property
    def place(self) -> Place:
        """Layer and head."""
        return self.asked.layer, self.asked.head

    @property
    def called(self) -> str:
        """The name of the head."""
        return head_name(*self.place)

    @property
    def trace(self) -> ModelTrace:
        """The whole model on this text; the model keeps it, and nobody else does."""
        return self.model.trace(self.text.ids)

    @property
    def head(self) -> AttentionTrace:
        """The chosen head on this text."""
        return self.trace.layers[self.asked.layer].attention.heads.select(self.asked.head)

    @property
    def row(self) -> Float[Tensor, " keys"]:
        """The weights of the token that asks, of itself and all before it."""
        return self.head.weights[self.query, : self.query + 1]

    @property
    def weights(self) -> Float[Tensor, "layers heads queries keys"]:
        """Those of every head."""
        return torch.stack([layer.attention.heads.weights for layer in self.trace.layers])

    def guesses(self, *ablated: Place) -> Float[Tensor, " vocabulary"]:
        """The probability of each token to come after the one that asks, with all heads or without some."""
        if not ablated:
            return self.trace.logits[self.query].softmax(dim=-1)
        return scores_without(self.model, self.text.ids, ablated, self.query).softmax(dim=-1)

    def in_vocabulary(self, token: int) -> Token:
        """A token of the vocabulary as sentences name it."""
        return Token(shown(called_alone(self.model, token)), token)

    @property
    def group(self) -> Group:
        """The chosen head and those that are patched with it, layer by layer."""
        config = self.model.transformer.config
        known = set(self.asked.patched) & set(range(config.n_layers * config.n_heads))
        others = sorted({divmod(number, config.n_heads) for number in known} - {self.place})
        return tuple(sorted((self.place, *others[: MOST_PATCHED - 1])))

    def random_heads(self, n: int) -> list[Place]:
        """So many other heads than the chosen one, drawn by the seed."""
        return [place for (place,) in self.random_groups(n, (self.place,))]

    def random_groups(self, n: int, group: Group) -> list[Group]:
        """So many groups of as many other heads, drawn by the seed; fewer where the model has too few heads."""
        config = self.model.transformer.config
        order = torch.randperm(config.n_layers * config.n_heads, generator=generator(self.asked.seed, "random heads"))
        others = [place for number in order.tolist() if (place := divmod(number, config.n_heads)) not in group]
        drawn = [tuple(sorted(others[at : at + len(group)])) for at in range(0, len(others), len(group))]
        return [one for one in drawn if len(one) == len(group)][:n]


@computed_once(maxsize=64)
def scores_without(
    model: RealModel, ids: tuple[int, ...], ablated: tuple[Place, ...], query: int
) -> Float[Tensor, " vocabulary"]:
    """The scores for the token after a query without some heads. Of such a pass nothing else is kept."""
    return model.compute(ids, ablated, scored=slice(query, query + 1)).logits[0].clone()


def names_of(text: CutText) -> tuple[Token, ...]:
    """The tokens of a text as sentences name them: a piece that goes on a word begins with a dot."""
    texts = tuple(shown(token, begins=place == 0) for place, token in enumerate(told_apart(text.tokens)))
    return tuple(Token(token, place, texts.count(token) > 1) for place, token in enumerate(texts))


def shown(token: str, *, begins: bool = False) -> str:
    """A token as it is read, white space by a sign; `begins` where it stands at the beginning of the text."""
    word = token.removeprefix(" ")
    if not word.strip():
        return "".join("⏎" if sign == "\n" else "␣" for sign in token)
    goes_on = word == token and token[0].isalnum() and not begins
    if word.startswith("·"):  # typed, it is no sign of ours
        word = typed("·", "·") + word[1:]
    return visible_text(f"·{token}" if goes_on else word)


def how_it_was_read(reading: Reading) -> tuple[Message, ...]:
    """Where a text is cut or is empty."""
    if not reading.whole_text.ids:
        return (message("There is nothing to read, so the model reads “{text}”.", text=DEFAULT_TEXT),)
    left_out = len(reading.whole_text.ids) - len(reading.text.ids)
    if not left_out:
        return ()
    return (
        plural(
            "This page reads {most} tokens, so {count} token at the end of your text is left out.",
            "This page reads {most} tokens, so {count} tokens at the end of your text are left out.",
            left_out,
            most=len(reading.text.ids),
        ),
    )
