"""All weights of a model in one vector, and models to borrow that hold such a vector for a while.

Building a model takes about as long as training one for a step, and hundreds of small objects stay as long as the
model does. A run that waits for its turn keeps the vectors alone.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator

MOST_IDLE, MOST_IDLE_BYTES = 8, 2_000_000  # models that nobody borrows just now, and their weights


def weights_of(model: nn.Module) -> Float[Tensor, " parameters"]:
    """A copy of all weights, in the order of the computation. One vector is much quicker to update than many."""
    return parameters_to_vector(model.parameters()).detach()


def pack_weights(model: nn.Module) -> Float[Tensor, " parameters"]:
    """All weights of the model in one vector; the model's own become views of it, and follow what is written there."""
    vector = weights_of(model)
    vector_to_parameters(vector, model.parameters())
    return vector


def model_with(config: ModelConfig, weights: Float[Tensor, " parameters"]) -> TinyTransformer:
    """A model of its own with the given weights, as a recording keeps them."""
    model = TinyTransformer(config, generator(0))
    vector_to_parameters(weights.clone(), model.parameters())
    return model.eval()


class IdleModels:
    """Models that nobody uses just now, the last used in front. May be used from any thread."""

    def __init__(self, most: int = MOST_IDLE, most_bytes: int = MOST_IDLE_BYTES):
        self.most_bytes = most_bytes
        self._idle: deque[tuple[TinyTransformer, Tensor]] = deque(maxlen=most)
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, config: ModelConfig, weights: Float[Tensor, " parameters"]) -> Iterator[TinyTransformer]:
        """A model with a copy of the given weights, until the block ends. Keep what it computes, not the model."""
        model, own_weights = self._take(config) or self._build(config)
        own_weights.copy_(weights)
        yield model
        self._give_back(model, own_weights)  # not reached where the block raises: who knows what the model holds then

    def _take(self, config: ModelConfig) -> tuple[TinyTransformer, Tensor] | None:
        with self._lock:
            for i, (model, own_weights) in enumerate(self._idle):
                if model.config == config:
                    del self._idle[i]
                    return model, own_weights
        return None

    def _give_back(self, model: TinyTransformer, own_weights: Tensor) -> None:
        with self._lock:
            self._idle.appendleft((model, own_weights))
            while sum(weights.nbytes for _, weights in self._idle) > self.most_bytes:
                self._idle.pop()

    def _build(self, config: ModelConfig) -> tuple[TinyTransformer, Tensor]:
        with torch.inference_mode(False):  # a model made in that mode could not be written to outside it
            model = TinyTransformer(config, generator(0)).eval()
            return model, pack_weights(model)


borrowed_model = IdleModels().borrow
