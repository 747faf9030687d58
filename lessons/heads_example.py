"""Several heads on one sentence: what the lesson on heads computes.

Reading order: what can be chosen (`HeadsExample`), what follows from it (`run_heads`), where the notebooks'
tensors come from (`HEADS_PRESETS`); then what is measured: how much heads differ, what a head can see,
what dropout does, and how many parameters there are. The sentences are in `many_heads_captions`.
"""

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_core.attention import AttentionTrace, attend
from attention_core.embeddings import embed, embedding_table
from attention_core.heads import MultiHeadAttention, SlicedHeads, drop_weights, linear, split_heads
from attention_core.masks import causal_mask
from attention_core.randomness import MAX_SEED, generator
from lessons.example import JOURNEY_TOKENS, JOURNEY_X, MAX_TOKENS, ExampleTrace, Limit

HeadsSource = Literal["sentence", "journey", "modules", "wide", "planted", "drawn"]

LIMITS = {"d_model": Limit(1, 16), "seed": Limit(0, MAX_SEED), "dropout_percent": Limit(0, 90)}
MOST_FEATURES = 16  # of a wide matrix, this many are shown


@dataclass(frozen=True, kw_only=True)
class HeadsExample:
    """What the learner chose. A notebook's preset fixes the tokens, the sizes, the bias and the seed.

    Raises ValueError for a source there is not, for sizes outside their limits, and where the heads cannot
    share the features evenly.
    """

    source: HeadsSource = "sentence"
    tokens: tuple[str, ...] = JOURNEY_TOKENS
    ids: tuple[int, ...] = tuple(range(len(JOURNEY_TOKENS)))
    d_model: int = 8
    n_heads: int = 2
    bias: bool = False
    dropout: float = 0.1
    seed: int = 42
    causal: bool = True
    scaling: bool = True

    def __post_init__(self):
        if self.source not in HEADS_PRESETS:
            raise ValueError(f"source is one of {', '.join(HEADS_PRESETS)}, but got {self.source}")
        if not 1 <= len(self.tokens) == len(self.ids) <= MAX_TOKENS:
            raise ValueError(
                f"a sentence has 1 to {MAX_TOKENS} tokens and an id for each, "
                f"but there are {len(self.tokens)} tokens and {len(self.ids)} ids"
            )
        most = LIMITS["d_model"].most
        if self.source == "sentence" and not 1 <= self.d_model <= most:
            raise ValueError(f"d_model goes from 1 to {most}, but got {self.d_model}")


def heads_example(running: ExampleTrace, source: HeadsSource, **choices: int | float) -> HeadsExample:
    """The running example's tokens, seed, mask and scaling, with this lesson's own choices."""
    example = running.example
    taken = {"seed": example.seed, "causal": example.causal, "scaling": example.scaling}
    return HeadsExample(source=source, tokens=running.tokens, ids=running.ids, **(taken | choices))


@dataclass(frozen=True, eq=False, kw_only=True)
class SideBySide:
    """Several attentions that were computed at once. `heads` has the axis of the attentions first.

    `noun` says what they are: heads, or the sentences of a batch; to attention they are the same.
    """

    example: HeadsExample
    tokens: tuple[str, ...]
    heads: AttentionTrace
    scale: float
    noun: str = "head"

    @property
    def n_heads(self) -> int:
        """How many attentions there are."""
        return self.heads.q.shape[0]

    @property
    def d_head(self) -> int:
        """The features of a query of one head."""
        return self.heads.q.shape[-1]


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadsTrace(SideBySide):
    """The way of the tensors through multi-head attention, in the order in which they are computed.

    q, k and v hold the features of all heads side by side, as they are before the split.
    """

    module: MultiHeadAttention
    x: Float[Tensor, "tokens d_model"]
    q: Float[Tensor, "tokens d_model"]
    k: Float[Tensor, "tokens d_model"]
    v: Float[Tensor, "tokens d_model"]
    concatenated: Float[Tensor, "tokens d_model"]
    output: Float[Tensor, "tokens d_model"]


