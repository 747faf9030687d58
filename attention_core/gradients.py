"""The steps of the network backwards: from the gradient of a result to the gradients of what made it.

Every rule is the chain rule for one step, written out. `d_x` is the gradient of the loss with respect
to x and has the shape of x. PyTorch's autograd finds the same numbers (the tests compare them); for
models as small as ours it spends most of its time on bookkeeping, so training uses these rules.
"""

import math

from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_core.attention import AttentionTrace

NO_TARGET = -100  # the target of a place that does not count in the loss; PyTorch's cross_entropy reads it so, too


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


def layer_norm_backward(
    layer: nn.LayerNorm, x: Float[Tensor, "*batch d_model"], d_output: Float[Tensor, "*batch d_model"]
) -> Float[Tensor, "*batch d_model"]:
    """The gradient of x for output = x̂ · gain + shift, x̂ = (x − mean) / deviation; fills those of gain and shift."""
    deviation = (x.var(dim=-1, correction=0, keepdim=True) + layer.eps).sqrt()
    x_hat = (x - x.mean(dim=-1, keepdim=True)) / deviation
    layer.weight.grad = (d_output * x_hat).flatten(0, -2).sum(dim=0)
    layer.bias.grad = d_output.flatten(0, -2).sum(dim=0)
    d_hat = d_output * layer.weight
    along = (d_hat * x_hat).mean(dim=-1, keepdim=True)
    return (d_hat - d_hat.mean(dim=-1, keepdim=True) - x_hat * along) / deviation


def cross_entropy_backward(
    logits: Float[Tensor, "*batch vocabulary"], answers: Int[Tensor, "*batch 1"], shares: Float[Tensor, "*batch 1"]
) -> Float[Tensor, "*batch vocabulary"]:
    """The gradient of Σ shares · surprise: the predicted probabilities, less 1 at the right token, times the share.

    `answers` are the right tokens, of any kind where the share is 0. With the shares of `mean_shares` it is the
    gradient of the mean cross-entropy.
    """
    d_logits = logits.softmax(dim=-1) * shares
    return d_logits.scatter_add_(-1, answers, -shares)


def mean_shares(targets: Int[Tensor, "*batch sequences tokens"]) -> Float[Tensor, "*batch sequences tokens 1"]:
    """What each place counts in the mean of its batch: 1/n of the n places that count, 0 where there is no target."""
    counts = (targets != NO_TARGET)[..., None]
    return counts / counts.sum(dim=(-3, -2), keepdim=True)


def squared_error_backward(
    output: Float[Tensor, "*batch d_model"], wanted: Float[Tensor, "*batch d_model"]
) -> Float[Tensor, "*batch d_model"]:
    """The gradient of the mean squared error: twice the difference, over the number of entries."""
    return 2 * (output - wanted) / output.numel()
