"""Several heads on one sentence: what the lesson on heads computes.

Reading order: what can be chosen (`HeadsChosen`), what follows from it (`run_heads`), where heads come from
(`HEADS_PRESETS`), which features a figure shows, and what dropout does.
"""

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.errors import TechnicalError
from attention_core.base.randomness import draw_linear, generator
from attention_core.base.traced import Written
from attention_core.model.small_model import check_range
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.heads import MultiHeadAttention, draw_kept
from attention_core.text.embeddings import embed, embedding_table
from lessons.example.example import Example, Limit, run_example
from lessons.example.presets import JOURNEY_TOKENS, JOURNEY_X, PRESETS
from lessons.example.source import TrainedLayer
from lessons.model.heads.compute import attend_and_join, inputs_of_module, many_heads, names_of_heads
from lessons.screen import Message, message, names
from lessons.trace.computation import Computation

HeadsKey = Literal["sentence", "journey", "journey_builtin", "modules", "modules_builtin", "wide", "planted", "drawn"]
DrawnHeads = tuple[Float[Tensor, "tokens d_model"], MultiHeadAttention]

HEADS_LIMITS = {"d_model": Limit(1, 16), "dropout_percent": Limit(0, 90)}
MOST_FEATURES = 16  # of a wide matrix, this many are shown
NOTEBOOK_SEED = 42  # with which all notebooks begin


@dataclass(frozen=True, kw_only=True)
class HeadsChosen:
    """What the lessons on heads choose besides the running example: whose heads, and their sizes.

    A notebook fixes them, and a model that is trained already keeps its own. Raises InputError for a source there
    is not, and for a size outside its limits.
    """

    source: HeadsKey = "sentence"
    d_model: int = 8
    n_heads: int = 2
    bias: bool = False
    dropout: float = 0.1

    def __post_init__(self):
        if self.source not in HEADS_PRESETS:
            known = ", ".join(HEADS_PRESETS)
            raise TechnicalError("source is one of {known}, but got {source}", known=known, source=self.source)
        limit = HEADS_LIMITS["d_model"]
        check_range("d_model", self.d_model, limit.least, limit.most)
        check_range("n_heads", self.n_heads, 1, limit.most)

    def taken(self, example: Example) -> Example:
        """What is taken of the running example."""
        return HEADS_PRESETS[self.source].taken(example, self)


@dataclass(frozen=True, eq=False, kw_only=True)
class SideBySide:
    """Several attentions that were computed at once, as `computation` says. `heads` has their axis first.

    `example` is what was taken of the running example, with the sizes that were used. `noun` says what they are: heads,
    or the sentences of a batch; to attention they are the same.
    """

    example: Example
    chosen: HeadsChosen
    tokens: tuple[str, ...]
    computation: Computation
    noun: Literal["head", "sentence"] = "head"
    trained: TrainedLayer | None = None
    module: ClassVar[MultiHeadAttention | None] = None  # that projects them
    usual_sizes = False

    scale = property(lambda self: self.computation.inputs["scale"])

    @property
    def seed(self) -> int:
        """The seed of all that is drawn."""
        return self.example.seed

    @property
    def heads(self) -> AttentionTrace:
        """Every tensor of all of them."""
        return self.computation.result.heads

    @property
    def n_heads(self) -> int:
        """How many attentions there are."""
        return self.heads.q.shape[0]

    @property
    def d_head(self) -> int:
        """The features of a query or key of one head."""
        return self.heads.q.shape[-1]

    @property
    def d_value(self) -> int:
        """The features of a value of one head."""
        return self.heads.v.shape[-1]


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadsTrace(SideBySide):
    """The way of the tensors through multi-head attention.

    q, k and v hold the features of all heads side by side, as they are before the split; heads whose positions are
    rotary turn queries and keys after it. `added` are positions that only queries and keys are made of.
    """

    module: MultiHeadAttention
    added: Float[Tensor, "tokens d_model"] | None = None

    x = property(lambda self: self.computation.inputs["x"])
    q = property(lambda self: self.computation.result.q)
    k = property(lambda self: self.computation.result.k)
    v = property(lambda self: self.computation.result.v)
    concatenated = property(lambda self: self.computation.result.concatenated)
    output = property(lambda self: self.computation.result.output)

    @property
    def usual_sizes(self) -> bool:
        """True where queries, keys and values of all heads together have as many features as a token."""
        return self.n_heads * self.d_head == self.n_heads * self.d_value == self.x.shape[-1]


