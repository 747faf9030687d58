"""The parts of a layer besides attention: norms, and the MLP with its nonlinearities.

A weight may have axes of runs in front, (*runs, d_in, d_out), and then x has them too: see `training`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float

from attention_core.base.arrays import Array, Tokens, align_runs, namespace, row_products, row_sum
from attention_core.base.traces import Trace
from attention_core.one_head.heads import linear, unit_rms

Activation = Literal["silu", "gelu", "gelu_tanh", "relu"]


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """A layer norm, x̂ · gain + shift, with x̂ the features of each token brought to mean 0 and variance 1."""

    gain: Float[Array, "*runs d_model"]
    shift: Float[Array, "*runs d_model"]
    epsilon: float = 1e-5

    def __call__(self, x: Tokens) -> Tokens:
        """Return the normed tokens."""
        x_hat, _ = standardise(x, self.epsilon)
        return x_hat * align_runs(self.gain, x, 1) + align_runs(self.shift, x, 1)


def standardise(
    x: Float[Array, "*batch d_model"], epsilon: float = 1e-5
) -> tuple[Float[Array, "*batch d_model"], Float[Array, "*batch 1"]]:
    """Compute x̂ = (x − mean) / deviation and the deviation √(variance + ε) of the features of each token."""
    xp = namespace(x)
    centred = x - row_sum(x) / x.shape[-1]
    deviation = xp.sqrt(row_products(centred, centred)[..., None] / x.shape[-1] + epsilon)
    return centred / deviation, deviation


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """An RMS norm: the features of each token divided by √(mean of their squares + ε), times a gain for each feature.

    Zhang & Sennrich 2019, https://arxiv.org/abs/1910.07467.
    """

    gain: Float[Array, "*runs d_model"]
    epsilon: float

    def __call__(self, x: Tokens) -> Tokens:
        """Return the normed tokens."""
        return unit_rms(x, self.epsilon) * align_runs(self.gain, x, 1)


Norm = LayerNorm | RmsNorm


def silu(x: Array) -> Array:
    """Compute x · sigmoid(x): Elfwing et al. 2017, https://arxiv.org/abs/1702.03118."""
    return x / (1 + namespace(x).exp(-x))


def gelu(x: Array) -> Array:
    """Compute x · P(a standard normal number is below x).

    Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415.
    """
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Array) -> Array:
    """Approximate `gelu` without erf, as GPT-2 does: section 2 of https://arxiv.org/abs/1606.08415."""
    return x * (1 + namespace(x).tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def relu(x: Array) -> Array:
    """Return x where it is above 0, and 0 elsewhere."""
    return namespace(x).maximum(x, namespace(x).zeros((), dtype=x.dtype))


def erf(x: Array) -> Array:
    """Compute the error function of each number. NumPy has none, so torch computes it."""
    import torch

    return torch.erf(x) if isinstance(x, torch.Tensor) else torch.erf(torch.asarray(x)).numpy()


ACTIVATIONS: dict[Activation, Callable[[Array], Array]] = {
    "silu": silu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "relu": relu,
}


@dataclass(slots=True, eq=False, repr=False)
class MlpTrace(Trace):
    """The tensors of an MLP, in order: the tokens as it reads them, its hidden features, its output."""

    normed: Tokens
    hidden: Float[Array, "*batch tokens d_hidden"]
    output: Tokens


@dataclass(frozen=True, eq=False, kw_only=True)
class Mlp:
    """An MLP: a map to more features, a nonlinearity, and a map back, for each token separately.

    With W_gate the features of W_up are multiplied by the nonlinearity of those of W_gate.
    """

    W_gate: Float[Array, "*runs d_model d_hidden"] | None = None
    b_gate: Float[Array, "*runs d_hidden"] | None = None
    W_up: Float[Array, "*runs d_model d_hidden"]
    b_up: Float[Array, "*runs d_hidden"] | None = None
    W_down: Float[Array, "*runs d_hidden d_model"]
    b_down: Float[Array, "*runs d_model"] | None = None
    activation: Activation

    def __call__(self, x: Tokens) -> MlpTrace:
        """Compute the output, and keep the tokens and the hidden features that led to it."""
        activate, up = ACTIVATIONS[self.activation], linear(x, self.W_up, self.b_up)
        hidden = activate(up) if self.W_gate is None else activate(linear(x, self.W_gate, self.b_gate)) * up
        return MlpTrace(x, hidden, linear(hidden, self.W_down, self.b_down))
