"""Token after token, and nothing computed twice: the key-value cache.

In a causal model no token sees what comes after it. So its keys and values stay what they are while the text grows;
kept, they leave one row to compute in each layer for each new token, where reading all again computes every row.

A text longer than the context slides through the window. Keys are kept before rotary positions turn them, and turned
by where they stand in the window: Xiao et al. 2023, section 3.2, https://arxiv.org/abs/2309.17453. In the first layer
they are then what reading the window anew gives. In deeper layers they are not: they were made of tokens that saw what
has left the window since, and remember it; `measured.sliding` says how much that changes. Some models are trained so:
Dai et al. 2019 (Transformer-XL), https://arxiv.org/abs/1901.02860. Where positions are vectors that belong to places
in the window, every row changes as it slides, and the window is read anew.
"""

from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from attention_core.base.arrays import namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_whole
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.one_head.heads import KeyValues

SLIDING_POSITIONS = ("none", "rotary", "alibi")  # those that know distances alone


def read_newest(
    model: Transformer,
    ids: Int[Tensor, "*runs tokens"],
    past: Sequence[KeyValues] = (),
    context: int | None = None,
) -> ModelTrace:
    """What the model computes at the end of a text: with the `past` of all ids but the last, for that one alone.

    Without it, the last `context` ids are read: as many as the model can see, where nothing else is said. Raises
    InputError for a cache of a model that is not causal, and for one of another number of layers or tokens.
    """
    context = seen_at_once(model, context)
    xp = namespace(model.table)
    if past and not model.config.causal:
        raise TechnicalError(
            "keys and values can be kept only if no token sees what comes after it, but the model is not "
            "causal; read the whole text instead"
        )
    if past:
        check_cache(past, len(model.layers), min(ids.shape[-1] - 1, context))
    if not past or (ids.shape[-1] > context and model.config.positions not in SLIDING_POSITIONS):
        return model(xp.asarray(ids[..., -context:]))
    seen = max(0, past[0].k.shape[-2] + 1 - context)  # what leaves the window
    return model(xp.asarray(ids[..., -1:]), past=[KeyValues(k[..., seen:, :], v[..., seen:, :]) for k, v in past])


def seen_at_once(model: Transformer, context: int | None) -> int:
    """How many tokens are read: as many as asked for, or as the model can see."""
    if context is None:
        return model.config.context
    check_whole("context", context, least=1)
    return context


def check_cache(past: Sequence[KeyValues], n_layers: int, n_tokens: int) -> None:
    """Raise InputError unless these are the keys and values of so many layers and tokens."""
    kept = past[0].k.shape[-2]
    if len(past) != n_layers or kept != n_tokens:
        raise TechnicalError(
            "the past has the keys and values of all {n_layers} layers and of the {n_tokens} tokens before the newest "
            "that the model sees, but got {layers} layers and {kept} tokens; keep what present gives",
            n_layers=n_layers,
            n_tokens=n_tokens,
            layers=len(past),
            kept=kept,
        )


def present(trace: ModelTrace) -> tuple[KeyValues, ...]:
    """What is to be kept of all tokens read so far: the past of the next one, layer by layer."""
    return tuple(layer.attention.present for layer in trace.layers)
