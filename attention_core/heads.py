"""Several attentions side by side, each with its own queries, keys and values.

    MultiHead(X) = Concat(head_1, …, head_h) W_o,   head_i = Attention(X W_q^i, X W_k^i, X W_v^i)

Vaswani et al. 2017, section 3.2.2. The maps of all heads are packed into one `W_q`, one `W_k`
and one `W_v`; each head owns d_head = d_model / n_heads neighbouring columns of each.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_core.attention import AttentionTrace, Mask, attend, mix_values
from attention_core.embeddings import rotate
from attention_core.gradients import attend_backward, linear_backward


@dataclass(frozen=True, eq=False)
class MultiHeadTrace:
    """What several heads compute: `heads` has the axis of the heads before queries and keys.

    Heads that are switched off are zero in `concatenated` only.
    """

    heads: AttentionTrace
    concatenated: Float[Tensor, "*batch queries d_model"]
    output: Float[Tensor, "*batch queries d_model"]


class MultiHeadAttention(nn.Module):
    """Multi-head attention with one packed linear map each for queries, keys, values and output.

    The weights are drawn from `generator` in the order W_q, W_k, W_v, W_o, as PyTorch draws those
    of `nn.Linear`. Dropout, drawn from the same generator, works in training mode only.
    `d_k` gives each head's queries and keys another number of features than d_head; its values keep d_head.
    `rotary` turns queries and keys by their places. Raises ValueError when the heads cannot share the
    features evenly.
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
        self.d_head = features_per_head(d_model, n_heads)
        d_asked = n_heads * (self.d_head if d_k is None else d_k)
        self.rotary = rotary
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability from 0 to 1, but got {dropout}")
        self.n_heads = n_heads
        self.dropout = dropout
        self.generator = generator
        self.W_q = linear(d_model, d_asked, bias=bias, generator=generator)
        self.W_k = linear(d_model, d_asked, bias=bias, generator=generator)
        self.W_v = linear(d_model, d_model, bias=bias, generator=generator)
        self.W_o = linear(d_model, d_model, bias=bias, generator=generator)

    def forward(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        may_attend: Mask | None = None,
        *,
        key_value: Float[Tensor, "*batch keys d_model"] | None = None,
        scale: float | None = None,
        places: Float[Tensor, "queries d_model"] | None = None,
        without: Collection[int] = (),
    ) -> tuple[Float[Tensor, "*batch queries d_model"], MultiHeadTrace]:
        """The output and the trace. `key_value` gives other tokens to look at; left out, x looks at itself.

        A mask holds for all heads unless it has an axis of its own for them before the queries.
        `places` is added to what queries and keys are made of, not to what values are; it is for
        self-attention. The heads listed in `without` are switched off.
        """
        q, k, v = self.project(x, x if key_value is None else key_value, places)
        trace = self.attend(q, k, v, may_attend, scale)
        concatenated, output = self.join(trace, without)
        return output, MultiHeadTrace(trace, concatenated, output)

    def project(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        source: Float[Tensor, "*batch keys d_model"],
        places: Float[Tensor, "queries d_model"] | None = None,
    ) -> tuple[
        Float[Tensor, "*batch heads queries d_k"],
        Float[Tensor, "*batch heads keys d_k"],
        Float[Tensor, "*batch heads keys d_head"],
    ]:
        """Each head's queries, made of x, and its keys and values, made of `source`."""
        asks, answers = (x, source) if places is None else (x + places, source + places)
        q = split_heads(self.W_q(asks), self.n_heads)
        k = split_heads(self.W_k(answers), self.n_heads)
        v = split_heads(self.W_v(source), self.n_heads)
        return (rotate(q), rotate(k), v) if self.rotary else (q, k, v)

    def attend(
        self,
        q: Float[Tensor, "*batch heads queries d_k"],
        k: Float[Tensor, "*batch heads keys d_k"],
        v: Float[Tensor, "*batch heads keys d_head"],
        may_attend: Mask | None,
        scale: float | None,
    ) -> AttentionTrace:
        """All heads at once, each on its own q, k and v; in training some weights are dropped."""
        trace = attend(q, k, v, may_attend, scale=scale)
        if self.training and self.dropout > 0:
            trace = drop_weights(trace, self.dropout, self.generator)
        return trace

    def join(
        self, trace: AttentionTrace, without: Collection[int] = ()
    ) -> tuple[Float[Tensor, "*batch queries d_model"], Float[Tensor, "*batch queries d_model"]]:
        """What the heads found, side by side; and that, mixed by W_o."""
        concatenated = merge_heads(silence(trace.output, without))
        return concatenated, self.W_o(concatenated)

    def backward(
        self, x: Float[Tensor, "*batch queries d_model"], trace: MultiHeadTrace, d_output: Tensor, scale: float | None
    ) -> Float[Tensor, "*batch queries d_model"]:
        """From the gradient of the output to that of x, for self-attention; fills the gradients of the maps.

        Raises ValueError while dropout is at work: the trace then lacks the weights before dropping.
        """
        d_asked, d_given = self.backward_parts(x, trace, d_output, scale)
        return d_asked + d_given

    def backward_parts(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        trace: MultiHeadTrace,
        d_output: Tensor,
        scale: float | None,
        places: Float[Tensor, "queries d_model"] | None = None,
    ) -> tuple[Float[Tensor, "*batch queries d_model"], Float[Tensor, "*batch queries d_model"]]:
        """The same, with the part that went through queries and keys apart from that through the values.

        The first part is also the gradient of `places`, before the sum over the batch.
        """
        if self.training and self.dropout > 0:
            raise ValueError("these gradients hold without dropout only; use autograd, or eval()")
        d_heads = split_heads(linear_backward(self.W_o, trace.concatenated, d_output), self.n_heads)
        d_q, d_k, d_v = attend_backward(trace.heads, d_heads, scale)
        if self.rotary:
            d_q, d_k = rotate(d_q, back=True), rotate(d_k, back=True)
        asked = x if places is None else x + places
        d_asked = linear_backward(self.W_q, asked, merge_heads(d_q)) + linear_backward(
            self.W_k, asked, merge_heads(d_k)
        )
        return d_asked, linear_backward(self.W_v, x, merge_heads(d_v))