def run_heads(example: Example, chosen: HeadsChosen) -> SideBySide:
    """The heads that are chosen, on what they take of the running example, with dropout at rest."""
    return compute_heads(chosen.taken(example), chosen)


@functools.lru_cache(maxsize=8)
def compute_heads(taken: Example, chosen: HeadsChosen) -> SideBySide:
    """Compute the heads on what was taken. The last few are kept, for all visitors: never change one."""
    return HEADS_PRESETS[chosen.source].side_by_side(taken, chosen)


def through_heads(
    example: Example, chosen: HeadsChosen, tokens: tuple[str, ...], x: Tensor, module: MultiHeadAttention, **others: Any
) -> HeadsTrace:
    """The way of these vectors through these heads, which have the dropout that is chosen."""
    module = replace(module, dropout=chosen.dropout)
    d_k, n_heads = module.W_q.shape[-1] // module.n_heads, module.n_heads
    scale = scale_of_heads(d_k, example.scaling)
    inputs = inputs_of_module(module, x, example.may_attend(len(tokens)), scale, others.get("added"))
    said = names_of_heads(names(tokens), inputs, n_heads, d_k, module.d_head)
    computation = Computation(many_heads, inputs, said)
    return HeadsTrace(example=example, chosen=chosen, tokens=tokens, computation=computation, module=module, **others)


def scale_of_heads(d_k: int, scaling: bool = True) -> float:
    """What the scores are multiplied by, as a reader knows it."""
    return Written(d_k**-0.5, f"1 ÷ √{d_k}") if scaling else 1.0


def whose_heads(trace: SideBySide) -> Message:
    """What made the numbers of these heads: training, or chance."""
    if trace.trained is not None:
        return trace.trained.origin()
    if trace.module is not None:
        return message("Untrained: random weights (seed {seed}).", seed=trace.seed)
    return message("Random queries, keys and values (seed {seed}).", seed=trace.seed)


class HeadsSource(ABC):
    """One place that several heads can come from; its sizes may be `fixed`."""

    title: Message
    fixed = False
    projects = True  # queries, keys and values are made of X

    def taken(self, example: Example, chosen: HeadsChosen) -> Example:
        """What it takes of the running example: all but the numbers changed by hand.

        A model that is trained with the sizes of an example is trained with those that are chosen here.
        """
        return example.given_by.resized(replace(example, edits=()), chosen.d_model, chosen.n_heads)

    @abstractmethod
    def side_by_side(self, taken: Example, chosen: HeadsChosen) -> SideBySide:
        """Everything that follows from what was taken and chosen."""


class RunningExample(HeadsSource):
    """The tokens of the running example, and the heads of its model; random ones where it has none."""

    title = message("The running example")

    def side_by_side(self, taken: Example, chosen: HeadsChosen) -> HeadsTrace:
        """What enters a layer of a model, and that layer's heads; or a row of an embedding table for each token.

        As in the running example, the table has a stream of its own.
        """
        trace = run_example(taken)
        example, x = trace.example, trace.x
        module = example.given_by.attention(example)
        if module is None:
            table = embedding_table(max(trace.ids) + 1, chosen.d_model, generator(example.seed, "embedding"))
            x, module = embed(torch.tensor(trace.ids), table), draw_module(chosen, generator(example.seed))
        return through_heads(example, chosen, trace.tokens, x, module, trained=trace.trained, added=trace.added)


