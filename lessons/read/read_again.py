"""What a notebook computes again with the model itself: from its file and the text on, each view in one function."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.model import ModelTrace
from lessons.example.model_file import MODEL_FILE, OpenedModel, open_gguf
from lessons.example.real_model import DEFAULT_TEXT, SMOLLM2, CutText, cut_text
from lessons.read.compute import stop_early, way_moved
from lessons.read.early_guesses import early_guesses
from lessons.read.many_heads import to_first_token
from lessons.read.patched import compute_ways, heads_patched, two_texts
from lessons.read.reading import Group, Place, Reading
from lessons.read.without_head import likeliest
from lessons.screen.program import Call


@dataclass(frozen=True, eq=False)
class HeadsRead:
    """The weights of one head, those of all heads of its layer from one token, and what every head of the model gives
    to the first token, in the mean over the queries after it."""

    tokens: list[str]
    weights: Float[Tensor, "queries keys"]
    layer: Float[Tensor, "heads keys"]
    to_first: Float[Tensor, "layers heads"]


@dataclass(frozen=True, eq=False)
class EarlyRead:
    """The first guess after each step through the model, and the probability there of the guess in the end."""

    first: list[str]
    of_final: Float[Tensor, " steps"]


@dataclass(frozen=True, eq=False)
class GuessesRead:
    """The likeliest next tokens, and the probability of each with all heads and without one."""

    tokens: list[str]
    whole: Float[Tensor, " guesses"]
    without: Float[Tensor, " guesses"]


def read_tokens(model: OpenedModel, text: str, most: int) -> CutText:
    """The first tokens of a text."""
    return cut_text(model, text).first(most)


def decoded(model: OpenedModel, ids: list[int]) -> list[str]:
    """Tokens of the vocabulary as texts."""
    return [model.tokenizer.decode([token]) for token in ids]


def read_heads(file: str, text: str, most: int, place: Place, query: int) -> HeadsRead:
    """Where the heads of the model look: `place` is the layer and the head, both from 0, as is the query."""
    model = open_gguf(file)
    cut = read_tokens(model, text, most)
    weights = torch.stack([layer.attention.heads.weights for layer in model.trace(cut.ids).layers])
    layer, head = place
    of_query = weights[layer, :, query, : query + 1]
    return HeadsRead([*cut.tokens], weights[layer, head], of_query, to_first_token(weights).mean(dim=-1))


def read_early(file: str, text: str, most: int, query: int) -> EarlyRead:
    """What the model would guess after a query, counted from 0, if it stopped earlier."""
    model = open_gguf(file)
    trace = model.trace(read_tokens(model, text, most).ids)
    with torch.inference_mode():
        chances = stop_early(model.transformer, trace, query).softmax(dim=-1)
    first = chances.argmax(dim=-1)
    return EarlyRead(decoded(model, first.tolist()), chances[:, first[-1]])


def read_without(file: str, text: str, most: int, place: Place, query: int, guesses: int) -> GuessesRead:
    """What the likeliest guesses after a query lose without a head; all are counted from 0."""
    model = open_gguf(file)
    cut = read_tokens(model, text, most)
    whole, without = (model.trace(cut.ids, off).logits[query].softmax(dim=-1) for off in ((), (place,)))
    likeliest = whole.argsort(descending=True, stable=True)[:guesses]
    return GuessesRead(decoded(model, likeliest.tolist()), whole[likeliest], without[likeliest])


def read_patched(file: str, text: str, other: str, most: int, groups: tuple[Group, ...]) -> list[float]:
    """How far each group of heads moves the answer, with what they find in the other text, of the whole way."""
    model = open_gguf(file)
    cut = read_tokens(model, text, most)
    here, there = model.trace(cut.ids), model.trace(read_tokens(model, other, most).ids)
    one, another = int(here.logits[-1].argmax()), int(there.logits[-1].argmax())

    def difference(trace: ModelTrace) -> float:
        return float(trace.logits[-1, one] - trace.logits[-1, another])

    ways = []
    for group in groups:
        outputs = {(layer, head): there.layers[layer].attention.heads.output[head] for layer, head in group}
        with torch.inference_mode():
            patched = difference(model.transformer(torch.tensor(cut.ids), patched=outputs))
        ways.append(way_moved(difference(here), difference(there), patched).way)
    return ways


# What the screen shows of it.


def read_again(reading: Reading) -> Callable[[], Call] | None:
    """What tells how a notebook computes a view; None where that has no file of the model, or nothing to compute."""
    view = reading.asked.view
    if reading.model.name != SMOLLM2 or view not in CALLS:
        return None
    return None if view == "patch" and two_texts(reading).why_not else partial(CALLS[view], reading)


def call_with(reading: Reading, **inputs: object) -> dict[str, object]:
    """What all views are computed from, and more."""
    return {"file": MODEL_FILE, "text": text_read(reading), "most": reading.most_tokens} | inputs


def text_read(reading: Reading) -> str:
    """The whole text, of which the first tokens are read."""
    return reading.asked.text if reading.whole_text.ids else DEFAULT_TEXT


def heads_again(reading: Reading) -> Call:
    """Of one head and of many."""
    weights, query = reading.weights, reading.query
    layer, head = reading.place
    shows = {
        "result.tokens": list(reading.text.tokens),
        "result.weights": weights[layer, head],
        "result.layer": weights[layer, :, query, : query + 1],
        "result.to_first": to_first_token(weights).mean(dim=-1),
    }
    return Call(read_heads, call_with(reading, place=reading.place, query=query), shows)


def early_again(reading: Reading) -> Call:
    """Of guesses layer by layer."""
    found = early_guesses(reading)
    shows = {
        "result.first": [reading.model.tokenizer.decode([token]) for token in found.first.tolist()],
        "result.of_final": found.of_final,
    }
    return Call(read_early, call_with(reading, query=reading.query), shows)


def without_again(reading: Reading) -> Call:
    """Of a head switched off."""
    tokens = likeliest(reading)
    shows = {
        "result.tokens": [reading.model.tokenizer.decode([token]) for token in tokens],
        "result.whole": reading.guesses()[tokens],
        "result.without": reading.guesses(reading.place)[tokens],
    }
    inputs = call_with(reading, place=reading.place, query=reading.query, guesses=len(tokens))
    return Call(read_without, inputs, shows)


def patched_again(reading: Reading) -> Call:
    """Of heads that are patched."""
    texts = two_texts(reading)
    inputs = call_with(reading, other=text_read(texts.there), groups=tuple(heads_patched(texts)))
    return Call(read_patched, inputs, {"result": compute_ways(texts).result.way[:, 0]})


CALLS = {
    "one": heads_again,
    "maps": heads_again,
    "sink": heads_again,
    "guesses": early_again,
    "off": without_again,
    "patch": patched_again,
}
