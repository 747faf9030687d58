"""From the scores a model gives each token to the token that comes next."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.model import TinyTransformer

SMALLEST_TEMPERATURE = 1e-30  # float32 cannot divide by much less


def next_token_probabilities(
    logits: Float[Tensor, " vocabulary"], temperature: float = 1.0
) -> Float[Tensor, " vocabulary"]:
    """softmax(logits / temperature): below 1 the likely gets likelier, at 0 only the likeliest is left.

    Raises ValueError for a negative temperature, or one that is not a number.
    """
    if not (math.isfinite(temperature) and temperature >= 0):
        raise ValueError(f"a temperature is a number from 0 up, but got {temperature}")
    if temperature < SMALLEST_TEMPERATURE:
        return torch.nn.functional.one_hot(logits.argmax(), len(logits)).to(logits.dtype)
    return ((logits - logits.max()) / temperature).softmax(dim=-1)


@torch.inference_mode()
def continue_text(
    model: TinyTransformer, start: list[int], n_new: int, *, temperature: float = 1.0, generator: torch.Generator
) -> list[int]:
    """`start` and n_new more ids, each drawn after looking at the last `context` ids before it.

    Raises ValueError when there is nothing to start from.
    """
    if not start:
        raise ValueError("a text needs at least one character to go on from")
    ids = list(start)
    for _ in range(n_new):
        seen = torch.tensor(ids[-model.config.context :])
        probabilities = next_token_probabilities(model(seen).logits[-1], temperature)
        ids.append(int(torch.multinomial(probabilities, 1, generator=generator)))
    return ids
