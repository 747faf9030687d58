"""The backward pass: from the gradient of a result to the gradients of what it was computed from.

Each function applies the chain rule to one function of the forward pass, from its last step to its first. `d_x` is the
gradient of the loss with respect to x and has the shape of x. The gradient of a part of a model has the form of that
part: `d_mlp` is an `Mlp` with, in the place of each weight, its gradient. PyTorch's autograd finds the same numbers
(the tests compare them); for models as small as ours it spends most of its time on bookkeeping, so training uses these
rules. They are those of the small models: other transformers have parts that are not trained here.
"""

import math

from jaxtyping import Float

from attention_core.base.arrays import (
    Array,
    Positions,
    Tokens,
    align_runs,
    column_sum,
    namespace,
    numbers_of,
    row_products,
    row_sum,
)
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_gradient, check_scale, check_soft_cap
from attention_core.learning.gradients import AttentionGradients
from attention_core.learning.losses import CrossEntropyTrace, LossTrace, SquaredErrorTrace
from attention_core.model.parts import LayerNorm, Mlp, MlpTrace, RmsNorm, standardise
from attention_core.model.transformer import Block, BlockTrace, ModelTrace, Transformer
from attention_core.model.weights import replace_weights
from attention_core.one_head.attention import AttentionTrace, Number
from attention_core.one_head.heads import (
    Heads,
    MultiHeadAttention,
    MultiHeadTrace,
    SlicedHeads,
    add_rows,
    merge_heads,
    slices_of,
    split_heads,
)
from attention_core.text.embeddings import rotate


def attend_backward(
    trace: AttentionTrace,
    d_output: Float[Array, "*batch queries d_v"],
    scale: Number | None = None,
    soft_cap: Number | None = None,
) -> AttentionGradients:
    """Compute the gradients of `attend`, given its `scale` and `soft_cap`, step by step in reverse order.

    With a sink the gradients are right, too; that of the sink is not among them. Raises InputError for a scale or a
    soft cap as `attend` does, and for a gradient that does not have the shape of the output.
    """
    check_gradient(d_output, trace.output)
    check_scale(scale, trace.q)
    check_soft_cap(soft_cap, trace.q)
    scale = 1 / math.sqrt(trace.q.shape[-1]) if scale is None else scale
    d_v = trace.weights.mT @ d_output
    d_weights = d_output @ trace.v.mT
    d_masked = softmax_backward(trace.weights, d_weights)
    d_scaled = d_masked  # a mask only adds: −∞ has made the weight 0, and with it the gradient
    if numbers_of(soft_cap):
        d_scaled = d_masked * (1 - namespace(trace.scaled).tanh(trace.scaled / soft_cap) ** 2)
    d_scores = d_scaled * scale
    d_q = d_scores @ trace.k
    d_k = d_scores.mT @ trace.q
    return AttentionGradients(d_output, d_v, d_weights, d_masked, d_scaled, d_scores, d_q, d_k)


def softmax_backward(
    weights: Float[Array, "*batch queries keys"], d_weights: Float[Array, "*batch queries keys"]
) -> Float[Array, "*batch queries keys"]:
    """Compute d_s[i, j] = w[i, j] (d_w[i, j] − Σ_m w[i, m] d_w[i, m]): a weight of 0 passes no gradient."""
    return weights * (d_weights - row_products(weights, d_weights)[..., None])


def linear_backward(
    x: Float[Array, "*batch d_in"],
    W: Float[Array, "*runs d_in d_out"],
    b: Float[Array, "*runs d_out"] | None,
    d_output: Float[Array, "*batch d_out"],
) -> tuple[Float[Array, "*batch d_in"], Float[Array, "*runs d_in d_out"], Float[Array, "*runs d_out"] | None]:
    """Compute d_x = d_output Wᵀ, d_W = xᵀ d_output and d_b = Σ d_output, for output = x W + b."""
    *runs, d_in, d_out = W.shape
    rows, d_rows = x.reshape(*runs, -1, d_in), d_output.reshape(*runs, -1, d_out)
    d_b = None if b is None else column_sum(d_rows)
    return (d_rows @ W.mT).reshape(x.shape), rows.mT @ d_rows, d_b


