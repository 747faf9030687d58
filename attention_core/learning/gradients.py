"""The gradients of one attention step, each under the name of the tensor whose gradient it is.

`d_x` is the gradient of the loss with respect to x and has the shape of x. So `d_k` and `d_v` are the gradients of the
keys and values here, where elsewhere they are sizes.
"""

from dataclasses import dataclass

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.base.traces import Trace


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
