"""Several attentions side by side, each with separate queries, keys and values.

    MultiHead(X) = Concat(head_1, …, head_h) W_o,   head_i = Attention(X W_q^i, X W_k^i, X W_v^i)

Vaswani et al. 2017, section 3.2.2. The projections of all heads are packed into one `W_q`, one `W_k` and one `W_v`.
Each head has neighbouring columns of each: d_k, d_k and d_v columns, as a rule d_head = d_model / n_heads.

A weight may have axes of runs in front, (*runs, d_in, d_out), and then x has them too: see `training`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from jaxtyping import Float

from attention_core.base.arrays import Array, Positions, Tokens, align_runs, namespace, numbers_of, row_products
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_alike, check_each_head, check_past, check_share, check_whole, is_whole
from attention_core.base.randomness import Generator, draw_linear, draw_map
from attention_core.base.traces import Trace
from attention_core.one_head.attention import AttentionTrace, Mask, Number, attend, combine_masks, mix_values
from attention_core.one_head.distances import distances, within_window
from attention_core.one_head.head import rotate_both
from attention_core.text.embeddings import Rotary

QKV = tuple[
    Float[Array, "*batch heads queries d_k"],
    Float[Array, "*batch kv_heads keys d_k"],
    Float[Array, "*batch kv_heads keys d_head"],
]
Window = tuple[int | None, int | None]  # how far back and ahead a query may attend: see `within_window`


class KeyValues(NamedTuple):
    """The keys and values of tokens, kept for later queries: each head's keys, before any rotation, and its values."""

    k: Float[Array, "*batch kv_heads keys d_k"]
    v: Float[Array, "*batch kv_heads keys d_v"]


@dataclass(slots=True, eq=False, repr=False)
class MultiHeadTrace(Trace):
    """The tensors that several heads compute: `heads` has the axis of the heads before queries and keys.

    Ablated heads are zero, and patched ones have their other output, in `concatenated` and `output`, not in `heads`.
    """

    present: KeyValues
    heads: AttentionTrace
    concatenated: Float[Array, "*batch queries all_d_v"]
    output: Float[Array, "*batch queries d_model"]
    dropped: bool = False  # the weights of `heads` are those after dropout


@dataclass(frozen=True, eq=False, kw_only=True)
class Heads(ABC):
    """Several heads and the map W_o that mixes their outputs; a subclass holds the other maps and projects with them.

    All maps are used as x @ W. `rotary` rotates queries and keys by their positions. `soft_cap` and `sink` are those of
    `attend`; the sink is a weight of each head. No head attends to keys outside the `window`.
    """

    sink: Float[Array, "*runs heads"] | None = None
    W_o: Float[Array, "*runs all_d_v d_model"]
    b_o: Float[Array, "*runs d_model"] | None = None
    n_heads: int
    rotary: Rotary | None = None
    dropout: float = 0.0
    soft_cap: float | None = None
    window: Window | None = None

    @abstractmethod
    def project(
        self,
        query: Float[Array, "*batch queries d_model"],
        key: Float[Array, "*batch keys d_model"],
        value: Float[Array, "*batch keys d_model"],
    ) -> QKV:
        """Compute each head's q from `query`, its k from `key`, and its v from `value`."""

    @property
    def d_head(self) -> int:
        """The number of features of a head's values, d_v."""
        return self.W_o.shape[-2] // self.n_heads

    def __call__(
        self,
        x: Float[Array, "*batch queries d_model"],
        may_attend: Mask | None = None,
        *,
        key_value: Float[Array, "*batch keys d_model"] | None = None,
        scale: float | None = None,
        positions: Positions | None = None,
        ablated: Collection[int] = (),
        drop: Generator | None = None,
        past: KeyValues | None = None,
        patched: Mapping[int, Float[Array, "*batch queries d_head"]] | None = None,
    ) -> tuple[Float[Array, "*batch queries d_model"], MultiHeadTrace]:
        """Compute the output of all heads, and the trace.

        `key_value` gives other tokens to attend to; without it, x attends to itself. `past` holds the keys and values
        of earlier tokens, as `present` in a trace. A mask holds for all heads unless it has an axis for them before the
        queries. `positions` is added to the input of queries and keys, not to that of values. The heads in `ablated`
        are set to zero, and those in `patched` get the outputs given there. With `drop`, a generator, weights are
        dropped as in training. Raises InputError as `attend` does, and for a past or for heads that do not fit.
        """
        source = x if key_value is None else key_value
        q, k, v = self.project(add_rows(x, positions), add_rows(source, positions), source)
        present, n_past = append_past(past, k, v), 0 if past is None else past.k.shape[-2]
        q, k = rotate_both(q, present.k, self.rotary, n_past)
        k, v = share_heads(k, self.n_heads), share_heads(present.v, self.n_heads)
        may_attend = apply_window(may_attend, self.window, q, k, n_past)
        sink = None if self.sink is None else align_runs(self.sink, q[..., 0, 0], 1)
        heads = attend(q, k, v, may_attend, scale=scale, soft_cap=self.soft_cap, sink=sink)
        dropped = drop is not None and self.dropout > 0
        if dropped:
            heads = drop_weights(heads, self.dropout, drop)
        concatenated = merge_heads(ablate(patch(heads.output, patched), ablated))  # *batch queries all_d_v
        output = linear(concatenated, self.W_o, self.b_o)
        return output, MultiHeadTrace(present, heads, concatenated, output, dropped)


