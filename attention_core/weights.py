"""All weights of a model in one vector, and back."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator


def weights_of(model: nn.Module) -> Float[Tensor, " parameters"]:
    """A copy of all weights, in the order of the computation. One vector is much quicker to update than many."""
    return parameters_to_vector(model.parameters()).detach()


def pack_weights(model: nn.Module) -> Float[Tensor, " parameters"]:
    """All weights of the model in one vector; the model's own become views of it, and follow what is written there."""
    vector = weights_of(model)
    vector_to_parameters(vector, model.parameters())
    return vector


def model_with(config: ModelConfig, weights: Float[Tensor, " parameters"]) -> TinyTransformer:
    """A model of its own with the given weights."""
    model = TinyTransformer(config, generator(0))
    vector_to_parameters(weights.clone(), model.parameters())
    return model.eval()
