"""What the backward pass finds: every gradient, each under the name of what it is the gradient of.

`d_x` is the gradient of the loss with respect to x and has the shape of x. Each class lists its gradients in the order
in which `backward` computes them, the last step of the forward pass first.
"""

from dataclasses import dataclass

from jaxtyping import Float

from attention_core.base.arrays import Array, Positions, Tokens
from attention_core.base.traces import Trace
from attention_core.model.weights import in_one_vector

Weights = list[Array | None]  # gradients of weights in the order of `named_weights`; None where a weight is missing


@dataclass(slots=True, eq=False, repr=False)
class AttentionGradients(Trace):
    """Every gradient of one attention step, in the order in which it is computed: that of `attend`, reversed."""

    d_output: Float[Array, "*batch queries d_v"]
    d_v: Float[Array, "*batch keys d_v"]
    d_weights: Float[Array, "*batch queries keys"]
    d_masked: Float[Array, "*batch queries keys"]
    d_scaled: Float[Array, "*batch queries keys"]
    d_scores: Float[Array, "*batch queries keys"]
    d_q: Float[Array, "*batch queries d_k"]
    d_k: Float[Array, "*batch keys d_k"]


@dataclass(slots=True, eq=False, kw_only=True, repr=False)
class ProjectionGradients(Trace):
    """Every gradient of W_q, W_k and W_v: `d_source` of what queries and keys are made of, `d_x` of all."""

    d_W_q: Float[Array, "*runs d_model d_qk"]
    d_b_q: Float[Array, "*runs d_qk"] | None
    d_W_k: Float[Array, "*runs d_model kv_d_k"]
    d_b_k: Float[Array, "*runs kv_d_k"] | None
    d_source: Tokens
    d_W_v: Float[Array, "*runs d_model kv_d_v"]
    d_b_v: Float[Array, "*runs kv_d_v"] | None
    d_x: Tokens

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        return [self.d_W_q, self.d_b_q, self.d_W_k, self.d_b_k, self.d_W_v, self.d_b_v]


@dataclass(slots=True, eq=False, kw_only=True, repr=False)
class SliceGradients(Trace):
    """Every gradient of W_qkv; `d_source` is None where queries and keys are made of nothing but x."""

    d_W_qkv: Float[Array, "*runs heads d_head d_qkv"]
    d_source: Tokens | None
    d_x: Tokens

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        return [self.d_W_qkv]


@dataclass(slots=True, eq=False, kw_only=True, repr=False)
class HeadsGradients(Trace):
    """Every gradient of several heads, in the order in which it is computed. What there is not has None."""

    d_output: Tokens
    d_W_o: Float[Array, "*runs all_d_v d_model"]
    d_b_o: Float[Array, "*runs d_model"] | None
    d_concatenated: Float[Array, "*batch tokens all_d_v"]
    attention: AttentionGradients
    projections: ProjectionGradients | SliceGradients
    d_x: Tokens
    d_positions: Positions | None
    d_sink: Float[Array, "*runs heads"] | None = None

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        return [*self.projections.weights, self.d_sink, self.d_W_o, self.d_b_o]


@dataclass(slots=True, eq=False, repr=False)
class NormGradients(Trace):
    """Every gradient of a layer norm."""

    d_gain: Float[Array, "*runs d_model"]
    d_shift: Float[Array, "*runs d_model"]
    d_x: Float[Array, "*batch d_model"]

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        return [self.d_gain, self.d_shift]


@dataclass(slots=True, eq=False, repr=False)
class MlpGradients(Trace):
    """Every gradient of an MLP."""

    d_W_down: Float[Array, "*runs d_hidden d_model"]
    d_b_down: Float[Array, "*runs d_model"]
    d_hidden: Float[Array, "*batch tokens d_hidden"]
    d_W_up: Float[Array, "*runs d_model d_hidden"]
    d_b_up: Float[Array, "*runs d_hidden"]
    norm: NormGradients | None
    d_x: Tokens

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        norm = [] if self.norm is None else self.norm.weights
        return [*norm, self.d_W_up, self.d_b_up, self.d_W_down, self.d_b_down]


@dataclass(slots=True, eq=False, repr=False)
class BlockGradients(Trace):
    """Every gradient of one layer, in the order in which it is computed."""

    d_output: Tokens
    mlp: MlpGradients | None
    attention: HeadsGradients
    norm: NormGradients | None
    d_x: Tokens

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        return [weight for part in (self.attention, self.norm, self.mlp) if part is not None for weight in part.weights]


@dataclass(slots=True, eq=False, repr=False)
class ModelGradients(Trace):
    """Every gradient of a model, in the order in which it is computed; `layers` stand in the model's order.

    What a model lacks, or does not train, has None.
    """

    d_logits: Float[Array, "*batch tokens d_output"]
    d_W_unembed: Float[Array, "*runs d_model vocabulary"] | None
    d_b_unembed: Float[Array, "*runs vocabulary"] | None
    norm: NormGradients | None
    layers: tuple[BlockGradients, ...]
    d_position_table: Float[Array, "*runs context d_model"] | None
    d_token_table: Float[Array, "*runs vocabulary d_model"] | None

    @property
    def weights(self) -> Weights:
        """The gradients of the weights, in the order of the weights in the model."""
        layers = [weight for layer in self.layers for weight in layer.weights]
        norm = [] if self.norm is None else self.norm.weights
        return [self.d_token_table, self.d_position_table, *layers, *norm, self.d_W_unembed, self.d_b_unembed]

    def vector(self, run_axes: int = 0) -> Float[Array, "*runs parameters"]:
        """The gradients of all weights one after the other, as `weights_of` has the weights."""
        return in_one_vector([weight for weight in self.weights if weight is not None], run_axes)
