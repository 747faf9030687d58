"""A real language model that writes: what it goes on with, what each new token came of, and where it looked before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.randomness import generator
from attention_core.model import sampling
from attention_core.model.generation import MAX_NEW_TOKENS, GeneratedToken, check_request
from attention_core.model.sampling import Sampling, TokenDraw, draw_token, uniform_number
from attention_core.text.tokens import Vocabulary, clean_text
from lessons.example.prompt import MAX_START
from lessons.example.real_model import SMOLLM2, RealModel, cut_text
from lessons.example.token_names import BROKEN, is_unfinished, parts_of_text, text_of, told_apart, vocabulary_of
from lessons.model.generate.lesson import distribution
from lessons.model.generate.questions import QUESTIONS
from lessons.screen import (
    Code,
    Integer,
    ListOf,
    Message,
    Percent,
    Phrase,
    Screen,
    TextToken,
    Token,
    TokenText,
    argmax_ties,
    message,
    names,
    percent,
    visible_text,
)
from lessons.shared.questions import question_picker

BEGINS_WITH = "The robot opened the door and"
Ids = tuple[int, ...]
Head = tuple[int, int]  # layer and head, counted from 0
MOST_NAMED = 3
MOST_READ = 64  # tokens of what somebody typed


class Newest(Protocol):
    """What a model says at the end of a text: scores for the next token, and the weights of the last by layers."""

    logits: Float[Tensor, " vocabulary"]
    weights: Sequence[Float[Tensor, "heads keys"]]


class WritingModel(RealModel, Protocol):
    """A real model that writes with a cache."""

    def newest_token(self, ids: Sequence[int]) -> Newest:
        """What follows these ids. One token after ids that were asked for just now, only that token is read."""
        ...


@dataclass(frozen=True)
class RealBeginning:
    """The ids that a text begins with, and what had to be changed to get them."""

    ids: tuple[int, ...]
    notes: tuple[Message | Phrase, ...] = ()


def real_beginning(model: RealModel, raw: str) -> RealBeginning:
    """What somebody typed as this model cuts it; where nothing is left of it, the text that stands there at first."""
    clean = clean_text(raw, MAX_START)
    cut = cut_text(model, clean.text) if clean.text else cut_text(model, BEGINS_WITH)
    read = cut.last(min(MOST_READ, model.transformer.config.context - MAX_NEW_TOKENS))
    if len(read.ids) == len(cut.ids):
        return RealBeginning(cut.ids, clean.notes)
    end = message("The text is long: of its tokens the model reads only the last {count}.", count=len(read.ids))
    return RealBeginning(read.ids, (*clean.notes, end))


def draw_next(model: WritingModel, ids: Ids, place: int, how: Sampling, seed: int) -> TokenDraw:
    """Everything between the scores for the next token and the one that is drawn: the new token number `place`, counted
    from 0, of a text with this seed.
    """
    random = generator(seed, "sample")
    for _ in range(place):  # each token before it took one random number
        uniform_number(random)
    return draw_token(model.newest_token(ids).logits, how, random)


def write_on(model: WritingModel, start: Ids, length: int, how: Sampling, seed: int, written: Ids = ()) -> Ids:
    """`start` and so many new ids, one after the other. A longer text begins with the shorter one: what is `written` of
    it already need not be written again.

    Raises ValueError for an empty start, and for too great a length.
    """
    check_request(start, length)
    ids = written or start
    for place in range(len(ids) - len(start), length):
        ids = (*ids, draw_next(model, ids, place, how, seed).token)
    return ids[: len(start) + length]


@dataclass(frozen=True, eq=False)
class RealWriting:
    """A text that a real model goes on with, and its newest token with all that led to it."""

    model: WritingModel
    ids: tuple[int, ...]
    n_new: int
    newest: GeneratedToken
    sampling: Sampling
    seed: int

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens that the model knows, as they stand in a text."""
        return vocabulary_of(self.model)

    @property
    def text_to_see(self) -> str:
        """The text, with a sign for each space at its end: else a space that was drawn would change nothing."""
        text = text_of(self.model, self.ids)
        written = text.rstrip(" ")
        return written + visible_text(text[len(written) :])


def real_writing(
    model: WritingModel, start: Ids, length: int, how: Sampling, seed: int, written: Ids = ()
) -> RealWriting:
    """The text with so many new tokens, of which there is at least one; `written` is what is known of it already."""
    ids = write_on(model, start, length, how, seed, written)
    before, tokens = ids[:-1], vocabulary_of(model).tokens
    draw, newest = draw_next(model, before, length - 1, how, seed), model.newest_token(before)
    token = GeneratedToken(tokens[ids[-1]], len(before), 0, parts_of_text(model, before), draw, tuple(newest.weights))
    return RealWriting(model, ids, length, token, how, seed)


