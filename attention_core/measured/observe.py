"""Observations of a trained model: its attention on an example, and what its heads are worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.randomness import generator
from attention_core.learning.evaluation import (
    Evaluation,
    accuracy_of,
    evaluate,
    no_roles,
    predicted_ids,
    weights_on_targets,
)
from attention_core.learning.tasks import TaskExample
from attention_core.learning.training import Snapshot, TrainingSettings, held_out_batch
from attention_core.model.sampling import continue_text
from attention_core.model.small_model import model_with
from attention_core.model.transformer import Transformer
from attention_core.one_head.attention import AttentionTrace

SAMPLE_CHARACTERS = 20  # a class that trains together draws them all again and again


def model_after_step(settings: TrainingSettings, snapshot: Snapshot) -> Transformer:
    """Return the model of a snapshot, made of torch tensors that share their memory with it."""
    return model_with(settings.model, torch.from_numpy(snapshot.weights))


@dataclass(frozen=True, eq=False)
class ObservedText:
    """A language model on some tokens: `layers` has a trace for each layer, with the axis of the heads first."""

    step: int
    tokens: tuple[str, ...]
    layers: tuple[AttentionTrace, ...]
    sample: str  # what the model writes


def observe_texts(
    settings: TrainingSettings, snapshots: Sequence[Snapshot], tokens: Sequence[str], temperature: float
) -> list[ObservedText]:
    """Return the attention of every head on the tokens, and a sample of text, for each snapshot. For texts only.

    The samples begin with the first character of the training text. Their draws depend on the seed of the run alone, so
    that from snapshot to snapshot only the model changes.
    """
    task, random = settings.task, generator(settings.seed, "sample")
    start = task.vocabulary.encode(task.example.tokens[:1])
    writers = model_with(settings.model, np.stack([snapshot.weights for snapshot in snapshots]))
    samples = continue_text(writers, start, SAMPLE_CHARACTERS, temperature=temperature, generator=random)
    ids = torch.tensor(task.vocabulary.encode(tokens))
    return [
        ObservedText(
            step=snapshot.step,
            tokens=tuple(tokens),
            layers=tuple(layer.attention.heads for layer in model_after_step(settings, snapshot)(ids).layers),
            sample="".join(task.vocabulary.decode(sample)),
        )
        for snapshot, sample in zip(snapshots, samples.tolist(), strict=True)
    ]


@dataclass(frozen=True, eq=False)
class ObservedTask:
    """A model on the example of its task.

    `layers` has a trace for each layer, with the axis of the heads first; `predicted` names the model's answer at each
    position; `role_weights` holds how much of its weight each head puts on the right cells of the example.
    """

    step: int
    example: TaskExample
    layers: tuple[AttentionTrace, ...]
    predicted: tuple[str, ...]
    accuracy: float  # on the example
    role_weights: Float[Tensor, "roles layers heads"]


def observe_task(settings: TrainingSettings, snapshot: Snapshot) -> ObservedTask:
    """Return the attention of every head on the example of the task, and the answers there, for one snapshot."""
    task, example = settings.task, settings.task.example
    model = model_after_step(settings, snapshot)
    trace = model(example.ids)
    ids, target = predicted_ids(model, trace), example.target_attention
    nothing = no_roles(settings.model.n_layers, settings.model.n_heads)
    role_weights = torch.from_numpy(nothing) if target is None else weights_on_targets(trace, target)
    return ObservedTask(
        step=snapshot.step,
        example=example,
        layers=tuple(layer.attention.heads for layer in trace.layers),
        predicted=tuple(task.vocabulary.decode(ids.tolist())),
        accuracy=float(accuracy_of(ids, example.targets)),
        role_weights=role_weights,
    )


@dataclass(frozen=True)
class Ablation:
    """How well a model does when some heads are ablated, beside the whole model on the same sequences."""

    ablated: tuple[tuple[int, int], ...]  # (layer, head), counted from 0
    loss: float
    accuracy: float
    loss_of_all: float
    accuracy_of_all: float

    @property
    def lost(self) -> float:
        """The accuracy that is lost with the ablated heads; below 0 where the model does better without them."""
        return self.accuracy_of_all - self.accuracy


def ablate_heads(settings: TrainingSettings, snapshot: Snapshot, ablated: Sequence[tuple[int, int]]) -> Ablation:
    """Evaluate a model on held-out sequences, whole and with the output of some heads set to zero before W_o.

    `ablated` has (layer, head) pairs. Raises InputError when there is no such head, or no held-out sequence.
    """
    whole, less = (evaluate_without(settings, snapshot, off) for off in ((), ablated))
    return Ablation(tuple(ablated), less.loss, less.accuracy, whole.loss, whole.accuracy)


def evaluate_without(settings: TrainingSettings, snapshot: Snapshot, ablated: Sequence[tuple[int, int]]) -> Evaluation:
    """Evaluate a model without some heads on held-out sequences: its answers, not its attention; NumPy is quicker."""
    model, batch = model_with(settings.model, snapshot.weights), held_out_batch(settings)
    return evaluate(settings.task.goal, model, batch.in_numpy(), snapshot.step, ablated)