def table_backward(
    one_hot: Float[Array, "*batch tokens vocabulary"], table: Float[Array, "*runs vocabulary d_model"], d_x: Tokens
) -> Float[Array, "*runs vocabulary d_model"]:
    """Compute the gradient of a table: for each row the sum of the gradients of all tokens for which it was picked."""
    *runs, vocabulary, d_model = table.shape
    return one_hot.reshape(*runs, -1, vocabulary).mT @ d_x.reshape(*runs, -1, d_model)


def added_backward(weight: Float[Array, "..."], d_output: Float[Array, "..."], own_axes: int) -> Float[Array, "..."]:
    """Compute the gradient of a weight that is added to every entry of the batch: the sum of d_output over the batch.

    For a weight that multiplies, `d_output` is given times the other factor. A single run's weight has `own_axes` axes.
    """
    runs, own = weight.shape[: weight.ndim - own_axes], d_output.shape[d_output.ndim - own_axes :]
    return column_sum(d_output.reshape(*runs, -1, math.prod(own))).reshape(*runs, *own)


def norm_backward(
    norm: LayerNorm, x: Float[Array, "*batch d_model"], d_output: Float[Array, "*batch d_model"]
) -> tuple[Float[Array, "*batch d_model"], LayerNorm]:
    """Compute d_x and d_norm, for output = x̂ · gain + shift with x̂ = (x − mean) / deviation.

    The mean and the deviation depend on x, too.
    """
    d_model = x.shape[-1]
    x_hat, deviation = standardise(x, norm.epsilon)
    d_gain = added_backward(norm.gain, d_output * x_hat, 1)
    d_shift = added_backward(norm.shift, d_output, 1)
    d_x_hat = d_output * align_runs(norm.gain, x, 1)
    through_mean = row_sum(d_x_hat) / d_model
    through_deviation = x_hat * (row_products(d_x_hat, x_hat)[..., None] / d_model)
    d_x = (d_x_hat - through_mean - through_deviation) / deviation
    return d_x, replace_weights(norm, gain=d_gain, shift=d_shift)


def heads_backward(
    heads: MultiHeadAttention | SlicedHeads,
    x: Tokens,
    trace: MultiHeadTrace,
    d_output: Tokens,
    scale: float | None = None,
    positions: Positions | None = None,
) -> tuple[Tokens, Positions | None, MultiHeadAttention | SlicedHeads]:
    """Compute d_x, d_positions and d_heads of self-attention with several heads.

    Raises InputError after dropout, since the trace no longer has the weights before it, and with a QK norm.
    """
    if trace.dropped or getattr(heads, "q_gain", None) is not None:
        raise TechnicalError(
            "these gradients hold without dropout and without a QK norm; use autograd, or leave them out"
        )
    d_concatenated, d_W_o, d_b_o = linear_backward(trace.concatenated, heads.W_o, heads.b_o, d_output)
    d = attend_backward(trace.heads, split_heads(d_concatenated, heads.n_heads), scale, heads.soft_cap)
    d_q, d_k, d_v = d.d_q, *(unshare_heads(shared, trace.present.k.shape[-3]) for shared in (d.d_k, d.d_v))
    if heads.rotary is not None:
        d_q, d_k = (rotate(d_rows, how=heads.rotary, back=True) for d_rows in (d_q, d_k))
    back = slices_backward if isinstance(heads, SlicedHeads) else projections_backward
    d_x, d_source, d_maps = back(heads, x, positions, d_q, d_k, d_v)
    d_positions = None if positions is None else added_backward(positions, d_source, 2)
    d_sink = None if heads.sink is None else sink_backward(heads, trace.heads, d.d_weights)
    return d_x, d_positions, replace_weights(heads, **d_maps, sink=d_sink, W_o=d_W_o, b_o=d_b_o)


