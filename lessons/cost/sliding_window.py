"""What keeping keys and values changes once the window slides: the language model on a tale longer than it sees."""

import functools
from collections.abc import Iterator

import torch

from attention_core.cache import SlidingDifference, measure_sliding
from attention_core.language_model import language_model
from attention_core.pieces import START
from lessons.screen.message import Fixed, Message, message
from lessons.screen.screen import Curves, Line

TALE = (
    "Once upon a time there was a king who had a daughter. One day she went into the wood and saw an old woman, who "
    "was sitting under a tree and could not find her way home. The girl gave her some bread and took her by the hand. "
    "When they came to the house the old woman said that she would give her whatever she asked for. The girl thought "
    "for a long time, and then she said that she had all that she wanted, and went back to her father. "
)


@functools.lru_cache(maxsize=1)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def sliding_over_tale() -> SlidingDifference:
    """Keys kept beside keys computed anew, window after window."""
    reader = language_model()
    return measure_sliding(reader.model, torch.tensor([reader.pieces.ids[START], *reader.pieces.encode(TALE)]))


def sliding_figure() -> Curves:
    """How far kept keys are from those computed anew, layer by layer."""
    keys = sliding_over_tale().keys.tolist()
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
        notice=tuple(notice_sliding()),
        lines=(Line(key="keys", name=message("kept keys"), x=tuple(range(1, len(keys) + 1)), y=keys, points=True),),
    )


def notice_sliding() -> Iterator[Message]:
    """What differs, and what becomes of the next token."""
    found, context = sliding_over_tale(), language_model().model.config.context
    yield message(
        "The language model sees {context} tokens at once. Over a tale that is {n} tokens longer, its window "
        "slides. In layer 1, kept keys differ by {first}% of their length from keys computed afresh from the "
        "window; in layer {layers} by {last}%, because they come from tokens that still saw what has left the "
        "window.",
        context=context,
        n=found.n,
        layers=len(found.keys),
        first=Fixed(100 * float(found.keys[0]), 1),
        last=Fixed(100 * float(found.keys[-1]), 1),
    )
    yield message(
        "On average, {moved}% of the next token's probability moves to other tokens; in {same}% of the windows "
        "the likeliest token is the same.",
        moved=Fixed(100 * found.moved, 1),
        same=Fixed(100 * found.same, 1),
    )
