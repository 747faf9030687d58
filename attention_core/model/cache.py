"""Token after token, and nothing computed twice: the key-value cache.

In a causal model no token attends to later ones, so its keys and values stay the same while the text grows. When they
are kept, each new token leaves one row to compute in each layer, where reading the whole text again computes every row.

A text longer than the context slides through the window. Keys are kept before rotation, and rotated by their positions
in the window: Xiao et al. 2023, section 3.2, https://arxiv.org/abs/2309.17453. In the first layer the result equals
that of reading the window anew. In deeper layers it does not: keys and values there were computed from tokens that
attended to tokens outside the present window; `measured.sliding` says how much that changes. Some models are trained
so: Dai et al. 2019 (Transformer-XL), https://arxiv.org/abs/1901.02860. Where positions are vectors that belong to
places in the window, every row changes as it slides, and the window is read anew.
"""

from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from attention_core.base.arrays import namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_whole
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.one_head.heads import KeyValues

SLIDING_POSITIONS = ("none", "rotary", "alibi")  # kinds of positions that depend on distances alone


def read_newest(
    model: Transformer,
    ids: Int[Tensor, "*runs tokens"],
    past: Sequence[KeyValues] = (),
    context: int | None = None,
) -> ModelTrace:
    """Compute a model at the end of a text: with the `past` of all ids but the last, for the last id alone.

    Without a past, or where it cannot be used, the last `context` ids are read, by default as many as the model can
    see. Raises InputError for a past with a model that is not causal, and for a past of another number of layers or
    tokens.
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
    """Return how many tokens are read: `context`, or by default as many as the model can see.

    Raises InputError unless `context` is a whole number from 1 on.
    """
    if context is None:
        return model.config.context
    check_whole("context", context, least=1)
    return context


def check_cache(past: Sequence[KeyValues], n_layers: int, n_tokens: int) -> None:
    """Raise InputError unless the past holds the keys and values of `n_layers` layers and `n_tokens` tokens."""
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
    """Return the keys and values of all tokens read so far, layer by layer: the past of the next token."""
    return tuple(layer.attention.present for layer in trace.layers)