@dataclass(frozen=True, eq=False, kw_only=True)
class Notebook(HeadsSource):
    """What a notebook fixes: tokens, sizes, bias and seed. Its `vectors` come first in the stream of random numbers.

    After them it draws some modules that are not shown, then the one that is: its own, or PyTorch's (`built_in`).
    """

    title: Message
    tokens: tuple[str, ...]
    d_model: int
    n_heads: int
    bias: bool = False
    vectors: Any = None  # what draws them, of the notebook and its stream; None for a wide one
    modules_before: int = 0
    built_in: bool = False

    fixed = True

    def taken(self, example: Example, chosen: HeadsChosen) -> Example:
        """Its mask and scaling alone, with the notebook's seed."""
        return Example(seed=NOTEBOOK_SEED, causal=example.causal, scaling=example.scaling)

    def side_by_side(self, taken: Example, chosen: HeadsChosen) -> SideBySide:
        """The way of its vectors through its heads."""
        return through_heads(taken, chosen, self.tokens, *self.tensors)

    @cached_property
    def tensors(self) -> DrawnHeads:
        """Drawn once: the wide maps are a million numbers. Shared by all: never change it."""
        random = generator(NOTEBOOK_SEED)
        x = self.vectors(self, random)
        for _ in range(self.modules_before):
            draw_module(self, random)
        return x, draw_builtin(self, random) if self.built_in else draw_module(self, random)


class WideNotebook(Notebook):
    """One whose vectors come after its module."""

    @cached_property
    def tensors(self) -> DrawnHeads:
        """The notebook's tensors, drawn once."""
        return wide_tensors(self, generator(NOTEBOOK_SEED))


class DrawnSentences(Notebook):
    """Two sentences, whose queries, keys and values are drawn and not projected."""

    projects = False

    def side_by_side(self, taken: Example, chosen: HeadsChosen) -> SideBySide:
        """To attention, sentences are what heads are."""
        random, sizes = generator(NOTEBOOK_SEED), (self.n_heads, len(self.tokens), self.d_model)
        q, k, v = (torch.randn(sizes, generator=random) for _ in "qkv")
        scale = scale_of_heads(self.d_model, taken.scaling)
        inputs = {"q": q, "k": k, "v": v, "may_attend": taken.may_attend(sizes[1]), "scale": scale}
        said = names_of_heads(names(self.tokens), inputs, self.n_heads, self.d_model, self.d_model, "sentence")
        computation = Computation(attend_and_join, inputs, said)
        return SideBySide(example=taken, chosen=chosen, tokens=self.tokens, computation=computation, noun="sentence")


def journey_twice(notebook: Notebook, random: torch.Generator) -> Float[Tensor, "tokens d_model"]:
    """The six vectors of the sentence, of 3 numbers each, each written twice side by side."""
    return torch.tensor(JOURNEY_X).repeat(1, 2)


def rows_of_modules(notebook: Notebook, random: torch.Generator) -> Float[Tensor, "tokens d_model"]:
    """Rows of a table of 50; after it come the three maps of a single head."""
    table = torch.randn(50, notebook.d_model, generator=random)
    for _ in "qkv":
        draw_linear(notebook.d_model, 6, bias=False, generator=random)
    return embed(torch.tensor(PRESETS["modules"].ids), table)


def draw_builtin(notebook: Notebook, random: torch.Generator) -> MultiHeadAttention:
    """The heads of nn.MultiheadAttention without bias, whose weights come next in the stream."""
    W_o, packed = draw_pytorch_maps(notebook.d_model, bias=False, random=random)
    W_q, W_k, W_v = (W.T.contiguous() for W in packed.chunk(3))
    return MultiHeadAttention(W_q=W_q, W_k=W_k, W_v=W_v, W_o=W_o, n_heads=notebook.n_heads)