def real_screen(writing: RealWriting, head: Head | None, most: int | None = None) -> Screen:
    """The newest token: what it was drawn from, and where one head, or all on average, looked before."""
    vocabulary = writing.vocabulary
    return Screen(
        figures=(distribution(writing, most), shares_of_text(writing.newest, head)),
        remarks=(*unfinished(writing), *about_the_model(writing.model)),
        code=code_of_real(),
        ask=question_picker("generate", QUESTIONS, writing.seed, writing.newest, vocabulary),
    )


def code_of_real() -> Code:
    """The functions that write. The model has too many weights for a program that can be copied."""
    steps = (sampling.next_token_probabilities, sampling.keep_top_k, sampling.keep_top_p, sampling.renormalise)
    return Code((write_on, draw_next, draw_token, *steps, sampling.pick))


# Where it looked.


def shares_of_text(new: GeneratedToken, head: Head | None) -> TokenText:
    """The weights of the last token read, below the text: those of one head, or the mean over all of them.

    Most heads give the first token most of their weight; the bars are drawn so that what the others get is seen.
    """
    shares = shares_of(new, head)
    among = shares[1:] if len(shares) > 1 else shares
    longest = max(among.max().item(), 1e-9)
    return TokenText(
        key="looks",
        name=message("What the heads looked at"),
        notice=(*said_of_shares(new, shares), *first_beyond(shares)),
        shares=True,
        tokens=tuple(
            TextToken(
                text=shown(token.text),
                below=percent(share),
                says=message("{token} gets {share}.", token=token, share=Percent(share)),
                share=min(1.0, share / longest),
                beyond=share > longest,
                marked=token.position == len(new.window) - 1,
            )
            for token, share in zip(names(told_apart(new.window)), shares.tolist(), strict=True)
        ),
    )


def shares_of(new: GeneratedToken, head: Head | None) -> Float[Tensor, " tokens"]:
    """The weights of one head, or the mean over the heads of all layers."""
    return torch.stack(new.attention).mean(dim=(0, 1)) if head is None else new.attention[head[0]][head[1]]


def shown(token: str) -> str:
    """A token as it can be seen."""
    return visible_text(token).replace("\n", "↵").replace("\t", "⇥")


def said_of_shares(new: GeneratedToken, shares: Float[Tensor, " tokens"]) -> tuple[Message, ...]:
    """What the last token read looked at most, unless it looked at many alike."""
    called = names(told_apart(new.window))
    if len(called) == 1:
        return (message("Only {query} comes before it.", query=called[-1]),)
    most = [position for (position,) in argmax_ties(shares, percent)]
    if len(most) > MOST_NAMED:
        return ()
    return (
        message(
            "{query}, the last token read, looked most at {keys}: {share}.",
            query=called[-1],
            keys=ListOf(tuple(called[position] for position in most)),
            share=Percent(float(shares[most[0]])),
        ),
    )


def first_beyond(shares: Float[Tensor, " tokens"]) -> tuple[Message, ...]:
    """That the first token gets more than any other, and so has no bar to the scale of the others."""
    if len(shares) == 1 or float(shares[0]) <= float(shares[1:].max()):
        return ()
    rest = Percent(float(shares[1:].sum()))
    return (message("The hatched bar of the first token is cut off; the others share {rest}.", rest=rest),)


# What is said besides.


def unfinished(writing: RealWriting) -> tuple[Message, ...]:
    """That the text ends within a character, or that the model has ended it."""
    notes = []
    if is_unfinished(writing.model, writing.ids):
        notes.append(
            message("{sign} stands for a character of several tokens, not all of which are written yet.", sign=BROKEN)
        )
    special = ends_of(writing)
    if special:
        notes.append(
            message(
                "{tokens} mark the end of a text or of a part of it; what follows can be about anything.",
                tokens=ListOf(special),
            )
        )
    return tuple(notes)


def ends_of(writing: RealWriting) -> tuple[Token, ...]:
    """The special tokens that were drawn, each once."""
    special = {i for i, token in writing.model.tokenizer.get_added_tokens_decoder().items() if token.special}
    drawn = dict.fromkeys(i for i in writing.ids[-writing.n_new :] if i in special)
    return tuple(Token(writing.vocabulary.tokens[i], i) for i in drawn)


def about_the_model(model: RealModel) -> tuple[Message, ...]:
    """Who writes, and what can be expected of it."""
    config = model.transformer.config
    small = message("It is small: its sentences are fluent, but what they say is often not true.")
    return (
        message(
            "{name} has n_layers = {layers}, n_heads = {heads} and a vocabulary of {size} tokens. A space belongs "
            "to the token after it, and is shown as ␣.",
            name=model.name,
            layers=config.n_layers,
            heads=config.n_heads,
            size=Integer(config.vocabulary),
        ),
        *((small,) if model.name == SMOLLM2 else ()),
    )
