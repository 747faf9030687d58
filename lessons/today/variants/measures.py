"""What the variants lead to in small models that are trained here: what sinks collect, what lasts in longer texts."""

import functools
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings, recommended
from attention_core.model.small_model import blank
from attention_core.model.transformer import Transformer
from attention_core.model.weights import named_weights, with_weights
from lessons.example.task_models import recorded

LENGTHS_MEASURED = (8, 16, 32, 64, 128)
WINDOW_TRAINED, STEPS_TRAINED = 16, 200
EVERY = 4  # of the pieces that a text has
TASK = CharacterTask(window=WINDOW_TRAINED)
KINDS_TRAINED = ("learned", "sinusoidal", "rotary", "alibi")


@dataclass(frozen=True)
class RightOverLength:
    """The share of next characters that a model predicts when it reads pieces of each length. Beyond what it has
    position vectors for it reads nothing.
    """

    kind: str
    lengths: tuple[int, ...]
    right: tuple[float, ...]


def settings_of_lengths(kind: str) -> TrainingSettings:
    """A small model of the text of the training page, one layer of four heads, that reads short pieces as it trains."""
    return recommended(TASK, 0, positions=kind, steps=STEPS_TRAINED)


@functools.lru_cache(maxsize=1)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def right_over_length() -> tuple[RightOverLength, ...]:
    """Every kind of positions, trained on short pieces of one text; then the same text read in longer pieces."""
    found = []
    for kind in KINDS_TRAINED:
        settings = settings_of_lengths(kind)
        model = recorded(settings).model(STEPS_TRAINED)
        lengths = tuple(n for n in LENGTHS_MEASURED if kind != "learned" or n <= WINDOW_TRAINED)
        right = tuple(right_at(model if kind == "learned" else with_context(model, n), TASK, n) for n in lengths)
        found.append(RightOverLength(kind, lengths, right))
    return tuple(found)


@dataclass(frozen=True)
class WeightCollected:
    """Where a model's weight goes, on average over all heads and all queries but the first of every few pieces of the
    text: to the `sink`, to the `first` token. `right` is the share of next characters that it predicts.
    """

    sink: float
    first: float
    right: float

    @property
    def others(self) -> float:
        """What is left for all other tokens."""
        return 1 - self.sink - self.first


@functools.lru_cache(maxsize=1)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def with_and_without_sinks() -> tuple[WeightCollected, WeightCollected, WeightCollected]:
    """A model trained without sinks, the same with sinks of score 0 put in afterwards, and one trained with sinks.

    Both are trained from the same random weights on the same pieces; sinks have a score of 0 at first.
    """
    without = settings_of_lengths("learned")
    with_sinks = replace(without, model=replace(without.model, sink=True))
    bare, trained = (recorded(settings).model(STEPS_TRAINED) for settings in (without, with_sinks))
    put_in = given_sinks(bare)
    return weight_collected(bare, TASK), weight_collected(put_in, TASK), weight_collected(trained, TASK)


def given_sinks(model: Transformer) -> Transformer:
    """A model with a sink of score 0 added to every head."""
    zeros = torch.zeros(model.config.n_heads)
    layers = (replace(layer, attention=replace(layer.attention, sink=zeros)) for layer in model.layers)
    return replace(model, layers=tuple(layers), config=replace(model.config, sink=True))


def even_share_of_sink(length: int) -> float:
    """What a sink would collect if all queries but the first shared their weight evenly among it and what they see."""
    return sum(1 / (seen + 1) for seen in range(2, length + 1)) / (length - 1)


def weight_collected(model: Transformer, task: CharacterTask) -> WeightCollected:
    """What sinks and first tokens collect in a model that reads pieces of the text."""
    trace = model(pieces_of(task, WINDOW_TRAINED)[:, :-1])
    weights = torch.stack([layer.attention.heads.weights[..., 1:, :] for layer in trace.layers]).double()
    return WeightCollected(
        sink=float(1 - weights.sum(dim=-1).mean()) if model.config.sink else 0.0,  # without, all but 0 is rounding
        first=float(weights[..., 0].mean()),
        right=right_at(model, task, WINDOW_TRAINED),
    )


def with_context(model: Transformer, context: int) -> Transformer:
    """A model with these weights that sees `context` tokens at once. Only where positions are no weights."""
    arrays = (weight for _, weight in named_weights(model))
    return with_weights(blank(replace(model.config, context=context)), arrays, torch.zeros(()))


def right_at(model: Transformer, task: CharacterTask, length: int) -> float:
    """The share of next characters of the text that the model predicts, in every few pieces of this length."""
    pieces = pieces_of(task, length)
    return float((model(pieces[:, :-1]).logits.argmax(dim=-1) == pieces[:, 1:]).double().mean())


def pieces_of(task: CharacterTask, length: int) -> Int[Tensor, "pieces length+1"]:
    """Every few pieces of this length of the text, each with the character that follows it."""
    return torch.tensor(task.vocabulary.encode(task.tokens)).unfold(0, length + 1, EVERY)
