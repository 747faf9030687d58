"""What a notebook computes again with the model itself: from its file and a beginning on, token by token."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.randomness import generator
from attention_core.sampling import Sampling, draw_token, ranked
from lessons.example.model_file import MODEL_FILE, open_gguf
from lessons.example.real_model import cut_text
from lessons.example.token_names import text_of
from lessons.generate.real_writer import RealWriting
from lessons.screen.program import Call

MOST_GUESSES = 15


@dataclass(frozen=True, eq=False)
class WrittenAgain:
    """A text that the model went on with. Of the likeliest tokens for its last place: what the model gave each, and the
    probability with which each was drawn."""

    text: str
    likeliest: list[str]
    probabilities: Float[Tensor, " guesses"]
    drawn_from: Float[Tensor, " guesses"]


def write_with_model(file: str, start: str, length: int, sampling: Sampling, seed: int, guesses: int) -> WrittenAgain:
    """The model goes on with a text. Each new token takes a random number of the seed; only that one is then read."""
    model, random = open_gguf(file), generator(seed, "sample")
    ids = new = list(cut_text(model, start).ids)
    past, draws = (), []
    for _ in range(length):
        with torch.inference_mode():
            trace = model.transformer(torch.tensor(new), past=past)
        past = tuple(layer.attention.present for layer in trace.layers)
        draws.append(draw_token(trace.logits[-1], sampling, random))
        new = [draws[-1].token]
        ids = ids + new
    last = draws[-1]
    likeliest = ranked(last.probabilities)[:guesses]
    tokens = [text_of(model, [token]) for token in likeliest.tolist()]
    return WrittenAgain(text_of(model, ids), tokens, last.probabilities[likeliest], last.final[likeliest])


def write_again(writing: RealWriting) -> Call:
    """How a notebook writes the text of the screen."""
    model, draw = writing.model, writing.newest.draw
    likeliest = ranked(draw.probabilities)[:MOST_GUESSES]
    shows = {
        "result.text": text_of(model, writing.ids),
        "result.likeliest": [text_of(model, [token]) for token in likeliest.tolist()],
        "result.probabilities": draw.probabilities[likeliest],
        "result.drawn_from": draw.final[likeliest],
    }
    inputs = {
        "file": MODEL_FILE,
        "start": text_of(model, writing.ids[: -writing.n_new]),
        "length": writing.n_new,
        "sampling": writing.sampling,
        "seed": writing.seed,
        "guesses": MOST_GUESSES,
    }
    return Call(write_with_model, inputs, shows)