@torch.no_grad()
def run_heads(example: HeadsExample) -> SideBySide:
    """Compute the example with dropout at rest; the example in the trace has the sizes that were used."""
    preset = HEADS_PRESETS[example.source]
    example = replace(example, **preset.fixed)
    may_attend = causal_mask(len(example.tokens)) if example.causal else None
    if example.source == "drawn":
        return drawn_side_by_side(example, may_attend)
    x, module = tensors_of(example)
    scale = module.d_head**-0.5 if example.scaling else 1.0
    output, trace = module.eval()(x, may_attend, scale=scale)
    q, k, v = module.W_q(x), module.W_k(x), module.W_v(x)
    return HeadsTrace(
        example=example, tokens=example.tokens, heads=trace.heads, scale=scale, module=module,
        x=x, q=q, k=k, v=v, concatenated=trace.concatenated, output=output,
    )  # fmt: skip


def drawn_side_by_side(example: HeadsExample, may_attend: Tensor | None) -> SideBySide:
    """Two sentences of 4 tokens, whose queries, keys and values of 8 features are drawn and not projected."""
    random = generator(example.seed)
    q, k, v = (torch.randn(2, 4, 8, generator=random) for _ in "qkv")
    scale = q.shape[-1] ** -0.5 if example.scaling else 1.0
    heads = attend(q, k, v, may_attend, scale=scale)
    return SideBySide(example=example, tokens=example.tokens, heads=heads, scale=scale, noun="sentence")


Drawn = tuple[Float[Tensor, "tokens d_model"], MultiHeadAttention]


def tensors_of(example: HeadsExample) -> Drawn:
    """The vectors and the module. What a notebook fixes is the same for all; only the dropout is each learner's own."""
    preset = HEADS_PRESETS[example.source]
    if not preset.fixed:
        return preset.draw(example)
    x, shared = notebook_tensors(example.source)
    module = copy.copy(shared)  # with the same maps
    module.dropout = example.dropout
    return x, module


@functools.cache
def notebook_tensors(source: HeadsSource) -> Drawn:
    """What a notebook fixes, drawn once: the wide maps are a million numbers. Shared by all: never change it."""
    preset = HEADS_PRESETS[source]
    return preset.draw(HeadsExample(source=source, **preset.fixed))


def draw_sentence(example: HeadsExample) -> Drawn:
    """A row of an embedding table for each token, as in the running example; the module has a stream of its own."""
    table = embedding_table(max(example.ids) + 1, example.d_model, generator(example.seed, "embedding"))
    return embed(torch.tensor(example.ids), table), draw_module(example, generator(example.seed))


def draw_journey(example: HeadsExample) -> Drawn:
    """The six vectors of 3 numbers, each written twice side by side."""
    x = torch.tensor(JOURNEY_X)
    return torch.cat([x, x], dim=-1), draw_module(example, generator(example.seed))


def draw_modules(example: HeadsExample) -> Drawn:
    """An embedding table of 50 rows and the three maps of a single head come first in the stream."""
    random = generator(example.seed)
    table = torch.randn(50, example.d_model, generator=random)
    for _ in "qkv":
        linear(example.d_model, 6, bias=False, generator=random)
    return embed(torch.tensor(example.ids), table), draw_module(example, random)


def draw_wide(example: HeadsExample) -> Drawn:
    """The drawn queries, keys and values come first, then the module, then two sentences, of which one is kept."""
    x, module, _ = wide_stream(example)
    return x, module


def draw_planted(example: HeadsExample) -> Drawn:
    """After the wide module PyTorch's own is drawn, then vectors in which two pairs of tokens are made alike."""
    _, _, random = wide_stream(replace(example, **HEADS_PRESETS["wide"].fixed))
    linear(512, 512, bias=True, generator=random)
    nn.init.xavier_uniform_(torch.empty(3 * 512, 512), generator=random)
    x = torch.randn(len(example.tokens), example.d_model, generator=random)
    x[1] += 0.5 * x[4]
    x[2] += 0.5 * x[5]
    return x, draw_module(example, random)


def wide_stream(example: HeadsExample) -> tuple[Tensor, MultiHeadAttention, torch.Generator]:
    """The vectors and the module of the wide preset, and the generator that drew them."""
    random = generator(example.seed)
    for _ in "qkv":
        torch.randn(2, 4, 8, generator=random)
    module = draw_module(example, random)
    return torch.randn(2, len(example.tokens), example.d_model, generator=random)[0], module, random


