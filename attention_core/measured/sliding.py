"""What a cache of keys and values changes once the window of a text slides: see `model.cache`."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.base.errors import TechnicalError
from attention_core.measured.head_measures import total_variation
from attention_core.model.cache import present, read_newest, seen_at_once
from attention_core.model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class SlidingDifference:
    """What a cache changes once the window slides, compared with reading each window anew: means over `n` windows."""

    keys: Float[Tensor, " layers"]  # how far kept keys are from those computed anew, as a share of their length
    moved: float  # the probability of the next token that lies elsewhere: half the sum of all differences
    same: float  # the share of windows after which the likeliest token is the same
    n: int


def measure_sliding(model: Transformer, ids: Int[Tensor, " tokens"], context: int | None = None) -> SlidingDifference:
    """Measure what a cache changes on a text. Raises InputError unless the text is longer than the context."""
    context = seen_at_once(model, context)
    if len(ids) <= context:
        raise TechnicalError(
            "the window slides after {context} tokens, but the text has {n}", context=context, n=len(ids)
        )
    past, keys, moved, same = present(read_newest(model, ids[:context], (), context)), [], [], []
    for end in range(context + 1, len(ids) + 1):
        kept, anew = (read_newest(model, ids[:end], kept, context) for kept in (past, ()))
        past, own = present(kept), present(anew)
        keys.append(torch.stack([(a.k - b.k).norm() / b.k.norm() for a, b in zip(past, own, strict=True)]))
        a, b = (trace.logits[-1].softmax(dim=-1) for trace in (kept, anew))
        moved.append(float(total_variation(a, b)))
        same.append(bool(a.argmax() == b.argmax()))
    n = len(keys)
    return SlidingDifference(torch.stack(keys).mean(dim=0), sum(moved) / n, sum(same) / n, n)