@dataclass(frozen=True, eq=False, kw_only=True)
class MultiHeadAttention(Heads):
    """Multi-head attention: every head projects all features, with one packed map each for q, k and v.

    W_k and W_v may have fewer heads, whose keys and values several query heads share: see `share_heads`. With `q_gain`
    and `k_gain` queries and keys are scaled to one length, then multiplied by a gain for each feature: see `unit_rms`.
    """

    W_q: Float[Array, "*runs d_model d_qk"]
    b_q: Float[Array, "*runs d_qk"] | None = None
    W_k: Float[Array, "*runs d_model kv_d_k"]
    b_k: Float[Array, "*runs kv_d_k"] | None = None
    W_v: Float[Array, "*runs d_model kv_d_v"]
    b_v: Float[Array, "*runs kv_d_v"] | None = None
    q_gain: Float[Array, "*runs d_k"] | None = None
    k_gain: Float[Array, "*runs d_k"] | None = None
    epsilon: float = 1e-6  # of `unit_rms`, where there are gains

    @classmethod
    def draw(
        cls,
        d_model: int,
        n_heads: int,
        *,
        kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        rotary: Rotary | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        generator: Generator,
    ) -> "MultiHeadAttention":
        """Draw weights in the order W_q, W_k, W_v, W_o, as PyTorch draws those of `nn.Linear`.

        By default `d_k` and `d_v` are d_head, and `kv_heads` is n_heads. Raises InputError when the heads cannot share
        the features, or the keys and values of `kv_heads`, evenly, and for a dropout outside 0 to 1.
        """
        d_k, d_v = (features_per_head(d_model, n_heads) if each is None else each for each in (d_k, d_v))
        kv_heads = n_heads if kv_heads is None else kv_heads
        for name, size in (("kv_heads", kv_heads), ("d_k", d_k), ("d_v", d_v)):
            check_whole(name, size, least=1)
        if n_heads % kv_heads:
            raise TechnicalError(
                "{n_heads} heads cannot share the keys and values of {kv_heads} evenly",
                n_heads=n_heads,
                kv_heads=kv_heads,
            )
        check_share("dropout", dropout)
        W_q, b_q = draw_linear(d_model, n_heads * d_k, bias=bias, generator=generator)
        W_k, b_k = draw_linear(d_model, kv_heads * d_k, bias=bias, generator=generator)
        W_v, b_v = draw_linear(d_model, kv_heads * d_v, bias=bias, generator=generator)
        W_o, b_o = draw_linear(n_heads * d_v, d_model, bias=bias, generator=generator)
        return cls(
            W_q=W_q,
            b_q=b_q,
            W_k=W_k,
            b_k=b_k,
            W_v=W_v,
            b_v=b_v,
            W_o=W_o,
            b_o=b_o,
            n_heads=n_heads,
            rotary=rotary,
            dropout=dropout,
        )

    def project(
        self,
        query: Float[Array, "*batch queries d_model"],
        key: Float[Array, "*batch keys d_model"],
        value: Float[Array, "*batch keys d_model"],
    ) -> QKV:
        """Compute each head's q from `query`, its k from `key`, and its v from `value`."""
        q = split_heads(linear(query, self.W_q, self.b_q), self.n_heads)
        k = split_heads(linear(key, self.W_k, self.b_k), self.kv_heads)
        v = split_heads(linear(value, self.W_v, self.b_v), self.kv_heads)
        if self.q_gain is not None:
            gains = (q, self.q_gain), (k, self.k_gain)
            q, k = (unit_rms(x, self.epsilon) * align_runs(gain, x, 1) for x, gain in gains)
        return q, k, v

    @property
    def kv_heads(self) -> int:
        """The number of heads of keys and values, which the query heads share."""
        return self.W_v.shape[-1] // self.d_head


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicedHeads(Heads):
    """Heads that each read only one slice of the features; W_o has a bias.

    This is not multi-head attention: a head can never use a feature outside its slice, and its projections hold d_head²
    numbers each where those of `MultiHeadAttention` hold d_model · d_head. `W_qkv` has, for each head, W_q, W_k and W_v
    side by side.
    """

    W_qkv: Float[Array, "*runs heads d_head d_qkv"]

    @classmethod
    def draw(cls, d_model: int, n_heads: int, *, rotary: Rotary | None = None, generator: Generator) -> "SlicedHeads":
        """Draw weights head by head in the order key, query, value, then W_o, as the notebook draws them.

        Raises InputError when the heads cannot share the features evenly.
        """
        d_head = features_per_head(d_model, n_heads)
        drawn = [[draw_map(d_head, d_head, generator) for _ in "kqv"] for _ in range(n_heads)]
        xp = namespace(drawn[0][0])
        W_qkv = xp.stack([xp.concat([W_q, W_k, W_v], axis=-1) for W_k, W_q, W_v in drawn])
        W_o, b_o = draw_linear(d_model, d_model, bias=True, generator=generator)
        return cls(W_qkv=W_qkv, W_o=W_o, b_o=b_o, n_heads=n_heads, rotary=rotary)

    def project(
        self,
        query: Float[Array, "*batch queries d_model"],
        key: Float[Array, "*batch keys d_model"],
        value: Float[Array, "*batch keys d_model"],
    ) -> QKV:
        """Compute each head's q, k and v from the head's slice of `query`, `key` and `value`."""
        if query is value and key is value:  # one product instead of three
            return thirds(slices_linear(value, self.W_qkv))
        W_q, W_k, W_v = thirds(self.W_qkv)
        return slices_linear(query, W_q), slices_linear(key, W_k), slices_linear(value, W_v)