def draw_module(example: HeadsExample, random: torch.Generator) -> MultiHeadAttention:
    """The module with the sizes of the example; its weights come next in the stream."""
    return MultiHeadAttention(
        example.d_model, example.n_heads, bias=example.bias, dropout=example.dropout, generator=random
    )


@dataclass(frozen=True, kw_only=True)
class HeadsPreset:
    """One source of the example. `fixed` holds the choices that a notebook makes, named as in `HeadsExample`."""

    title: str
    fixed: dict[str, object]
    draw: Callable[[HeadsExample], Drawn] | None = None
    remark: str = ""


def numbered_tokens(count: int) -> dict[str, tuple]:
    """Tokens without words, as they are chosen."""
    return {"tokens": tuple(f"token {place + 1}" for place in range(count)), "ids": tuple(range(count))}


def words(*tokens: str, ids: tuple[int, ...] | None = None) -> dict[str, tuple]:
    """The tokens that a notebook names, as they are chosen."""
    return {"tokens": tokens, "ids": ids or tuple(range(len(tokens)))}


HEADS_PRESETS: dict[str, HeadsPreset] = {
    "sentence": HeadsPreset(title="The running example", fixed={}, draw=draw_sentence),
    "journey": HeadsPreset(
        title="Your journey, twice over",
        fixed=words(*JOURNEY_TOKENS) | {"d_model": 6, "n_heads": 2, "bias": False, "seed": 42},
        draw=draw_journey,
        remark="The notebook shows it without the mask, then with it.",
    ),
    "modules": HeadsPreset(
        title="The cat sat down, 2 heads",
        fixed=words("The", "cat", "sat", "down", ids=(5, 12, 31, 7))
        | {"d_model": 8, "n_heads": 2, "bias": False, "seed": 42},
        draw=draw_modules,
        remark="The notebook uses no mask here.",
    ),
    "wide": HeadsPreset(
        title="512 features, 8 heads",
        fixed=numbered_tokens(10) | {"d_model": 512, "n_heads": 8, "bias": True, "seed": 42},
        draw=draw_wide,
        remark="These are the sizes of the first transformer. The notebook uses no mask here.",
    ),
    "planted": HeadsPreset(
        title="The mat, 64 features",
        fixed=words("The", "cat", "sat", "on", "the", "mat")
        | {"d_model": 64, "n_heads": 4, "bias": True, "seed": 42},
        draw=draw_planted,
        remark="“cat” is made like “the”, and “sat” like “mat”. The notebook shows it without the mask, then with it.",
    ),
    "drawn": HeadsPreset(
        title="Two sentences at once",
        fixed=numbered_tokens(4) | {"d_model": 8, "n_heads": 1, "bias": False, "seed": 42},
        remark="Q, K and V are drawn, not projected. To attention, sentences and heads are alike. No mask there.",
    ),
}  # fmt: skip


def divisors(d_model: int) -> tuple[int, ...]:
    """The numbers of heads that can share so many features evenly."""
    return tuple(n for n in range(1, d_model + 1) if d_model % n == 0)


def nearest_divisor(d_model: int, n_heads: int) -> int:
    """The number of heads nearest to this one that can share the features; the smaller of two."""
    return min(divisors(d_model), key=lambda n: (abs(n - n_heads), n))


def home_of(feature: int, d_head: int) -> tuple[int, int]:
    """The head in which a feature lives after the split, and its place there; all counted from 0."""
    return divmod(feature, d_head)


