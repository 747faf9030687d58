"""How far a model without a mask reads the next token instead of predicting it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.learning.training import HELD_OUT, Snapshot, TrainingSettings, held_out_batch
from attention_core.measured.observe import model_after_step


@dataclass(frozen=True, eq=False)
class FutureLeak:
    """How far a model without a mask reads the next token instead of predicting it."""

    ahead: Float[Tensor, "layers heads"]  # mean weight of a position on the next one, where the answer stands
    loss_seeing: float  # at the positions whose answer stands in the sequence
    loss_hidden: float  # at the same positions, each with nothing after it

    @property
    def strongest(self) -> float:
        """The weight on the answer in the head that puts most there."""
        return float(self.ahead.max())


def measure_future_leak(settings: TrainingSettings, snapshot: Snapshot, most: int = HELD_OUT) -> FutureLeak:
    """The leak in a model of next tokens, on at most so many held-out sequences.

    With the future hidden, position i is predicted from the tokens 0 … i alone, as in generation. In a causal
    model nothing leaks: its weights ahead are 0 and the two losses agree. Raises ValueError for tasks where the
    answer at a position is not the next token.
    """
    task, batch = settings.task, held_out_batch(settings)
    inputs, targets = batch.inputs[:most], batch.targets[:most]
    if not torch.equal(inputs[:, 1:], targets[:, :-1]) or task.window < 2:
        raise ValueError(f"a leak is reading the next token, but the task “{task.key}” does not ask for it")
    model = model_after_step(settings, snapshot)
    trace, following = model(inputs), targets[:, :-1]
    hidden = [model(inputs[:, : i + 1]).logits[:, -1] for i in range(task.window - 1)]
    ahead = [layer.attention.heads.weights.diagonal(1, -2, -1).mean(dim=(0, 2)) for layer in trace.layers]
    return FutureLeak(
        ahead=torch.stack(ahead),
        loss_seeing=mean_loss(trace.logits[:, :-1], following),
        loss_hidden=mean_loss(torch.stack(hidden, dim=1), following),
    )


def mean_loss(logits: Float[Tensor, "batch tokens vocabulary"], targets: Int[Tensor, "batch tokens"]) -> float:
    """The mean cross-entropy over all positions."""
    return cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
