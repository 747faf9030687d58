"""What the variants lead to, measured: how far a window reaches, what sinks collect, what caps flatten, what lasts."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.distances import with_global_tokens
from attention_core.heads import MultiHeadAttention
from attention_core.masks import causal_mask, full_mask
from attention_core.model import TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings, recommended
from attention_core.weights import blank, named_weights, with_weights
from lessons.example.task_models import recorded

LAYERS_MEASURED = (1, 2, 3, 4, 5, 6)
TOKENS_MEASURED, FEATURES_MEASURED = 41, 8
SINKS_MEASURED = tuple(half / 2 for half in range(-8, 9))
CAPS_MEASURED = tuple(2.0**exponent for exponent in range(-2, 6))
LENGTHS_MEASURED = (8, 16, 32, 64, 128)
WINDOW_TRAINED, STEPS_TRAINED = 16, 200
EVERY = 4  # of the pieces that a text has
KINDS_TRAINED = ("learned", "sinusoidal", "rotary", "alibi")


@functools.lru_cache(maxsize=64)
def tokens_that_reach(reach: int, n_layers: int, causal: bool, with_global: bool) -> int:
    """How many of the tokens move the output of one when they move: those whose gradient is not 0.

    A stack of attention alone, untrained, with shortcuts around it. The one is the last token, or without a causal mask
    the one in the middle.
    """
    n, random = TOKENS_MEASURED, generator(0, "reach")
    with torch.inference_mode(False), torch.enable_grad():
        x = first = torch.randn(n, FEATURES_MEASURED, generator=random).requires_grad_()
        # wide enough for all but what it hides: where the first token is global, a mask says what the window would
        window = None if with_global else (reach, reach)
        near = full_mask(n).triu(-reach).tril(reach)
        may_attend = with_global_tokens(near, torch.arange(n) == 0) if with_global else full_mask(n)
        may_attend = may_attend & causal_mask(n) if causal else may_attend
        for _ in range(n_layers):
            heads = MultiHeadAttention.draw(FEATURES_MEASURED, 2, generator=random)
            x = x + replace(heads, window=window)(x, may_attend)[0]
        (gradient,) = torch.autograd.grad(x[-1 if causal else n // 2].sum(), [first])
    return int((gradient != 0).any(dim=-1).sum())


def mean_entropy(weights: Float[Tensor, "queries keys"]) -> float:
    """How evenly rows of weights are spread, in bits, on average: 0 for one key alone, n for 2ⁿ keys alike."""
    return float(torch.special.entr(weights.double()).sum(dim=-1).mean()) / math.log(2)


def entropies_of_caps(attention: AttentionTrace, scale: float, caps: Sequence[float]) -> list[float]:
    """The mean entropy of a head's rows with each of these caps."""
    q, k, v, visible = attention.q, attention.k, attention.v, attention.visible
    return [mean_entropy(attend(q, k, v, visible, scale=scale, soft_cap=cap).weights) for cap in caps]


def shares_of_sinks(attention: AttentionTrace, scale: float, sinks: Sequence[float]) -> list[float]:
    """What a sink of each of these scores collects of a row, on average."""
    q, k, v, visible = attention.q, attention.k, attention.v, attention.visible
    traces = (attend(q, k, v, visible, scale=scale, sink=sink) for sink in sinks)
    return [float(1 - trace.weights.sum(dim=-1).mean()) for trace in traces]


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
    task = CharacterTask(window=WINDOW_TRAINED)
    return recommended(task, 0, positions=kind, steps=STEPS_TRAINED)


@functools.lru_cache(maxsize=1)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def right_over_length() -> tuple[RightOverLength, ...]:
    """Every kind of positions, trained on short pieces of one text; then the same text read in longer pieces."""
    found = []
    for kind in KINDS_TRAINED:
        settings = settings_of_lengths(kind)
        model = recorded(settings).model(STEPS_TRAINED)
        lengths = tuple(n for n in LENGTHS_MEASURED if kind != "learned" or n <= WINDOW_TRAINED)
        right = tuple(
            right_at(model if kind == "learned" else with_context(model, n), settings.task, n) for n in lengths
        )
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
    return tuple(weight_collected(model, without.task) for model in (bare, given_sinks(bare), trained))


def given_sinks(model: TinyTransformer) -> TinyTransformer:
    """The same model with a sink of score 0 in every head."""
    zeros = torch.zeros(model.config.n_heads)
    layers = (replace(layer, attention=replace(layer.attention, sink=zeros)) for layer in model.layers)
    return replace(model, layers=tuple(layers), config=replace(model.config, sink=True))


def even_share_of_sink(length: int) -> float:
    """What a sink would collect if all queries but the first shared their weight evenly among it and what they see."""
    return sum(1 / (seen + 1) for seen in range(2, length + 1)) / (length - 1)


def weight_collected(model: TinyTransformer, task: CharacterTask) -> WeightCollected:
    """What sinks and first tokens collect in a model that reads pieces of the text."""
    trace = model(pieces_of(task, WINDOW_TRAINED)[:, :-1])
    weights = torch.stack([layer.attention.heads.weights[..., 1:, :] for layer in trace.layers]).double()
    return WeightCollected(
        sink=float(1 - weights.sum(dim=-1).mean()) if model.config.sink else 0.0,  # without, all but 0 is rounding
        first=float(weights[..., 0].mean()),
        right=right_at(model, task, WINDOW_TRAINED),
    )


def with_context(model: TinyTransformer, context: int) -> TinyTransformer:
    """The same weights, in a model that sees so many tokens at once. Only where positions are no weights."""
    arrays = (weight for _, weight in named_weights(model))
    return with_weights(blank(replace(model.config, context=context)), arrays, torch.zeros(()))


def right_at(model: TinyTransformer, task: CharacterTask, length: int) -> float:
    """The share of next characters of the text that the model predicts, in every few pieces of this length."""
    pieces = pieces_of(task, length)
    return float((model(pieces[:, :-1]).logits.argmax(dim=-1) == pieces[:, 1:]).double().mean())


def pieces_of(task: CharacterTask, length: int) -> Int[Tensor, "pieces length+1"]:
    """Every few pieces of this length of the text, each with the character that follows it."""
    return torch.tensor(task.vocabulary.encode(task.tokens)).unfold(0, length + 1, EVERY)
