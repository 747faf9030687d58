"""What keeping keys and values changes once the window slides: of a real model on a tale, or of a small one."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from attention_core.base.randomness import generator
from attention_core.measured.sliding import SlidingDifference, measure_sliding
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.model.weights import named_weights
from attention_core.stored.few_bits import FewBits
from lessons.example.example import ExampleTrace
from lessons.example.real_model import SMOLLM2, RealModel
from lessons.screen import Curves, Fixed, Line, Message, message
from lessons.today.cost.published_models import PublishedModel

TALE = (
    "Once upon a time there was a king who had a daughter. One day she went into the wood and saw an old woman, who "
    "was sitting under a tree and could not find her way home."
)
REAL_WINDOW, REAL_SLIDES = 24, 8  # tokens that a real model sees at once here, and by how many the text is longer
SLIDING_MODEL = ModelConfig(
    vocabulary=64,
    context=32,
    d_model=64,
    n_heads=4,
    n_layers=4,
    positions="rotary",
    layer_norm=True,
    mlp=True,
    embedding_std=0.3,
)


@dataclass(frozen=True, eq=False)
class Slide:
    """What a cache changes in a window of `context` tokens, of the real model with this `name`, or of a small one."""

    found: SlidingDifference
    context: int
    name: str = ""


@functools.lru_cache(maxsize=2)
@torch.no_grad()
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def real_slide(model: RealModel) -> Slide:
    """Keys kept beside keys computed anew, window after window. It takes seconds."""
    ids = model.tokenizer.encode(TALE, add_special_tokens=False).ids[: REAL_WINDOW + REAL_SLIDES]
    return Slide(measure_sliding(model.transformer, torch.tensor(ids), REAL_WINDOW), REAL_WINDOW, model.name)


@functools.lru_cache(maxsize=1)
@torch.no_grad()
@torch.inference_mode(False)
def small_slide() -> Slide:
    """The same of a small model with random weights, on random tokens."""
    ids = torch.randint(SLIDING_MODEL.vocabulary, (SLIDING_MODEL.context + 16,), generator=generator(1))
    return Slide(measure_sliding(draw_model(SLIDING_MODEL, generator(0)), ids), SLIDING_MODEL.context)


def slide_of(model: RealModel | None) -> Slide:
    """That of the real model of the lessons; of a small one in the place of any other, which would take too long, and
    where the real one keeps its weights in few bits: that host has no memory for so many passes.
    """
    ours = model is not None and model.name == SMOLLM2 and not keeps_few_bits(model)
    return real_slide(model) if model is not None and ours else small_slide()


def keeps_few_bits(model: RealModel) -> bool:
    """True where the weights of a model are widened layer by layer while it computes."""
    return any(isinstance(weight, FewBits) for _, weight in named_weights(model.transformer))


def sliding_figures(trace: ExampleTrace, model: PublishedModel | None) -> Iterator[Curves]:
    """How far kept keys are from those computed anew, where the running example and no published model is counted."""
    if model is None:
        yield sliding_curve(slide_of(trace.example.real_model))


def sliding_curve(slide: Slide) -> Curves:
    """How far kept keys are from those computed anew, layer by layer."""
    keys = slide.found.keys.tolist()
    return Curves(
        key="cost_sliding",
        name=message("What kept keys remember once the window slides"),
        width=560,
        percent=True,
        heading=message("Keys and values kept while the window slides"),
        above=True,
        x=message("layer"),
        y=message("how far kept keys are from new ones"),
        y_domain=(0.0, 1.0),
        notice=tuple(notice_sliding(slide)),
        lines=(Line(key="keys", name=message("kept keys"), x=tuple(range(1, len(keys) + 1)), y=keys, points=True),),
    )


def notice_sliding(slide: Slide) -> Iterator[Message]:
    """What differs, and for a real model what becomes of the next token."""
    found = slide.found
    about = {
        "context": slide.context,
        "n": found.n,
        "layers": len(found.keys),
        "first": Fixed(100 * float(found.keys[0]), 1),
        "last": Fixed(100 * float(found.keys[-1]), 1),
    }
    yield message(
        "{model} sees {context} tokens at once here; its window slides over {n} more. In layer 1, kept keys differ by "
        "{first}% of their length from keys computed afresh; in layer {layers} by {last}%, because they come from "
        "tokens that still saw what has left the window.",
        model=slide.name or message("A small model with random weights"),
        **about,
    )
    if not slide.name:
        return
    yield message(
        "On average, {moved}% of the next token's probability moves to other tokens; in {same}% of the windows "
        "the likeliest token is the same.",
        moved=Fixed(100 * found.moved, 1),
        same=Fixed(100 * found.same, 1),
    )