class SlicedHeads(nn.Module):
    """Heads that each read only their own slice of the features, then one linear map with bias.

    This is not multi-head attention: a head can never use a feature outside its slice, and its
    maps hold d_head² numbers each where those of a projecting head hold d_model · d_head.
    `W_qkv[h]` holds W_q, W_k and W_v of head h side by side. The weights are drawn head by head
    in the order key, query, value, then the output map. `rotary` turns queries and keys by their places.
    """

    def __init__(self, d_model: int, n_heads: int, *, rotary: bool = False, generator: torch.Generator):
        super().__init__()
        d_head = features_per_head(d_model, n_heads)
        self.n_heads = n_heads
        self.rotary = rotary
        drawn = [[default_weight(d_head, d_head, generator).T for _ in "kqv"] for _ in range(n_heads)]
        self.W_qkv = nn.Parameter(torch.stack([torch.cat([q, k, v], dim=-1) for k, q, v in drawn]))
        self.W_o = linear(d_model, d_model, bias=True, generator=generator)

    def forward(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        may_attend: Mask | None = None,
        *,
        scale: float | None = None,
        places: Float[Tensor, "queries d_model"] | None = None,
        without: Collection[int] = (),
    ) -> tuple[Float[Tensor, "*batch queries d_model"], MultiHeadTrace]:
        """The output and the trace, as `MultiHeadAttention` gives them."""
        q, k, v = (split_heads(x, self.n_heads) @ self.W_qkv).chunk(3, dim=-1)
        if places is not None:
            q_place, k_place, _ = (split_heads(places, self.n_heads) @ self.W_qkv).chunk(3, dim=-1)
            q, k = q + q_place, k + k_place
        if self.rotary:
            q, k = rotate(q), rotate(k)
        trace = attend(q, k, v, may_attend, scale=scale)
        concatenated = merge_heads(silence(trace.output, without))
        output = self.W_o(concatenated)
        return output, MultiHeadTrace(trace, concatenated, output)

    def backward(
        self, x: Float[Tensor, "*batch queries d_model"], trace: MultiHeadTrace, d_output: Tensor, scale: float | None
    ) -> Float[Tensor, "*batch queries d_model"]:
        """From the gradient of the output to that of x; fills the gradients of the maps."""
        d_qkv = self.backward_maps(x, trace, d_output, scale)
        return merge_heads(d_qkv @ self.W_qkv.mT)

    def backward_parts(
        self,
        x: Float[Tensor, "*batch queries d_model"],
        trace: MultiHeadTrace,
        d_output: Tensor,
        scale: float | None,
        places: Float[Tensor, "queries d_model"] | None = None,
    ) -> tuple[Float[Tensor, "*batch queries d_model"], Float[Tensor, "*batch queries d_model"]]:
        """The same in two parts, as `MultiHeadAttention` gives them."""
        d_qkv = self.backward_maps(x, trace, d_output, scale)
        d_head = x.shape[-1] // self.n_heads
        d_qk, d_v = d_qkv[..., : 2 * d_head], d_qkv[..., 2 * d_head :]
        if places is not None:
            d_places = d_qk.reshape(-1, *d_qk.shape[-3:]).sum(dim=0)
            self.W_qkv.grad[..., : 2 * d_head] += split_heads(places, self.n_heads).mT @ d_places
        d_asked = merge_heads(d_qk @ self.W_qkv[..., : 2 * d_head].mT)
        return d_asked, merge_heads(d_v @ self.W_qkv[..., 2 * d_head :].mT)

    def backward_maps(
        self, x: Float[Tensor, "*batch queries d_model"], trace: MultiHeadTrace, d_output: Tensor, scale: float | None
    ) -> Float[Tensor, "*batch heads queries d_qkv"]:
        """The gradient of q, k and v side by side; fills the gradients of the maps as if there were no places."""
        d_heads = split_heads(linear_backward(self.W_o, trace.concatenated, d_output), self.n_heads)
        d_q, d_k, d_v = attend_backward(trace.heads, d_heads, scale)
        if self.rotary:
            d_q, d_k = rotate(d_q, back=True), rotate(d_k, back=True)
        d_qkv = torch.cat([d_q, d_k, d_v], dim=-1)
        slices = split_heads(x, self.n_heads)
        self.W_qkv.grad = (slices.mT @ d_qkv).reshape(-1, *self.W_qkv.shape).sum(dim=0)
        return d_qkv


def split_heads(x: Float[Tensor, "*batch tokens d_model"], n_heads: int) -> Float[Tensor, "*batch heads tokens d_head"]:
    """Each head's neighbouring features, with the axis of the heads moved before the tokens."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def merge_heads(x: Float[Tensor, "*batch heads tokens d_head"]) -> Float[Tensor, "*batch tokens d_model"]:
    """The features of all heads side by side again: undoes `split_heads`."""
    return x.transpose(-2, -3).flatten(-2)


def silence(
    x: Float[Tensor, "*batch heads tokens d_head"], without: Collection[int]
) -> Float[Tensor, "*batch heads tokens d_head"]:
    """The outputs of all heads, with zeros for those that are switched off.

    Raises ValueError when one of them does not exist.
    """
    if not without:
        return x
    n_heads = x.shape[-3]
    if not all(0 <= head < n_heads for head in without):
        raise ValueError(f"the heads are 0 to {n_heads - 1}, but to be switched off are {sorted(without)}")
    works = torch.tensor([head not in without for head in range(n_heads)])
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
