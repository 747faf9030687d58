"""One step of training, for one run or for several at once: a loss, its gradient, and an update of the weights.

Nothing here is drawn at random: the first weights and the batches are given. NumPy computes all of it, so a process
that only trains imports no PyTorch.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from attention_core.base.arrays import Array
from attention_core.learning.backward import loss_backward, model_backward
from attention_core.learning.batches import Batch
from attention_core.learning.evaluation import Evaluation, Goal, batch_shape, evaluate_together, loss_of, side_by_side
from attention_core.learning.losses import LossTrace
from attention_core.learning.optimiser import OPTIMISERS, OptimiserName, clipped
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.model.weights import of_vector, weights_of

DRAWN_TOGETHER = 32  # batches drawn at once: drawing costs the same for one as for many
EVALUATE_EVERY = 20
EngineName = Literal["numpy", "autograd"]
DrawnBatches = tuple[Int[np.ndarray, "drawn batch tokens"], Int[np.ndarray, "drawn batch tokens"]]


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """What determines the steps of a run, once its first weights and its batches are drawn."""

    model: Transformer  # its sizes and what is fixed in it; its weights are those of the state
    goal: Goal
    optimiser: OptimiserName
    learning_rate: float
    weight_decay: float
    clip: float | None  # the longest gradient; None leaves gradients as they are
    steps: int
    engine: EngineName


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """The model after `step` updates, and its loss on the next batch.

    `weights` has all weights in one vector, which no later step changes.
    """

    step: int
    loss: float  # nats per position that counts; squared error where vectors are compared
    weights: Float[np.ndarray, " parameters"]
    evaluation: Evaluation | None = None  # every EVALUATE_EVERY steps, and at the last


@runtime_checkable
class Draws(Protocol):
    """Where a run gets its sequences from: those that it learns from, and those on which it is evaluated."""

    def block(self) -> DrawnBatches:
        """Return the next DRAWN_TOGETHER batches: their inputs and targets."""
        ...

    def held_out(self) -> Batch | None:
        """Return the sequences for evaluation; None where the task has too few."""
        ...


@dataclass(eq=False)
class TrainingState:
    """The state of one run between two of its steps: all that the next step depends on.

    Batches that wait are kept as bytes, since most runs of a class wait most of the time.
    """

    settings: StepSettings
    draws: Draws
    weights: Float[np.ndarray, " parameters"]
    means: tuple[Float[np.ndarray, " parameters"], ...]  # of gradients, as many as the optimiser keeps
    inputs: Int[np.ndarray, "drawn batch tokens"]
    targets: Int[np.ndarray, "drawn batch tokens"]
    drawn: int = 0  # how many batches have been drawn
    step: int = 0  # the next one, and the number of updates made so far


class TrainingStack:
    """Runs of one shape, trained together: all arrays have an axis of runs in front, and one operation serves all runs.

    The numbers of a run depend on that run alone, to the last bit, whatever is trained beside it, `evaluated` or not.
    """

    def __init__(self, states: Sequence[TrainingState], *, evaluated: bool = True):
        self.states, self.evaluated = states, evaluated
        first = states[0].settings
        self.optimiser, self.gradient_of = OPTIMISERS[first.optimiser], ENGINES[first.engine]
        self.weights = stacked([state.weights for state in states])
        self.means = tuple(stacked(list(means)) for means in zip(*(state.means for state in states), strict=True))
        self.inputs = stacked([state.inputs for state in states])
        self.targets = stacked([state.targets for state in states])
        self.learning_rates = [state.settings.learning_rate for state in states]
        self.weight_decays = [state.settings.weight_decay for state in states]
        self.longest = [math.inf if state.settings.clip is None else state.settings.clip for state in states]
        self.model = of_vector(first.model, self.weights)

    def step(self) -> list[TrainingStep]:
        """Return the next step of each run: loss, weights, perhaps an evaluation. Then update the weights.

        NumPy warns where a loss becomes infinite or is not a number, unless its warnings are switched off.
        """
        losses, gradient = self.gradient_of(self.model, self.next_batch())
        if min(self.longest) < math.inf:
            gradient = clipped(gradient, self.longest)
        evaluations = self.evaluations() if self.evaluated else {}
        weights = self.weights.copy()
        updates = [state.step + 1 for state in self.states]
        self.optimiser.update(self.weights, gradient, self.means, updates, self.learning_rates, self.weight_decays)
        steps = []
        for i, (state, loss) in enumerate(zip(self.states, losses.tolist(), strict=True)):
            steps.append(TrainingStep(state.step, loss, weights[i], evaluations.get(i)))
            state.step += 1
        return steps

    def next_batch(self) -> Batch:
        """Return the next batch of each run."""
        for i, state in enumerate(self.states):
            if state.step == state.drawn:
                self.inputs[i], self.targets[i] = state.draws.block()
                state.drawn += DRAWN_TOGETHER
        places = [state.step % DRAWN_TOGETHER for state in self.states]
        if len(set(places)) == 1:  # runs that have begun together: a slice costs less than a choice
            return Batch(self.inputs[:, places[0]], self.targets[:, places[0]])
        which = np.arange(len(places)), np.array(places)
        return Batch(self.inputs[which], self.targets[which])

    def evaluations(self) -> dict[int, Evaluation]:
        """Evaluate those runs that have reached a step at which they are evaluated, and return the results by index."""
        groups: dict[Hashable, list[tuple[int, Batch]]] = {}
        for i, state in enumerate(self.states):
            if state.step % EVALUATE_EVERY == 0 or state.step == state.settings.steps:
                batch = state.draws.held_out()
                if batch is not None:
                    groups.setdefault(batch_shape(batch), []).append((i, batch))
        found: dict[int, Evaluation] = {}
        for group in groups.values():
            which = [i for i, _ in group]
            states = [self.states[i] for i in which]
            model = self.model if len(which) == len(self.states) else of_vector(self.model, self.weights[which])
            evaluations = evaluate_together(
                [state.settings.goal for state in states],
                model,
                side_by_side([batch for _, batch in group]),
                [state.step for state in states],
            )
            found |= zip(which, evaluations, strict=True)
        return found

    def write_back(self) -> None:
        """Write the results back to the state of each run, which can then be trained alone or with others."""
        for i, state in enumerate(self.states):
            state.weights[:], state.inputs[:], state.targets[:] = self.weights[i], self.inputs[i], self.targets[i]
            for mine, all_means in zip(state.means, self.means, strict=True):
                mine[:] = all_means[i]


def stacked(arrays: list[np.ndarray]) -> np.ndarray:
    """Stack arrays along a new axis of runs in front; a single one needs no copy."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def predict(model: Transformer, batch: Batch) -> tuple[ModelTrace, LossTrace]:
    """Compute what the model predicts for a batch, and the loss."""
    trace = model(batch.inputs)
    return trace, loss_of(model, trace, batch.targets)


def gradient_of(model: Transformer, batch: Batch) -> tuple[Float[Array, "*runs"], Float[Array, "*runs parameters"]]:
    """Compute the loss, and its gradient by the chain rule, with all weights in one vector."""
    trace, loss = predict(model, batch)
    _, d_model = model_backward(model, trace, loss_backward(loss))
    return loss.loss, weights_of(d_model)


def gradient_by_autograd(
    model: Transformer, batch: Batch
) -> tuple[Float[np.ndarray, "*runs"], Float[np.ndarray, "*runs parameters"]]:
    """Compute the loss, and its gradient by PyTorch's autograd through the forward functions, in one vector."""
    import torch

    with torch.inference_mode(False), torch.enable_grad():
        vector = torch.tensor(weights_of(model), requires_grad=True)
        tensors = Batch(torch.tensor(batch.inputs).long(), torch.tensor(batch.targets).long())
        _, loss = predict(of_vector(model, vector), tensors)
        (gradient,) = torch.autograd.grad(loss.loss.sum(), vector)
    return loss.loss.detach().numpy(), gradient.numpy()


ENGINES = {"numpy": gradient_of, "autograd": gradient_by_autograd}
