"""Several attentions side by side, each with its own queries, keys and values.

    MultiHead(X) = Concat(head_1, …, head_h) W_o,   head_i = Attention(X W_q^i, X W_k^i, X W_v^i)

Vaswani et al. 2017, section 3.2.2. The projections of all heads are packed into one `W_q`, one `W_k` and one
`W_v`; each head owns d_head = d_model / n_heads neighbouring columns of each.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_core.attention import AttentionTrace, Mask, attend, mix_values
from attention_core.embeddings import rotate

QKV = tuple[
    Float[Tensor, "*batch heads queries d_k"],
    Float[Tensor, "*batch heads keys d_k"],
    Float[Tensor, "*batch heads keys d_head"],
]


@dataclass(frozen=True, eq=False)
class MultiHeadTrace:
    """What several heads compute: `heads` has the axis of the heads before queries and keys.

    Heads that are ablated are zero in `concatenated` only.
    """

    heads: AttentionTrace
    concatenated: Float[Tensor, "*batch queries d_model"]
    output: Float[Tensor, "*batch queries d_model"]


class Heads(nn.Module, ABC):
    """Several heads and the map W_o that mixes what they find; a subclass says how they project.

    `rotary` rotates queries and keys by their positions. Dropout, drawn from `generator`, works in training mode only.
    """

    n_heads: int
    W_o: nn.Linear
    rotary: bool
    dropout: float = 0.0
    generator: torch.Generator | None = None

    @abstractmethod
    def project(
        self,
        query: Float[Tensor, "*batch queries d_model"],
        key: Float[Tensor, "*batch keys d_model"],
        value: Float[Tensor, "*batch keys d_model"],
    ) -> QKV:
        """Each head's q, made of `query`, its k, made of `key`, and its v, made of `value`."""

    def forward(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        may_attend: Mask | None = None,
        *,
        key_value: Float[Tensor, "*batch keys d_model"] | None = None,
        scale: float | None = None,
        positions: Float[Tensor, "queries d_model"] | None = None,
        ablated: Collection[int] = (),
    ) -> tuple[Float[Tensor, "*batch queries d_model"], MultiHeadTrace]:
        """The output and the trace. `key_value` gives other tokens to attend to; left out, x attends to itself.

        A mask holds for all heads unless it has an axis of its own for them before the queries. `positions` is
        added to what queries and keys are made of, not to what values are. The heads in `ablated` are set to zero.
        """
        source = x if key_value is None else key_value
        query, key = (x, source) if positions is None else (x + positions, source + positions)
        q, k, v = self.project(query, key, source)  # *batch heads tokens d_k; v has d_head features
        if self.rotary:
            q, k = rotate(q), rotate(k)
        heads = attend(q, k, v, may_attend, scale=scale)
        if self.training and self.dropout > 0:
            heads = drop_weights(heads, self.dropout, self.generator)
        concatenated = merge_heads(ablate(heads.output, ablated))  # *batch queries d_model
        output = self.W_o(concatenated)
        return output, MultiHeadTrace(heads, concatenated, output)