def linear(
    x: Float[Array, "*batch d_in"], W: Float[Array, "*runs d_in d_out"], b: Float[Array, "*runs d_out"] | None = None
) -> Float[Array, "*batch d_out"]:
    """Compute x W + b. All tokens of a run are rows of one product, whatever axes they have."""
    *runs, d_in, d_out = W.shape
    rows = x.reshape(*runs, -1, d_in) @ W
    if b is not None:
        rows = rows + b[..., None, :]
    return rows.reshape(*x.shape[:-1], d_out)


def slices_linear(x: Tokens, W: Float[Array, "*runs heads d_head d_out"]) -> Float[Array, "*batch heads tokens d_out"]:
    """Multiply each head's slice of x by the W of that head."""
    rows = slices_of(x, W) @ W  # *runs heads rows d_out
    return rows.swapaxes(-2, -3).reshape(*x.shape[:-1], W.shape[-3], W.shape[-1]).swapaxes(-2, -3)


def slices_of(x: Tokens, W: Float[Array, "*runs heads d_head d_out"]) -> Float[Array, "*runs heads rows d_slice"]:
    """Return each head's slice of every token, with all tokens of a run as rows of one product."""
    *runs, n_heads, _, _ = W.shape
    return x.reshape(*runs, -1, n_heads, x.shape[-1] // n_heads).swapaxes(-2, -3)


def thirds(qkv: Float[Array, "*batch d_qkv"]) -> tuple[Array, Array, Array]:
    """Split the features of q, k and v, which are stored side by side."""
    d_head = qkv.shape[-1] // 3
    return qkv[..., :d_head], qkv[..., d_head : 2 * d_head], qkv[..., 2 * d_head :]


def add_rows(x: Tokens, rows: Positions | None) -> Tokens:
    """Add a row to each token, such as one that stands for its position; without rows, x stays as it is."""
    return x if rows is None else x + align_runs(rows, x, 2)


def append_past(
    past: KeyValues | None, k: Float[Array, "*batch kv_heads tokens d_k"], v: Float[Array, "*batch kv_heads tokens d_v"]
) -> KeyValues:
    """Put the keys and values of earlier tokens before new ones. Raises InputError where they do not fit together."""
    if past is None:
        return KeyValues(k, v)
    check_past(past, k, v)
    return KeyValues(*(namespace(k).concat(both, axis=-2) for both in zip(past, (k, v), strict=True)))


def apply_window(
    may_attend: Mask | None,
    window: Window | None,
    q: Float[Array, "*batch heads queries d_k"],
    k: Float[Array, "*batch heads keys d_k"],
    n_past: int,
) -> Mask | None:
    """Hide keys outside the window of each query, besides those masked. The first query comes after `n_past` tokens."""
    if window is None:
        return may_attend
    near = within_window(distances(q.shape[-2], k.shape[-2], n_past), *window)
    return combine_masks(may_attend, namespace(q).asarray(near))


def split_heads(x: Tokens, n_heads: int) -> Float[Array, "*batch heads tokens d_head"]:
    """Split the features among the heads, and move the axis of the heads before the tokens.

    Raises InputError when the heads cannot share the features evenly.
    """
    check_whole("n_heads", n_heads, least=1)
    if x.shape[-1] % n_heads:
        raise TechnicalError(
            "heads share the features evenly, but {n_heads} heads cannot share {features}",
            n_heads=n_heads,
            features=x.shape[-1],
        )
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).swapaxes(-2, -3)


