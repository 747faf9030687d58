"""The running example: a few choices from which everything on the lesson pages is computed."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.embeddings import embed, embedding_table
from attention_core.heads import split_heads
from attention_core.masks import causal_mask
from attention_core.randomness import MAX_SEED, generator
from attention_core.tokens import Unit, Vocabulary, clean_text, tokenize

Source = Literal["journey", "sentence"]
WeightKind = Literal["normal", "small", "linear"]

MAX_TOKENS = 12
DEFAULT_SENTENCE = "The cat sat on the mat"


@dataclass(frozen=True)
class Limit:
    """The whole numbers a size may take."""

    least: int
    most: int

    def clamp(self, value: int) -> int:
        """The nearest number within the limits."""
        return min(max(value, self.least), self.most)


LIMITS = {
    "d_model": Limit(1, 12),
    "d_k": Limit(1, 8),
    "d_v": Limit(1, 8),
    "n_heads": Limit(1, 4),
    "seed": Limit(0, MAX_SEED),
}

JOURNEY_TOKENS = ("Your", "journey", "starts", "with", "one", "step")
JOURNEY_X = (
    (0.43, 0.15, 0.89),
    (0.55, 0.87, 0.66),
    (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33),
    (0.77, 0.25, 0.10),
    (0.05, 0.80, 0.55),
)


@dataclass(frozen=True, kw_only=True)
class Example:
    """What the learner chose. Raises ValueError for a size outside its limits.

    `source` is the notebook's six fixed vectors (“Your journey starts with one step”, whose d_model
    is 3), or a sentence of one's own, whose vectors are drawn from the seed.
    """

    source: Source = "journey"
    text: str = DEFAULT_SENTENCE
    unit: Unit = "words"
    d_model: int = 4
    d_k: int = 2
    d_v: int = 2
    n_heads: int = 1
    seed: int = 42
    causal: bool = True
    scaling: bool = True
    weight_kind: WeightKind = "normal"

    def __post_init__(self):
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if not limit.least <= value <= limit.most:
                raise ValueError(f"{name} goes from {limit.least} to {limit.most}, but got {value}")


@dataclass(frozen=True, eq=False)
class ExampleTrace:
    """Everything that follows from an example, in the order in which it is computed.

    `heads` has the axis of the heads first, also when there is one head. `notes` are sentences
    about what had to be changed in the text to make it fit.
    """

    example: Example
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    x: Float[Tensor, "tokens d_model"]
    W_q: Float[Tensor, "d_model all_d_k"]
    W_k: Float[Tensor, "d_model all_d_k"]
    W_v: Float[Tensor, "d_model all_d_v"]
    scale: float
    heads: AttentionTrace
    notes: tuple[str, ...] = ()


def run_example(example: Example) -> ExampleTrace:
    """Compute the whole example: tokens, vectors, projections and attention."""
    tokens, notes = example_tokens(example)
    vocabulary = Vocabulary.in_order_of_appearance(tokens)
    ids = vocabulary.encode(tokens)
    x = example_vectors(example, ids, len(vocabulary))
    random = generator(example.seed)
    W_q = draw_weight(example.weight_kind, x.shape[-1], example.n_heads * example.d_k, random)
    W_k = draw_weight(example.weight_kind, x.shape[-1], example.n_heads * example.d_k, random)
    W_v = draw_weight(example.weight_kind, x.shape[-1], example.n_heads * example.d_v, random)
    q, k, v = (split_heads(x @ W, example.n_heads) for W in (W_q, W_k, W_v))
    may_attend = causal_mask(len(tokens)) if example.causal else None
    scale = 1 / math.sqrt(example.d_k) if example.scaling else 1.0
    heads = attend(q, k, v, may_attend, scale=scale)
    return ExampleTrace(example, tuple(tokens), tuple(ids), x, W_q, W_k, W_v, scale, heads, notes)


def example_tokens(example: Example) -> tuple[list[str], tuple[str, ...]]:
    """The tokens, at most MAX_TOKENS, and notes on what was changed. There is always at least one."""
    if example.source == "journey":
        return list(JOURNEY_TOKENS), ()
    clean = clean_text(example.text)
    tokens, notes = tokenize(clean.text, example.unit), list(clean.notes)
    if not tokens:
        notes.append(f"There is no word to show yet: type a sentence. Until then this is “{DEFAULT_SENTENCE}”.")
        tokens = tokenize(DEFAULT_SENTENCE, example.unit)
    elif len(tokens) > MAX_TOKENS:
        notes.append(f"The picture shows the first {MAX_TOKENS} tokens, so that every number can be read.")
    return tokens[:MAX_TOKENS], tuple(notes)


def example_vectors(example: Example, ids: list[int], vocabulary: int) -> Float[Tensor, "tokens d_model"]:
    """X: the notebook's fixed vectors, or a row of the embedding table for each token."""
    if example.source == "journey":
        return torch.tensor(JOURNEY_X)
    table = embedding_table(vocabulary, example.d_model, generator(example.seed, "embedding"))
    return embed(torch.tensor(ids), table)


def draw_weight(kind: WeightKind, d_in: int, d_out: int, random: torch.Generator) -> Float[Tensor, "d_in d_out"]:
    """A weight matrix, to be used as x @ W: standard normal, a tenth of that, or `nn.Linear`'s default.

    `nn.Linear` draws uniformly between ±1/√d_in and stores the transposed matrix.
    """
    if kind == "linear":
        bound = 1 / math.sqrt(d_in)
        return torch.empty(d_out, d_in).uniform_(-bound, bound, generator=random).T
    return torch.randn(d_in, d_out, generator=random) * (0.1 if kind == "small" else 1.0)
