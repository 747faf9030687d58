"""Scaled dot-product attention, kept as one named tensor per step.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V        Vaswani et al. 2017, eq. (1)
    https://arxiv.org/abs/1706.03762

Rows are queries, columns are keys; in self-attention both index the same tokens. `*batch` stands for any leading axes:
none, heads, or sentences and heads; every step treats the entries of the batch alike and independently. The arrays may
be NumPy's or torch's: see `arrays`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from jaxtyping import Bool, Float

from attention_core.base.arrays import Array, namespace, numbers_of, row_max, row_sum
from attention_core.base.inputs import check_inputs, is_boolean
from attention_core.base.traces import Trace

Number = float | Float[Array, ""]
Mask = Bool[Array, "... #queries keys"] | Float[Array, "... #queries keys"]


@dataclass(slots=True, eq=False, repr=False)
class AttentionTrace(Trace):
    """The tensors of one attention step, in the order in which they are computed.

    Scores are kept before a soft cap, if there is one, and after the mask.
    """

    q: Float[Array, "*batch queries d_k"]
    k: Float[Array, "*batch keys d_k"]
    v: Float[Array, "*batch keys d_v"]
    scores: Float[Array, "*batch queries keys"]
    scaled: Float[Array, "*batch queries keys"]
    masked: Float[Array, "*batch queries keys"]
    weights: Float[Array, "*batch queries keys"]
    output: Float[Array, "*batch queries d_v"]

    @property
    def visible(self) -> Bool[Array, "*batch queries keys"]:
        """True where the query may attend to the key, read off the masked scores."""
        return self.masked > -math.inf

    @classmethod
    def stack(cls, traces: Iterable["AttentionTrace"]) -> "AttentionTrace":
        """Combine the traces of several heads into one, with the axis of the heads first; `select` takes one out."""
        several = list(traces)
        xp = namespace(several[0].q)
        return cls(*(xp.stack([getattr(one, field.name) for one in several]) for field in fields(cls)))

    def select(self, index: int) -> "AttentionTrace":
        """Return the trace of one entry of the first batch axis, such as one head."""
        return AttentionTrace(*(getattr(self, field.name)[index] for field in fields(self)))


# The steps, in the order in which they are computed.


def dot_product_scores(
    q: Float[Array, "*batch queries d_k"], k: Float[Array, "*batch keys d_k"]
) -> Float[Array, "*batch queries keys"]:
    """Compute how well each key matches each query: scores[i, j] = q[i] · k[j]."""
    return q @ k.mT


def scale_scores(scores: Float[Array, "*batch queries keys"], scale: Number) -> Float[Array, "*batch queries keys"]:
    """Multiply the scores by `scale`, usually 1/√d_k.

    Where the entries of q and k are independent with mean 0 and variance 1, a dot product has variance d_k; dividing by
    √d_k brings it back to 1, whatever d_k is.
    """
    return scores * scale


def mask_scores(
    scaled: Float[Array, "*batch queries keys"], may_attend: Mask | None
) -> Float[Array, "*batch queries keys"]:
    """Set the scores to −∞ where a query may not attend, so that softmax gives exactly 0 there.

    A float mask is added as it is. Without a mask the scores stay as they are. Raises InputError for a mask of other
    types.
    """
    if may_attend is None:
        return scaled
    return namespace(scaled).where(may_attend, scaled, -math.inf) if is_boolean(may_attend) else scaled + may_attend


def softmax_rows(masked: Float[Array, "*batch queries keys"]) -> Float[Array, "*batch queries keys"]:
    """Turn each row into non-negative weights that sum to 1: exp(s[i, j]) / Σ_m exp(s[i, m]).

    Subtracting the largest score from all scores of a row changes no weight, and no exponential can overflow.
    """
    exponentials = namespace(masked).exp(masked - row_max(masked))
    return exponentials / row_sum(exponentials)


def mix_values(
    weights: Float[Array, "*batch queries keys"], v: Float[Array, "*batch keys d_v"]
) -> Float[Array, "*batch queries d_v"]:
    """Compute the output of each query, a weighted sum of the values: output[i] = Σ_j weights[i, j] v[j]."""
    return weights @ v


# All steps together.


def attend(
    q: Float[Array, "*batch queries d_k"],
    k: Float[Array, "*batch keys d_k"],
    v: Float[Array, "*batch keys d_v"],
    may_attend: Mask | None = None,
    *,
    scale: Number | None = None,
    soft_cap: Number | None = None,
    sink: Float[Array, "*heads"] | float | None = None,
) -> AttentionTrace:
    """Run scaled dot-product attention, softmax(q kᵀ / √d_k) v, and keep every tensor on the way.

    `may_attend` is True where a query may attend to a key; without it every query attends to every key. A mask of
    numbers is added to the scaled scores (−∞ hides a key). A mask broadcasts over the batch, and one of a single row,
    such as a padding mask, over the queries. The other arguments serve models that differ. `scale` multiplies the
    scores in the place of 1/√d_k. `soft_cap` keeps scores between its negative and itself: see `cap_scores`. `sink` is
    the score of attending to nothing, one for all heads or one for each: see `softmax_with_sink`.

    Raises InputError for arguments that do not fit together (see `inputs`), and when without a sink a query may attend
    to nothing: its softmax would be 0/0. With a sink its output is zero; a sink of −∞ changes nothing else.
    """
    check_inputs(q, k, v, may_attend, scale, soft_cap, sink)
    scores = dot_product_scores(q, k)
    scaled = scale_scores(scores, 1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    masked = mask_scores(cap_scores(scaled, soft_cap), may_attend)
    weights = softmax_rows(masked) if sink is None else softmax_with_sink(masked, sink)
    output = mix_values(weights, v)
    return AttentionTrace(q, k, v, scores, scaled, masked, weights, output)


# What today's models change: two masks as one, scores with a limit, and a sink for weight that no key gets.


def combine_masks(may_attend: Mask | None, near: Bool[Array, "queries keys"]) -> Mask:
    """Combine two masks: a key is hidden where either mask hides it, and a bias stays where neither does."""
    if may_attend is None:
        return near
    return may_attend & near if is_boolean(may_attend) else mask_scores(may_attend, near)


def cap_scores(scaled: Float[Array, "*batch queries keys"], cap: Number | None) -> Float[Array, "*batch queries keys"]:
    """Limit scores by cap · tanh(score / cap): small scores hardly change, none exceeds ±cap, and order is kept.

    A cap of 0 or None means no cap; 0 is read so in ONNX and FlashAttention, too. Bello et al. 2016,
    https://arxiv.org/abs/1611.09940; as used by Gemma 2, https://arxiv.org/abs/2408.00118.
    """
    return cap * namespace(scaled).tanh(scaled / cap) if numbers_of(cap) else scaled


def softmax_with_sink(
    masked: Float[Array, "*batch queries keys"], sink: Float[Array, "*heads"] | float
) -> Float[Array, "*batch queries keys"]:
    """Compute weights that leave a share to a sink: exp(s[i, j]) / (exp(sink) + Σ_m exp(s[i, m])).

    The share of the sink is missing from the row and mixes no value. A row with no visible key is zeros, also where the
    sink is −∞ and collects nothing. Sinks that are learned, one for each head: gpt-oss,
    https://arxiv.org/abs/2508.10925; why models want one: Xiao et al. 2023, https://arxiv.org/abs/2309.17453.
    """
    xp = namespace(masked)
    sinks: Array = sink if isinstance(sink, type(masked)) else xp.asarray(sink, dtype=masked.dtype)
    sinks = sinks[..., None, None]
    largest = xp.maximum(row_max(masked), sinks)
    largest = xp.where(largest > -math.inf, largest, xp.zeros((), dtype=masked.dtype))
    exponentials = xp.exp(masked - largest)
    total = xp.exp(sinks - largest) + row_sum(exponentials)
    return exponentials / (total + (total == 0))
