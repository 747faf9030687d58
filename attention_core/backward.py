"""The forward pass backwards: from the gradient of a result to the gradients of what made it.

Every function is the chain rule for one forward function or module, in the order of the forward pass. `d_x` is
the gradient of the loss with respect to x and has the shape of x; what a module learns gets its gradient as
`.grad`. PyTorch's autograd finds the same numbers (the tests compare them); for models as small as ours it
spends most of its time on bookkeeping, so training uses these rules.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotate
from attention_core.heads import Heads, MultiHeadAttention, MultiHeadTrace, SlicedHeads, merge_heads, split_heads
from attention_core.model import Block, BlockTrace, Mlp, ModelTrace, TinyTransformer
from attention_core.tasks import NO_TARGET


def attend_backward(
    trace: AttentionTrace, d_output: Float[Tensor, "*batch queries d_v"], scale: float | None = None
) -> tuple[Float[Tensor, "*batch queries d_k"], Float[Tensor, "*batch keys d_k"], Float[Tensor, "*batch keys d_v"]]:
    """The gradients of q, k and v: the steps of `attend` in reverse order, with the same `scale`."""
    scale = 1 / math.sqrt(trace.q.shape[-1]) if scale is None else scale
    d_v = trace.weights.mT @ d_output
    d_weights = d_output @ trace.v.mT
    d_masked = softmax_backward(trace.weights, d_weights)
    d_scores = d_masked * scale
    return d_scores @ trace.k, d_scores.mT @ trace.q, d_v


def softmax_backward(
    weights: Float[Tensor, "*batch queries keys"], d_weights: Float[Tensor, "*batch queries keys"]
) -> Float[Tensor, "*batch queries keys"]:
    """d_s[i, j] = w[i, j] (d_w[i, j] − Σ_m w[i, m] d_w[i, m]): no weight, no gradient."""
    return weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))


def linear_backward(
    layer: nn.Linear, x: Float[Tensor, "*batch d_in"], d_output: Float[Tensor, "*batch d_out"]
) -> Float[Tensor, "*batch d_in"]:
    """The gradient of x for output = x Wᵀ + b; fills those of W and b."""
    rows, d_rows = x.reshape(-1, x.shape[-1]), d_output.reshape(-1, d_output.shape[-1])
    layer.weight.grad = d_rows.mT @ rows
    if layer.bias is not None:
        layer.bias.grad = d_rows.sum(dim=0)
    return d_output @ layer.weight


def norm_backward(
    layer: nn.LayerNorm | nn.Identity,
    x: Float[Tensor, "*batch d_model"],
    d_output: Float[Tensor, "*batch d_model"],
) -> Float[Tensor, "*batch d_model"]:
    """The gradient of x for output = x̂ · gain + shift, x̂ = (x − mean) / deviation; fills those of gain and shift."""
    if isinstance(layer, nn.Identity):
        return d_output
    deviation = (x.var(dim=-1, correction=0, keepdim=True) + layer.eps).sqrt()
    x_hat = (x - x.mean(dim=-1, keepdim=True)) / deviation
    layer.weight.grad = (d_output * x_hat).flatten(0, -2).sum(dim=0)
    layer.bias.grad = d_output.flatten(0, -2).sum(dim=0)
    d_hat = d_output * layer.weight
    along = (d_hat * x_hat).mean(dim=-1, keepdim=True)
    return (d_hat - d_hat.mean(dim=-1, keepdim=True) - x_hat * along) / deviation


def heads_backward(
    heads: Heads,
    x: Float[Tensor, "*batch tokens d_model"],
    trace: MultiHeadTrace,
    d_output: Float[Tensor, "*batch tokens d_model"],
    scale: float | None = None,
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "*batch tokens d_model"] | None]:
    """The gradients of x, for self-attention, and of `positions`, before the sum over the batch.

    Raises ValueError while dropout is at work: the trace then lacks the weights before dropping.
    """
    if heads.training and heads.dropout > 0:
        raise ValueError("these gradients hold without dropout only; use autograd, or eval()")
    d_concatenated = linear_backward(heads.W_o, trace.concatenated, d_output)
    d_q, d_k, d_v = attend_backward(trace.heads, split_heads(d_concatenated, heads.n_heads), scale)
    if heads.rotary:
        d_q, d_k = rotate(d_q, back=True), rotate(d_k, back=True)
    backward = slices_backward if isinstance(heads, SlicedHeads) else projections_backward
    return backward(heads, x, positions, d_q, d_k, d_v)


def projections_backward(
    heads: MultiHeadAttention,
    x: Float[Tensor, "*batch tokens d_model"],
    positions: Float[Tensor, "tokens d_model"] | None,
    d_q: Float[Tensor, "*batch heads tokens d_k"],
    d_k: Float[Tensor, "*batch heads tokens d_k"],
    d_v: Float[Tensor, "*batch heads tokens d_head"],
) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "*batch tokens d_model"] | None]:
    """The gradients of x and of `positions` through W_q, W_k and W_v."""
    query = x if positions is None else x + positions
    d_query = linear_backward(heads.W_q, query, merge_heads(d_q)) + linear_backward(heads.W_k, query, merge_heads(d_k))
    d_value = linear_backward(heads.W_v, x, merge_heads(d_v))
    return d_query + d_value, None if positions is None else d_query


def slices_backward(
    heads: SlicedHeads,
    x: Float[Tensor, "*batch tokens d_model"],
    positions: Float[Tensor, "tokens d_model"] | None,
    d_q: Float[Tensor, "*batch heads tokens d_head"],
    d_k: Float[Tensor, "*batch heads tokens d_head"],
    d_v: Float[Tensor, "*batch heads tokens d_head"],
) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "*batch tokens d_model"] | None]:
    """The gradients of x and of `positions` through W_qkv; without positions in one product."""
    if positions is None:
        d_x, heads.W_qkv.grad = slice_backward(heads.W_qkv, x, torch.cat([d_q, d_k, d_v], dim=-1))
        return d_x, None
    W_qk, W_v = heads.W_qkv.split([2 * d_v.shape[-1], d_v.shape[-1]], dim=-1)
    d_query, d_W_qk = slice_backward(W_qk, x + positions, torch.cat([d_q, d_k], dim=-1))
    d_value, d_W_v = slice_backward(W_v, x, d_v)
    heads.W_qkv.grad = torch.cat([d_W_qk, d_W_v], dim=-1)
    return d_query + d_value, d_query


def slice_backward(
    W: Float[Tensor, "heads d_head d_out"],
    x: Float[Tensor, "*batch tokens d_model"],
    d_output: Float[Tensor, "*batch heads tokens d_out"],
) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "heads d_head d_out"]]:
    """The gradients of x and of W for output = (the slice of x that each head reads) W."""
    d_W = split_heads(x, len(W)).mT @ d_output
    return merge_heads(d_output @ W.mT), d_W.reshape(-1, *W.shape).sum(dim=0)


def mlp_backward(
    mlp: Mlp, x: Float[Tensor, "*batch tokens d_model"], d_output: Float[Tensor, "*batch tokens d_model"]
) -> Float[Tensor, "*batch tokens d_model"]:
    """The gradient of x; fills those of the weights."""
    normed = mlp.norm(x)
    hidden = torch.relu(mlp.up(normed))
    d_hidden = linear_backward(mlp.down, hidden, d_output) * (hidden > 0)
    return norm_backward(mlp.norm, x, linear_backward(mlp.up, normed, d_hidden))


def block_backward(
    block: Block,
    trace: BlockTrace,
    d_output: Float[Tensor, "*batch tokens d_model"],
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "*batch tokens d_model"] | None]:
    """The gradients of x and of `positions`, before the sum over the batch; fills those of the weights."""
    d_after = d_output
    if block.mlp is not None:
        d_processed = mlp_backward(block.mlp, trace.after_attention, d_output)
        d_after = d_output + d_processed if block.residual else d_processed
    d_normed, d_positions = heads_backward(
        block.attention, trace.normed, trace.attention, d_after, block.scale, positions
    )
    d_x = norm_backward(block.norm, trace.x, d_normed)
    return (d_after + d_x if block.residual else d_x), d_positions


def model_backward(
    model: TinyTransformer, trace: ModelTrace, d_logits: Float[Tensor, "*batch tokens vocabulary"]
) -> None:
    """Fill the gradient of every weight, from the gradient of the logits: the chain rule, last step first."""
    d_x = d_logits
    if isinstance(model.unembed, nn.Linear):
        d_x = linear_backward(model.unembed, trace.normed, d_logits)
    d_x = norm_backward(model.norm, trace.layers[-1].output, d_x)
    _, in_attention = model.positions(trace.ids.shape[-1])
    d_in_attention = []
    for layer, layer_trace in zip(reversed(model.layers), reversed(trace.layers), strict=True):
        d_x, d_positions = block_backward(layer, layer_trace, d_x, in_attention)
        d_in_attention.append(d_positions)
    if isinstance(model.token_table, nn.Parameter):
        nothing = torch.zeros_like(model.token_table)
        model.token_table.grad = nothing.index_put_((trace.ids,), d_x, accumulate=True)
    if model.position_table is not None:
        d_positions = d_x if in_attention is None else torch.stack(d_in_attention).sum(dim=0)
        model.position_table.grad = sum_over_batch(d_positions, model.config.context)


def sum_over_batch(
    d_positions: Float[Tensor, "*batch tokens d_model"], context: int
) -> Float[Tensor, "context d_model"]:
    """The gradient of a table of positions, which all sentences share; 0 for positions that no token has."""
    summed = d_positions.reshape(-1, *d_positions.shape[-2:]).sum(dim=0)
    unused = context - summed.shape[0]
    return nn.functional.pad(summed, (0, 0, 0, unused)) if unused else summed


def cross_entropy_backward(
    logits: Float[Tensor, "*batch vocabulary"], targets: Int[Tensor, "*batch 1"], shares: Float[Tensor, "*batch 1"]
) -> Float[Tensor, "*batch vocabulary"]:
    """The gradient of Σ shares · surprise: the predicted probabilities, less 1 at the right token, times the share.

    `targets` are the right tokens, of any kind where the share is 0. With the shares of `mean_shares` it is the
    gradient of the mean cross-entropy.
    """
    d_logits = logits.softmax(dim=-1) * shares
    return d_logits.scatter_add_(-1, targets, -shares)


def mean_shares(targets: Int[Tensor, "*batch sequences tokens"]) -> Float[Tensor, "*batch sequences tokens 1"]:
    """What each position counts in the mean of its batch: 1/n of the n that count, 0 where there is no target."""
    counts = (targets != NO_TARGET)[..., None]
    return counts / counts.sum(dim=(-3, -2), keepdim=True)


def squared_error_backward(
    output: Float[Tensor, "*batch d_model"], wanted: Float[Tensor, "*batch d_model"]
) -> Float[Tensor, "*batch d_model"]:
    """The gradient of the mean squared error: twice the difference, over the number of entries."""
    return 2 * (output - wanted) / output.numel()