def share_heads(
    x: Float[Array, "*batch kv_heads tokens d_head"], n_heads: int
) -> Float[Array, "*batch heads tokens d_head"]:
    """Repeat the keys or values of few heads for more query heads: neighbouring query heads share one.

    One for all is multi-query attention, Shazeer 2019, https://arxiv.org/abs/1911.02150; one for each group is
    grouped-query attention, Ainslie et al. 2023, https://arxiv.org/abs/2305.13245. Raises InputError when the groups
    cannot be of one size.
    """
    *batch, kv_heads, n_tokens, d_head = x.shape
    if kv_heads == n_heads:
        return x
    check_whole("n_heads", n_heads, least=1)
    if kv_heads < 1 or n_heads % kv_heads:
        raise TechnicalError(
            "{n_heads} heads cannot share the keys and values of {kv_heads} evenly", n_heads=n_heads, kv_heads=kv_heads
        )
    shape = (*batch, kv_heads, n_heads // kv_heads, n_tokens, d_head)
    return namespace(x).broadcast_to(x[..., :, None, :, :], shape).reshape(*batch, n_heads, n_tokens, d_head)


def sets_of_keys(W_k: Float[Array, "d_model all_d_k"], W_v: Float[Array, "d_model all_d_v"], n_heads: int) -> int:
    """Count the sets of keys and values: the fewest groups of neighbouring heads, all of one size, with equal maps."""

    def shared(W: Array, kv_heads: int) -> bool:
        maps = W.reshape(len(W), kv_heads, n_heads // kv_heads, -1)
        return bool((maps == maps[:, :, :1]).all())

    divisors = (n for n in range(1, n_heads + 1) if n_heads % n == 0)
    return next(n for n in divisors if shared(W_k, n) and shared(W_v, n))


def mean_of_groups(x: Float[Array, "heads tokens d_head"], size: int) -> Float[Array, "kv_heads tokens d_head"]:
    """Average the keys or values of each group of `size` neighbouring heads.

    A model with keys and values for each head is converted to grouped-query attention so: Ainslie et al. 2023,
    section 2.1.
    """
    return (x / size).reshape(-1, size, *x.shape[1:]).sum(axis=1)


def unit_rms(x: Float[Array, "*batch d_k"], epsilon: float = 1e-6) -> Float[Array, "*batch d_k"]:
    """Divide x by √(mean of its squares + ε): all rows get the same length, unless they are nearly 0.

    Between queries and keys of one length no scaled score exceeds √d_k times the gains. Henry et al. 2020 (QK norm),
    https://arxiv.org/abs/2010.04245; in this form in OLMo 2, https://arxiv.org/abs/2501.00656.
    """
    return x / namespace(x).sqrt(row_products(x, x)[..., None] / x.shape[-1] + epsilon)


def merge_heads(x: Float[Array, "*batch heads tokens d_head"]) -> Tokens:
    """Put the features of all heads side by side again, which undoes `split_heads`."""
    *batch, n_heads, n_tokens, d_head = x.shape
    return x.swapaxes(-2, -3).reshape(*batch, n_tokens, n_heads * d_head)


def ablate(
    x: Float[Array, "*batch heads tokens d_head"], ablated: Collection[int]
) -> Float[Array, "*batch heads tokens d_head"]:
    """Set the outputs of the ablated heads to zero. Raises InputError when one of the heads does not exist."""
    if not ablated:
        return x
    n_heads = x.shape[-3]
    check_each_head(ablated, n_heads)
    works = namespace(x).asarray([float(head not in ablated) for head in range(n_heads)], dtype=x.dtype)
    return x * works[:, None, None]


def patch(
    x: Float[Array, "*batch heads tokens d_head"], patched: Mapping[int, Float[Array, "*batch tokens d_head"]] | None
) -> Float[Array, "*batch heads tokens d_head"]:
    """Replace the outputs of some heads, such as by what these heads computed for another text.

    Vig et al. 2020, https://arxiv.org/abs/2004.12265. Raises InputError for a head that does not exist, and for another
    shape or type of number.
    """
    if not patched:
        return x
    n_heads = x.shape[-3]
    check_each_head(patched, n_heads)
    for head, output in patched.items():
        check_alike(f"the other output of head {head}", output, x[..., head, :, :])
    return namespace(x).stack([patched.get(head, x[..., head, :, :]) for head in range(n_heads)], axis=-3)


def drop_weights(trace: AttentionTrace, p: float, generator: Generator) -> AttentionTrace:
    """Drop each weight with probability p, and divide the others by 1 − p. Works on torch tensors only."""
    return keep_weights(trace, draw_kept(trace.weights, p, generator), p)


def draw_kept(
    weights: Float[Array, "*batch queries keys"], p: float, generator: Generator
) -> Float[Array, "*batch queries keys"]:
    """Draw 1 for each weight that is kept, and 0 for each that is dropped, which happens with probability p."""
    return namespace(weights).empty_like(weights).bernoulli_(1 - p, generator=generator)


def keep_weights(trace: AttentionTrace, kept: Float[Array, "*batch queries keys"], p: Number) -> AttentionTrace:
    """Divide the weights that are `kept` (1) by 1 − p, drop the others (0), and compute the output anew.

    The rows then sum to 1 only on average.
    """
    share = 1 - p if numbers_of(p) < 1 else 1  # with p = 1 nothing is kept
    weights = trace.weights * kept / share
    return replace(trace, weights=weights, output=mix_values(weights, trace.v))


def features_per_head(d_model: int, n_heads: int) -> int:
    """Return d_head = d_model / n_heads. Raises InputError when it is not a whole number."""
    check_whole("d_model", d_model, least=1)
    if not is_whole(n_heads) or n_heads < 1 or d_model % n_heads:
        raise TechnicalError(
            "the heads share the features evenly, so d_model = {d_model} works with {divisors} heads, "
            "but n_heads is {n_heads}",
            d_model=d_model,
            divisors=", ".join(str(n) for n in range(1, d_model + 1) if d_model % n == 0),
            n_heads=n_heads,
        )
    return d_model // n_heads