def draw_pytorch_maps(d_model: int, *, bias: bool, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """What nn.MultiheadAttention draws: W_o first, then W_q, W_k and W_v packed below each other and transposed.

    The packed map is uniform in a range of its own (Xavier), as if it were a single layer with 3 × d_model outputs.
    """
    W_o, _ = draw_linear(d_model, d_model, bias=bias, generator=random)
    return W_o, torch.nn.init.xavier_uniform_(torch.empty(3 * d_model, d_model), generator=random)


def wide_tensors(wide: Notebook, random: torch.Generator) -> DrawnHeads:
    """Queries, keys and values that are only drawn come first, then the module, then two sentences: one is kept."""
    for _ in "qkv":
        torch.randn(2, 4, 8, generator=random)
    module = draw_module(wide, random)
    return torch.randn(2, len(wide.tokens), wide.d_model, generator=random)[0], module


def planted_vectors(notebook: Notebook, random: torch.Generator) -> Float[Tensor, "tokens d_model"]:
    """After the wide module PyTorch's own is drawn, then vectors in which two pairs of tokens are made alike."""
    wide_tensors(WIDE, random)
    draw_pytorch_maps(WIDE.d_model, bias=True, random=random)
    x = torch.randn(len(notebook.tokens), notebook.d_model, generator=random)
    x[1] += 0.5 * x[4]
    x[2] += 0.5 * x[5]
    return x


def draw_module(sizes: Notebook | HeadsChosen, random: torch.Generator) -> MultiHeadAttention:
    """The module with these sizes; its weights come next in the stream."""
    return MultiHeadAttention.draw(sizes.d_model, sizes.n_heads, bias=sizes.bias, generator=random)


NUMBERED = tuple(f"token {number}" for number in range(1, 11))  # tokens that have no name
OF_JOURNEY = {"tokens": JOURNEY_TOKENS, "d_model": 6, "n_heads": 2}
OF_MODULES = {"tokens": PRESETS["modules"].tokens, "d_model": 8, "n_heads": 2}
WIDE = WideNotebook(
    title=message("512 features, 8 heads"),
    tokens=NUMBERED,
    d_model=512,
    n_heads=8,
    bias=True,
)
HEADS_PRESETS: dict[str, HeadsSource] = {
    "sentence": RunningExample(),
    "journey": Notebook(
        title=message("Your journey, twice over"),
        vectors=journey_twice,
        **OF_JOURNEY,
    ),
    "journey_builtin": Notebook(
        title=message("Your journey, built-in"), vectors=journey_twice, modules_before=1, built_in=True, **OF_JOURNEY
    ),
    "modules": Notebook(
        title=message("The cat sat down, 2 heads"),
        vectors=rows_of_modules,
        **OF_MODULES,
    ),
    "modules_builtin": Notebook(
        title=message("The cat sat down, built-in"),
        vectors=rows_of_modules,
        modules_before=2,
        built_in=True,
        **OF_MODULES,
    ),
    "wide": WIDE,
    "planted": Notebook(
        title=message("The mat, 64 features"),
        vectors=planted_vectors,
        tokens=PRESETS["mat"].tokens or (),
        d_model=64,
        n_heads=4,
        bias=True,
    ),
    "drawn": DrawnSentences(
        title=message("Two sentences at once"),
        tokens=NUMBERED[:4],
        d_model=8,
        n_heads=2,
    ),
}


def divisors(d_model: int) -> tuple[int, ...]:
    """The numbers of heads that can share so many features evenly."""
    return tuple(n for n in range(1, d_model + 1) if d_model % n == 0)


def nearest_divisor(d_model: int, n_heads: int) -> int:
    """The number of heads nearest to this one that can share the features; the smaller of two."""
    return min(divisors(d_model), key=lambda n: (abs(n - n_heads), n))


def home_of(feature: int, d_head: int) -> tuple[int, int]:
    """The head in which a feature lives after the split, and its place there; all counted from 0."""
    return divmod(feature, d_head)


def shown_features(features: int, n_heads: int, most: int = MOST_FEATURES) -> list[int]:
    """The features that a figure shows: all where they are few, else about `most`, the first ones of each head."""
    if features <= MOST_FEATURES:
        return list(range(features))
    d_head = max(1, features // n_heads)
    each = min(d_head, max(1, most // n_heads))
    shown = [head * d_head + place for head in range(n_heads) for place in range(each)]
    return [feature for feature in shown if feature < features]


# Dropout.


def in_training(trace: SideBySide, kept: Float[Tensor, "heads queries keys"] | None = None) -> Computation:
    """The heads in training mode: some weights are kept, drawn from the seed if not given, and the others dropped."""
    p = trace.chosen.dropout
    if kept is None:
        kept = draw_kept(trace.heads.weights, p, generator(trace.seed, "dropout"))
    return replace(trace.computation, inputs={**trace.computation.inputs, "kept": kept, "p": p})