class MultiHeadAttention(Heads):
    """Multi-head attention: every head projects all features, with one packed map each for q, k and v.

    The weights are drawn from `generator` in the order W_q, W_k, W_v, W_o, as PyTorch draws those of `nn.Linear`.
    `d_k` gives queries and keys of a head another number of features than d_head; its values keep d_head.
    Raises ValueError when the heads cannot share the features evenly.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_k: int | None = None,
        rotary: bool = False,
        bias: bool = False,
        dropout: float = 0.0,
        generator: torch.Generator,
    ):
        super().__init__()
        d_head = features_per_head(d_model, n_heads)
        d_qk = n_heads * (d_head if d_k is None else d_k)
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability from 0 to 1, but got {dropout}")
        self.n_heads, self.d_head, self.rotary = n_heads, d_head, rotary
        self.dropout, self.generator = dropout, generator
        self.W_q = linear(d_model, d_qk, bias=bias, generator=generator)
        self.W_k = linear(d_model, d_qk, bias=bias, generator=generator)
        self.W_v = linear(d_model, d_model, bias=bias, generator=generator)
        self.W_o = linear(d_model, d_model, bias=bias, generator=generator)

    def project(
        self,
        query: Float[Tensor, "*batch queries d_model"],
        key: Float[Tensor, "*batch keys d_model"],
        value: Float[Tensor, "*batch keys d_model"],
    ) -> QKV:
        """Each head's q, made of `query`, its k, made of `key`, and its v, made of `value`."""
        q = split_heads(self.W_q(query), self.n_heads)
        k = split_heads(self.W_k(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        return q, k, v


class SlicedHeads(Heads):
    """Heads that each read only their own slice of the features; W_o has a bias.

    This is not multi-head attention: a head can never use a feature outside its slice, and its projections hold
    d_head² numbers each where those of `MultiHeadAttention` hold d_model · d_head. `W_qkv[h]` holds W_q, W_k and
    W_v of head h side by side. The weights are drawn head by head in the order key, query, value, then W_o.
    """

    def __init__(self, d_model: int, n_heads: int, *, rotary: bool = False, generator: torch.Generator):
        super().__init__()
        d_head = features_per_head(d_model, n_heads)
        self.n_heads, self.rotary = n_heads, rotary
        drawn = [[default_weight(d_head, d_head, generator).T for _ in "kqv"] for _ in range(n_heads)]
        self.W_qkv = nn.Parameter(torch.stack([torch.cat([q, k, v], dim=-1) for k, q, v in drawn]))
        self.W_o = linear(d_model, d_model, bias=True, generator=generator)

    def project(
        self,
        query: Float[Tensor, "*batch queries d_model"],
        key: Float[Tensor, "*batch keys d_model"],
        value: Float[Tensor, "*batch keys d_model"],
    ) -> QKV:
        """Each head's q, k and v, each made of the head's own slice of what it is made of."""
        if query is value and key is value:  # one product instead of three
            return (split_heads(value, self.n_heads) @ self.W_qkv).chunk(3, dim=-1)
        W_q, W_k, W_v = self.W_qkv.chunk(3, dim=-1)
        q = split_heads(query, self.n_heads) @ W_q
        k = split_heads(key, self.n_heads) @ W_k
        v = split_heads(value, self.n_heads) @ W_v
        return q, k, v


def split_heads(x: Float[Tensor, "*batch tokens d_model"], n_heads: int) -> Float[Tensor, "*batch heads tokens d_head"]:
    """Each head's neighbouring features, with the axis of the heads moved before the tokens."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def merge_heads(x: Float[Tensor, "*batch heads tokens d_head"]) -> Float[Tensor, "*batch tokens d_model"]:
    """The features of all heads side by side again: undoes `split_heads`."""
    return x.transpose(-2, -3).flatten(-2)


def ablate(
    x: Float[Tensor, "*batch heads tokens d_head"], ablated: Collection[int]
) -> Float[Tensor, "*batch heads tokens d_head"]:
    """The outputs of all heads, with zeros for the ablated ones. Raises ValueError when one of them does not exist."""
    if not ablated:
        return x
    n_heads = x.shape[-3]
    if not all(0 <= head < n_heads for head in ablated):
        raise ValueError(f"the heads are 0 to {n_heads - 1}, but to be ablated are {sorted(ablated)}")
    works = torch.tensor([head not in ablated for head in range(n_heads)])
    return x * works[:, None, None]


def drop_weights(trace: AttentionTrace, p: float, generator: torch.Generator) -> AttentionTrace:
    """The trace with each weight dropped with probability p and the others divided by 1 − p.

    The rows then sum to 1 only on average.
    """
    keep = torch.empty_like(trace.weights).bernoulli_(1 - p, generator=generator)
    weights = trace.weights * keep / (1 - p) if p < 1 else torch.zeros_like(trace.weights)
    return replace(trace, weights=weights, output=mix_values(weights, trace.v))


def features_per_head(d_model: int, n_heads: int) -> int:
    """d_head = d_model / n_heads. Raises ValueError when it is not a whole number."""
    if n_heads < 1 or d_model % n_heads:
        divisors = ", ".join(str(n) for n in range(1, d_model + 1) if d_model % n == 0)
        raise ValueError(
            f"the heads share the features evenly, so d_model = {d_model} works with {divisors} heads, "
            f"but n_heads is {n_heads}"
        )
    return d_model // n_heads


class UnfilledLinear(nn.Linear):
    """`nn.Linear` that draws no weights of its own, which it would take from global state."""

    def reset_parameters(self) -> None:
        """Leave the weights as the memory happened to be."""


def linear(d_in: int, d_out: int, *, bias: bool, generator: torch.Generator) -> nn.Linear:
    """`nn.Linear` with PyTorch's default weights, drawn from `generator` and not from global state."""
    layer = UnfilledLinear(d_in, d_out, bias=bias)
    with torch.no_grad():
        layer.weight.copy_(default_weight(d_out, d_in, generator))
        if bias:
            layer.bias.uniform_(-1 / math.sqrt(d_in), 1 / math.sqrt(d_in), generator=generator)
    return layer


def default_weight(d_out: int, d_in: int, generator: torch.Generator) -> Float[Tensor, "d_out d_in"]:
    """PyTorch's default for `nn.Linear`: uniform between ±1/√d_in, written as `nn.Linear` writes it."""
    return nn.init.kaiming_uniform_(torch.empty(d_out, d_in), a=math.sqrt(5), generator=generator)
