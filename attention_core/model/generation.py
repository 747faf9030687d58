"""Generating text token by token, with everything that led to each: the window, the attention, the draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import is_whole, shown
from attention_core.base.randomness import generator
from attention_core.model.sampling import Sampling, TokenDraw, check_start, draw_token, uniform_number
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.text.tokens import Vocabulary

MAX_NEW_TOKENS = 200


@dataclass(frozen=True, eq=False)
class NewToken:
    """One new token, and the window of text that was read before it.

    `window` holds the last tokens of the text so far, as many as the model can see. The first of them has position
    `first` in the text and the new token has `position`, both counted from 0.
    """

    token: str
    position: int
    first: int
    window: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GeneratedToken(NewToken):
    """One new token, and everything that led to it.

    `attention` has for each layer the weights of the last token of the window: its query predicts the new token.
    """

    draw: TokenDraw
    attention: tuple[Float[Tensor, "heads keys"], ...]


def generate(
    model: Transformer, vocabulary: Vocabulary, start: Sequence[str], length: int, sampling: Sampling, seed: int
) -> tuple[GeneratedToken, ...]:
    """Generate `length` new tokens after `start`, each drawn after reading the last `context` tokens before it.

    Equal arguments give equal texts; a longer text begins with the shorter one. Raises InputError for an empty start,
    unknown tokens, too great a length, or a model with broken weights.
    """
    check_request(start, length)
    text, random, generated = list(start), generator(seed, "sample"), []
    for _ in range(length):
        generated.append(generate_token(model, vocabulary, text, sampling, random))
        text.append(generated[-1].token)
    return tuple(generated)


def generate_token(
    model: Transformer, vocabulary: Vocabulary, text: Sequence[str], sampling: Sampling, random: torch.Generator
) -> GeneratedToken:
    """Generate the token that follows a text: read its last `context` tokens, and draw."""
    first = max(0, len(text) - model.config.context)
    window = tuple(text[first:])
    trace = model(namespace(model.table).asarray(vocabulary.encode(window)))
    draw = draw_token(torch.as_tensor(trace.logits[-1]), sampling, random)
    return GeneratedToken(vocabulary.tokens[draw.token], len(text), first, window, draw, last_token_attention(trace))


def regenerate_last(
    model: Transformer, vocabulary: Vocabulary, text: Sequence[str], n_new: int, sampling: Sampling, seed: int
) -> GeneratedToken:
    """Return the last token of a text whose last `n_new` tokens `generate` drew, with everything that led to it."""
    random = generator(seed, "sample")
    for _ in range(n_new - 1):  # each token before it took one random number
        uniform_number(random)
    return generate_token(model, vocabulary, text[:-1], sampling, random)


def check_request(start: Sequence[str] | Sequence[int], length: int) -> None:
    """Raise InputError for an empty start, and unless the length is a whole number from 0 to MAX_NEW_TOKENS."""
    check_start(start)
    if not (is_whole(length) and 0 <= length <= MAX_NEW_TOKENS):
        raise TechnicalError(
            "a text goes on by 0 to {most} tokens, but got {length}", most=MAX_NEW_TOKENS, length=shown(length)
        )


def last_token_attention(trace: ModelTrace) -> tuple[Float[Tensor, "heads keys"], ...]:
    """Return the last token's weights in every head, layer by layer; copied, so that no other row is kept."""
    return tuple(torch.asarray(layer.attention.heads.weights[:, -1], copy=True) for layer in trace.layers)
