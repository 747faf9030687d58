"""The loss near some weights, measured: how far a gradient holds, and whether it is right."""

from jaxtyping import Float, Int

from attention_core.base.arrays import Array, namespace
from attention_core.learning.steps import predict
from attention_core.learning.tasks import Batch
from attention_core.model.small_model import ModelConfig, model_with
from attention_core.text.embeddings import one_hot


def losses_at(config: ModelConfig, weights: Float[Array, "runs parameters"], batch: Batch) -> Float[Array, " runs"]:
    """Compute the loss of one batch with each of several vectors of weights at once, each as a separate run."""
    repeated = (namespace(weights).broadcast_to(i, (len(weights), *i.shape)) for i in (batch.inputs, batch.targets))
    return predict(model_with(config, weights), Batch(*repeated))[1].loss


def central_differences(
    config: ModelConfig, weights: Float[Array, " parameters"], which: Int[Array, " chosen"], step: float, batch: Batch
) -> Float[Array, " chosen"]:
    """Compute (L(w + h) − L(w − h)) / 2h for the weights at `which`, h = `step`: off by h² and by rounding ÷ h."""
    nudges = step * one_hot(which, weights.shape[-1], weights)
    return (losses_at(config, weights + nudges, batch) - losses_at(config, weights - nudges, batch)) / (2 * step)