def unshare_heads(
    d_shared: Float[Array, "*batch heads tokens d_head"], kv_heads: int
) -> Float[Array, "*batch kv_heads tokens d_head"]:
    """Sum the gradients of the heads that share keys or values."""
    *batch, n_heads, n_tokens, d_head = d_shared.shape
    if kv_heads == n_heads:
        return d_shared
    return d_shared.reshape(*batch, kv_heads, n_heads // kv_heads, n_tokens, d_head).sum(axis=-3)


def sink_backward(
    heads: Heads, trace: AttentionTrace, d_weights: Float[Array, "*batch heads queries keys"]
) -> Float[Array, "*runs heads"]:
    """Compute the gradient of each sink: its share times −Σ_j w[i, j] d_w[i, j], summed over all queries.

    A sink is one more score of each query, whose value is 0.
    """
    d_score = -(1 - row_sum(trace.weights)[..., 0]) * row_products(trace.weights, d_weights)
    return added_backward(heads.sink, d_score.mT, 1)


def projections_backward(
    heads: MultiHeadAttention,
    x: Tokens,
    positions: Positions | None,
    d_q: Float[Array, "*batch heads tokens d_k"],
    d_k: Float[Array, "*batch kv_heads tokens d_k"],
    d_v: Float[Array, "*batch kv_heads tokens d_v"],
) -> tuple[Tokens, Tokens, dict[str, Array]]:
    """Compute d_x, d_source and the gradients of the maps: W_q and W_k read source = x + positions, W_v reads x."""
    source = add_rows(x, positions)
    d_through_q, d_W_q, d_b_q = linear_backward(source, heads.W_q, heads.b_q, merge_heads(d_q))
    d_through_k, d_W_k, d_b_k = linear_backward(source, heads.W_k, heads.b_k, merge_heads(d_k))
    d_through_v, d_W_v, d_b_v = linear_backward(x, heads.W_v, heads.b_v, merge_heads(d_v))
    d_source = d_through_q + d_through_k
    d_maps = {"W_q": d_W_q, "b_q": d_b_q, "W_k": d_W_k, "b_k": d_b_k, "W_v": d_W_v, "b_v": d_b_v}
    return d_source + d_through_v, d_source, d_maps


def slices_backward(
    heads: SlicedHeads,
    x: Tokens,
    positions: Positions | None,
    d_q: Float[Array, "*batch heads tokens d_head"],
    d_k: Float[Array, "*batch heads tokens d_head"],
    d_v: Float[Array, "*batch heads tokens d_head"],
) -> tuple[Tokens, Tokens | None, dict[str, Array]]:
    """Compute d_x, d_source and the gradient of W_qkv: without positions by one product, and then d_source is None."""
    xp = namespace(x)
    if positions is None:
        d_x, d_W_qkv = slice_backward(x, heads.W_qkv, xp.concat([d_q, d_k, d_v], axis=-1))
        return d_x, None, {"W_qkv": d_W_qkv}
    source, d_head = add_rows(x, positions), d_v.shape[-1]
    d_source, d_W_qk = slice_backward(source, heads.W_qkv[..., : 2 * d_head], xp.concat([d_q, d_k], axis=-1))
    d_value, d_W_v = slice_backward(x, heads.W_qkv[..., 2 * d_head :], d_v)
    return d_source + d_value, d_source, {"W_qkv": xp.concat([d_W_qk, d_W_v], axis=-1)}


def slice_backward(
    x: Tokens, W: Float[Array, "*runs heads d_head d_out"], d_output: Float[Array, "*batch heads tokens d_out"]
) -> tuple[Tokens, Float[Array, "*runs heads d_head d_out"]]:
    """Compute d_x and d_W for output = (the slice of x that each head reads) W."""
    slices, d_rows = slices_of(x, W), slices_of(merge_heads(d_output), W)  # *runs heads rows …
    d_slices = d_rows @ W.mT
    return d_slices.swapaxes(-2, -3).reshape(x.shape), slices.mT @ d_rows


def mlp_backward(mlp: Mlp, trace: MlpTrace, d_output: Tokens) -> tuple[Tokens, Mlp]:
    """Compute d_x and d_mlp: a hidden feature that was cut to 0 passes no gradient.

    Raises InputError unless the nonlinearity is the plain ReLU of the small models.
    """
    if mlp.activation != "relu" or mlp.W_gate is not None:
        raise TechnicalError("these gradients are those of an MLP with ReLU and without a gate; use autograd")
    d_hidden, d_W_down, d_b_down = linear_backward(trace.hidden, mlp.W_down, mlp.b_down, d_output)
    d_up = d_hidden * (trace.hidden > 0)
    d_x, d_W_up, d_b_up = linear_backward(trace.normed, mlp.W_up, mlp.b_up, d_up)
    return d_x, replace_weights(mlp, W_up=d_W_up, b_up=d_b_up, W_down=d_W_down, b_down=d_b_down)


def block_backward(
    block: Block, trace: BlockTrace, d_output: Tokens, positions: Positions | None = None
) -> tuple[Tokens, Positions | None, Block]:
    """Compute d_x, d_positions and d_block: a residual connection adds d_output to the gradient of its part."""
    if block.parallel or block.norm_place == "after" or isinstance(block.norm, RmsNorm):
        raise TechnicalError(
            "these gradients are those of layers with layer norms before attention and MLP, one after the other; "
            "use autograd"
        )
    d_after_attention, d_mlp_norm, d_mlp, d_norm = d_output, None, None, None
    if block.mlp is not None and trace.mlp is not None:
        d_through, d_mlp = mlp_backward(block.mlp, trace.mlp, d_output)
        if block.mlp_norm is not None:
            d_through, d_mlp_norm = norm_backward(block.mlp_norm, trace.after_attention, d_through)
        d_after_attention = d_output + d_through if block.residual else d_through
    d_x, d_positions, d_heads = heads_backward(
        block.attention, trace.normed, trace.attention, d_after_attention, block.scale, positions
    )
    if block.norm is not None:
        d_x, d_norm = norm_backward(block.norm, trace.x, d_x)
    d_x = d_after_attention + d_x if block.residual else d_x
    return d_x, d_positions, replace_weights(block, attention=d_heads, norm=d_norm, mlp_norm=d_mlp_norm, mlp=d_mlp)


def model_backward(
    model: Transformer, trace: ModelTrace, d_logits: Float[Array, "*batch tokens d_output"]
) -> tuple[Tokens, Transformer]:
    """Compute d_x, for the input of the first layer, and d_model by the chain rule, last step first."""
    if model.config.unembedding == "tied" or model.type_table is not None or model.embedding_norm is not None:
        raise TechnicalError(
            "these gradients are those of models whose unembedding is a map of its own or none, without types "
            "of tokens and without a norm of the embedding; use autograd"
        )
    d_x, d_W_unembed, d_b_unembed, d_norm = d_logits, None, None, None
    if model.W_unembed is not None:
        d_x, d_W_unembed, d_b_unembed = linear_backward(trace.normed, model.W_unembed, model.b_unembed, d_logits)
    if model.norm is not None:
        d_x, d_norm = norm_backward(model.norm, trace.layers[-1].output, d_x)
    added, in_attention = model.positions(trace.ids.shape[-1])
    d_layers, in_layers = [], []
    for layer, layer_trace in zip(reversed(model.layers), reversed(trace.layers), strict=True):
        d_x, d_in_layer, d_layer = block_backward(layer, layer_trace, d_x, in_attention)
        d_layers.insert(0, d_layer)
        in_layers.insert(0, d_in_layer)
    d_token_table, d_position_table = None, None
    if model.token_table is not None:
        d_token_table = table_backward(trace.one_hot, model.token_table, d_x)
    if model.position_table is not None:
        d_positions = added_backward(added, d_x, 2) if in_attention is None else sum(in_layers)
        d_position_table = fill_up(d_positions, model.config.context)
    return d_x, replace_weights(
        model,
        token_table=d_token_table,
        position_table=d_position_table,
        layers=tuple(d_layers),
        norm=d_norm,
        W_unembed=d_W_unembed,
        b_unembed=d_b_unembed,
    )


def fill_up(d_positions: Positions, context: int) -> Float[Array, "*runs context d_model"]:
    """Extend the gradient of a table of positions with 0 for the positions that no token has."""
    missing = context - d_positions.shape[-2]
    if not missing:
        return d_positions
    xp, shape = namespace(d_positions), (*d_positions.shape[:-2], missing, d_positions.shape[-1])
    return xp.concat([d_positions, xp.zeros(shape, dtype=d_positions.dtype)], axis=-2)


def loss_backward(trace: LossTrace) -> Float[Array, "*batch d_output"]:
    """Compute the gradient of the loss with respect to the logits, or to the vectors that the model outputs."""
    return cross_entropy_backward(trace) if isinstance(trace, CrossEntropyTrace) else squared_error_backward(trace)


def cross_entropy_backward(trace: CrossEntropyTrace) -> Float[Array, "*batch vocabulary"]:
    """Compute the predicted probabilities, less 1 at the right token, times what the position counts."""
    return (trace.probabilities - trace.targets) * trace.shares[..., None]


def squared_error_backward(trace: SquaredErrorTrace) -> Float[Array, "*batch d_model"]:
    """Compute twice each difference, times its share in the mean."""
    return trace.difference * (2 * trace.share)