def shown_features(d_model: int, n_heads: int, most: int = MOST_FEATURES) -> list[int]:
    """The features that a figure shows: all where there are few, else about `most`, the first ones of each head."""
    d_head = d_model // n_heads
    each = d_head if d_model <= MOST_FEATURES else min(d_head, max(1, most // n_heads))
    return [head * d_head + place for head in range(n_heads) for place in range(each)]


# How different the heads are.


@dataclass(frozen=True)
class HeadDifference:
    """Total variation between the rows of two heads, over all pairs and all queries with a choice.

    ½ Σ_j |a_j − b_j|: the share of its weight that one head would have to move to look as the other does.
    """

    mean: float
    largest: float
    heads: tuple[int, int]  # of the largest, counted from 0
    query: int
    from_even: float  # mean distance of a row from equal shares


def total_variation(a: Float[Tensor, "*batch keys"], b: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """½ Σ |a − b|: 0 where two rows of weights are the same, 1 where they have no key in common."""
    return (a - b).abs().sum(dim=-1) / 2


def head_difference(heads: AttentionTrace) -> HeadDifference | None:
    """How much the heads differ. None with a single head, and where no query has a choice."""
    choices = heads.visible.sum(dim=-1)[0]
    rows = (choices > 1).nonzero()[:, 0]
    pairs = list(combinations(range(heads.weights.shape[0]), 2))
    if not pairs or not len(rows):
        return None
    weights = heads.weights[:, rows]
    apart = torch.stack([total_variation(weights[a], weights[b]) for a, b in pairs])
    pair, place = divmod(int(apart.argmax()), len(rows))
    even = heads.visible[:, rows] / choices[rows, None]
    return HeadDifference(
        mean=float(apart.mean()),
        largest=float(apart.max()),
        heads=pairs[pair],
        query=int(rows[place]),
        from_even=float(total_variation(weights, even).mean()),
    )


# The way of the tensors.


def head_parts(trace: HeadsTrace) -> Float[Tensor, "heads tokens d_model"]:
    """What each head adds to the output: its own output times its rows of W_o. With the bias they add up to it."""
    rows = split_heads(trace.module.W_o.weight.detach(), trace.n_heads)
    return trace.heads.output @ rows.mT


# Projection against slice.


@dataclass(frozen=True, eq=False)
class Reach:
    """The largest change in the output of each head when 1 is added to one feature of every token.

    `features` says which ones were changed, counted from 0; the maps are counted in numbers of W_q, W_k and W_v.
    """

    features: tuple[int, ...]
    projected: Float[Tensor, "heads features"]
    sliced: Float[Tensor, "heads features"]
    own: Int[Tensor, " features"]  # the head whose slice holds the feature
    projected_maps: int
    sliced_maps: int

    def outside(self, changes: Float[Tensor, "heads features"]) -> Float[Tensor, " heads"]:
        """The largest change of each head by features outside its slice; 0 where there are none."""
        heads = torch.arange(len(changes))[:, None]
        return changes.masked_fill(self.own == heads, 0).max(dim=-1).values


@torch.no_grad()
def reach_of_heads(trace: HeadsTrace) -> Reach:
    """Run projecting and sliced heads on the same input, and again with each of the shown features changed."""
    d_model, n_heads = trace.x.shape[-1], trace.n_heads
    features = shown_features(d_model, n_heads)
    may_attend = causal_mask(len(trace.tokens)) if trace.example.causal else None
    nudges = torch.cat([torch.zeros(1, d_model), torch.eye(d_model)[features]])  # the first leaves x as it is
    sliced = SlicedHeads(d_model, n_heads, generator=generator(trace.example.seed))

    def largest_change(module: nn.Module) -> Float[Tensor, "heads features"]:
        outputs = module(trace.x + nudges[:, None], may_attend, scale=trace.scale)[1].heads.output
        return (outputs[1:] - outputs[0]).abs().amax(dim=(-1, -2)).T

    return Reach(
        features=tuple(features),
        projected=largest_change(trace.module),
        sliced=largest_change(sliced),
        own=torch.tensor([home_of(feature, trace.d_head)[0] for feature in features]),
        projected_maps=sum(m.weight.numel() for m in (trace.module.W_q, trace.module.W_k, trace.module.W_v)),
        sliced_maps=sliced.W_qkv.numel(),
    )


# Dropout.


@torch.no_grad()
def dropped_out(trace: SideBySide) -> AttentionTrace:
    """The heads in training mode: each weight dropped with the chosen probability, the others enlarged."""
    return drop_weights(trace.heads, trace.example.dropout, generator(trace.example.seed, "dropout"))


# Parameters.


def parameter_table(module: nn.Module) -> list[dict[str, str | int]]:
    """The name, the shape and the count of every parameter as the module lists them, and the total."""
    rows = [
        {"parameter": key, "shape": " × ".join(map(str, value.shape)), "numbers": value.numel()}
        for key, value in module.named_parameters()
    ]
    return [*rows, {"parameter": "all together", "shape": "", "numbers": sum(row["numbers"] for row in rows)}]
