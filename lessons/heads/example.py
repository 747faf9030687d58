"""Several heads on one sentence: what the lesson on heads computes.

Reading order: what can be chosen (`HeadsExample`), what follows from it (`run_heads`), where the notebooks'
tensors come from (`HEADS_PRESETS`), which features a figure shows, and what dropout does.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import embed, embedding_table
from attention_core.heads import MultiHeadAttention, draw_kept
from attention_core.masks import causal_mask
from attention_core.randomness import MAX_SEED, draw_linear, generator
from attention_core.traced import Written
from lessons.example.example import Example, ExampleTrace, Limit, run_example
from lessons.example.presets import JOURNEY_TOKENS, JOURNEY_X
from lessons.example.source import MAX_TOKENS, TrainedLayer, projected
from lessons.heads.compute import attend_and_join, inputs_of_module, many_heads, names_of_heads
from lessons.screen.format import names
from lessons.screen.message import Message, message
from lessons.trace.computation import Computation

HeadsSource = Literal[
    "sentence", "journey", "journey_builtin", "modules", "modules_builtin", "wide", "planted", "drawn"
]

HEADS_LIMITS = {"d_model": Limit(1, 16), "seed": Limit(0, MAX_SEED), "dropout_percent": Limit(0, 90)}
MOST_FEATURES = 16  # of a wide matrix, this many are shown
DRAWN = (2, 4, 8)  # sentences, tokens, features


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
    learnt: Example | None = None  # the running example, where that is a model: a task's is trained with these sizes

    def __post_init__(self):
        if self.source not in HEADS_PRESETS:
            raise ValueError(f"source is one of {', '.join(HEADS_PRESETS)}, but got {self.source}")
        if not 1 <= len(self.tokens) == len(self.ids) <= MAX_TOKENS:
            raise ValueError(
                f"a sentence has 1 to {MAX_TOKENS} tokens and an id for each, "
                f"but there are {len(self.tokens)} tokens and {len(self.ids)} ids"
            )
        most = HEADS_LIMITS["d_model"].most
        own = self.source == "sentence" and not (self.learnt and self.learnt.given_by.brings_sizes)
        if own and not 1 <= self.d_model <= most:
            raise ValueError(f"d_model goes from 1 to {most}, but got {self.d_model}")


def heads_example(running: ExampleTrace, source: HeadsSource, **choices: int | float) -> HeadsExample:
    """The running example's tokens, seed, mask and scaling, with this lesson's own choices."""
    example = running.example
    taken = {"seed": example.seed, "causal": example.causal, "scaling": example.scaling}
    if running.trained is not None and source == "sentence":
        choices |= {"learnt": replace(example, edits=()), "bias": False}  # the models that are trained have none
        if example.given_by.brings_sizes:
            choices |= {"d_model": example.d_model, "n_heads": example.n_heads}
    return HeadsExample(source=source, tokens=running.tokens, ids=running.ids, **(taken | choices))


@dataclass(frozen=True, eq=False, kw_only=True)
class SideBySide:
    """Several attentions that were computed at once, as `computation` says. `heads` has their axis first.

    `noun` says what they are: heads, or the sentences of a batch; to attention they are the same.
    """

    example: HeadsExample
    tokens: tuple[str, ...]
    computation: Computation
    scale: float
    noun: Literal["head", "sentence"] = "head"
    trained: TrainedLayer | None = None

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
    x: Float[Tensor, "tokens d_model"]
    added: Float[Tensor, "tokens d_model"] | None = None

    q = property(lambda self: self.computation.result.q)
    k = property(lambda self: self.computation.result.k)
    v = property(lambda self: self.computation.result.v)
    concatenated = property(lambda self: self.computation.result.concatenated)
    output = property(lambda self: self.computation.result.output)

    @property
    def usual_sizes(self) -> bool:
        """True where queries, keys and values of all heads together have as many features as a token."""
        return self.n_heads * self.d_head == self.n_heads * self.d_value == self.x.shape[-1]


@functools.lru_cache(maxsize=8)
def run_heads(example: HeadsExample) -> SideBySide:
    """Compute the example with dropout at rest; the example in the trace has the sizes that were used.

    The last few are kept, for all visitors: never change one.
    """
    preset = HEADS_PRESETS[example.source]
    example = replace(example, **preset.fixed)
    may_attend = causal_mask(len(example.tokens)) if example.causal else None
    if example.source == "drawn":
        return drawn_side_by_side(example, may_attend)
    x, module = tensors_of_heads(example)
    model = None if example.learnt is None else run_example(model_of_heads(example))
    trained, added = (None, None) if model is None else (model.trained, model.added)
    d_k, n_heads = module.W_q.shape[-1] // module.n_heads, module.n_heads
    scale = scale_of_heads(d_k, example)
    inputs = inputs_of_module(module, x, may_attend, scale, added)
    said = names_of_heads(names(example.tokens), inputs, n_heads, d_k, module.d_head)
    return HeadsTrace(
        example=example,
        tokens=example.tokens,
        computation=Computation(many_heads, inputs, said),
        scale=scale,
        module=module,
        x=x,
        trained=trained,
        added=added,
    )


def scale_of_heads(d_k: int, example: HeadsExample) -> float:
    """What the scores are multiplied by, as a reader knows it."""
    return Written(d_k**-0.5, f"1 ÷ √{d_k}") if example.scaling else 1.0


def whose_heads(trace: SideBySide) -> Message:
    """What made the numbers of these heads: training, or chance."""
    if trace.trained is not None:
        return trace.trained.origin()
    if isinstance(trace, HeadsTrace):
        return message("Untrained: random weights (seed {seed}).", seed=trace.example.seed)
    return message("Random queries, keys and values (seed {seed}).", seed=trace.example.seed)


def n_attentions(example: HeadsExample) -> int:
    """How many attentions this example has: its heads, or the sentences that were drawn."""
    preset = HEADS_PRESETS[example.source]
    return preset.fixed.get("n_heads", example.n_heads) if preset.draw else DRAWN[0]


def drawn_side_by_side(example: HeadsExample, may_attend: Tensor | None) -> SideBySide:
    """Two sentences of 4 tokens, whose queries, keys and values of 8 features are drawn and not projected."""
    random = generator(example.seed)
    q, k, v = (torch.randn(DRAWN, generator=random) for _ in "qkv")
    scale = scale_of_heads(DRAWN[-1], example)
    inputs = {"q": q, "k": k, "v": v, "may_attend": may_attend, "scale": scale}
    said = names_of_heads(names(example.tokens), inputs, DRAWN[0], DRAWN[-1], DRAWN[-1], "sentence")
    computation = Computation(attend_and_join, inputs, said)
    return SideBySide(example=example, tokens=example.tokens, computation=computation, scale=scale, noun="sentence")


NOTEBOOK_SEED = 42  # with which all notebooks begin
WIDE_TOKENS = 10
DrawnHeads = tuple[Float[Tensor, "tokens d_model"], MultiHeadAttention]


def tensors_of_heads(example: HeadsExample) -> DrawnHeads:
    """The vectors and the module. What a notebook fixes is the same for all; only the dropout is each learner's own."""
    preset = HEADS_PRESETS[example.source]
    if not preset.fixed:
        return preset.draw(example)
    x, shared = notebook_tensors(example.source)
    return x, replace(shared, dropout=example.dropout)


@functools.cache
def notebook_tensors(source: HeadsSource) -> DrawnHeads:
    """What a notebook fixes, drawn once: the wide maps are a million numbers. Shared by all: never change it."""
    preset = HEADS_PRESETS[source]
    return preset.draw(HeadsExample(source=source, **preset.fixed))


def draw_sentence_heads(example: HeadsExample) -> DrawnHeads:
    """A row of an embedding table for each token, as in the running example; the module has a stream of its own.

    Or what enters a layer of a model, and that layer's heads.
    """
    if example.learnt is not None:
        sized = model_of_heads(example)
        heads = projected(sized.given_by.model(sized).layers[sized.layer - 1].attention)
        return run_example(sized).x, replace(heads, dropout=example.dropout)
    table = embedding_table(max(example.ids) + 1, example.d_model, generator(example.seed, "embedding"))
    return embed(torch.tensor(example.ids), table), draw_module(example, generator(example.seed))


def model_of_heads(example: HeadsExample) -> Example:
    """The running example's model with the sizes of this lesson: d_k and d_v are d_model divided by the heads.

    A model that brings its sizes keeps them.
    """
    if example.learnt.given_by.brings_sizes:
        return example.learnt
    d_head = example.d_model // example.n_heads
    return replace(example.learnt, d_model=example.d_model, d_k=d_head, d_v=d_head, n_heads=example.n_heads)


def draw_journey_heads(example: HeadsExample) -> DrawnHeads:
    """The six vectors of 3 numbers, each written twice side by side."""
    return journey_twice(), draw_module(example, generator(example.seed))


def journey_twice() -> Float[Tensor, "tokens d_model"]:
    """The six vectors of the sentence, each written twice side by side."""
    x = torch.tensor(JOURNEY_X)
    return torch.cat([x, x], dim=-1)


def draw_journey_builtin(example: HeadsExample) -> DrawnHeads:
    """PyTorch's own module comes after the notebook's in the stream."""
    random = generator(example.seed)
    draw_module(example, random)
    return journey_twice(), draw_builtin(example, random)


def draw_modules_heads(example: HeadsExample) -> DrawnHeads:
    """The vectors and the notebook's own module."""
    x, random = modules_stream(example)
    return x, draw_module(example, random)


def draw_modules_builtin(example: HeadsExample) -> DrawnHeads:
    """Two modules come before PyTorch's own in the stream: the one that is shown and the one that is trained."""
    x, random = modules_stream(example)
    for _ in ("shown", "trained"):
        draw_module(example, random)
    return x, draw_builtin(example, random)


def modules_stream(example: HeadsExample) -> tuple[Float[Tensor, "tokens d_model"], torch.Generator]:
    """The vectors, and the generator that drew them: a table of 50 rows, then the three maps of a single head."""
    random = generator(example.seed)
    table = torch.randn(50, example.d_model, generator=random)
    for _ in "qkv":
        draw_linear(example.d_model, 6, bias=False, generator=random)
    return embed(torch.tensor(example.ids), table), random


def draw_builtin(example: HeadsExample, random: torch.Generator) -> MultiHeadAttention:
    """The heads of nn.MultiheadAttention without bias, whose weights come next in the stream."""
    W_o, packed = draw_pytorch_maps(example.d_model, bias=False, random=random)
    W_q, W_k, W_v = (W.T.contiguous() for W in packed.chunk(3))
    return MultiHeadAttention(W_q=W_q, W_k=W_k, W_v=W_v, W_o=W_o, n_heads=example.n_heads, dropout=example.dropout)


def draw_pytorch_maps(d_model: int, *, bias: bool, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """What nn.MultiheadAttention draws: W_o first, then W_q, W_k and W_v packed below each other and transposed.

    The packed map is uniform in a range of its own (Xavier), as if it were a single layer with 3 × d_model outputs.
    """
    W_o, _ = draw_linear(d_model, d_model, bias=bias, generator=random)
    return W_o, torch.nn.init.xavier_uniform_(torch.empty(3 * d_model, d_model), generator=random)


def planted_heads(n_tokens: int, dropout: float, seed: int) -> DrawnHeads:
    """After the wide module PyTorch's own is drawn, then vectors in which two pairs of tokens are made alike."""
    _, _, random = wide_stream(WIDE_TOKENS, dropout, seed)
    draw_pytorch_maps(512, bias=True, random=random)
    x = torch.randn(n_tokens, 64, generator=random)
    x[1] += 0.5 * x[4]
    x[2] += 0.5 * x[5]
    return x, MultiHeadAttention.draw(64, 4, bias=True, dropout=dropout, generator=random)


def wide_heads(n_tokens: int, dropout: float, seed: int) -> DrawnHeads:
    """The vectors and the module of the wide preset."""
    return wide_stream(n_tokens, dropout, seed)[:2]


def wide_stream(n_tokens: int, dropout: float, seed: int) -> tuple[Tensor, MultiHeadAttention, torch.Generator]:
    """The vectors and the module of the wide preset, and the generator that drew them.

    The drawn queries, keys and values come first, then the module, then two sentences, of which one is kept.
    """
    random = generator(seed)
    for _ in "qkv":
        torch.randn(2, 4, 8, generator=random)
    module = MultiHeadAttention.draw(512, 8, bias=True, dropout=dropout, generator=random)
    return torch.randn(2, n_tokens, 512, generator=random)[0], module, random


def draw_module(example: HeadsExample, random: torch.Generator) -> MultiHeadAttention:
    """The module with the sizes of the example; its weights come next in the stream."""
    sizes = {"bias": example.bias, "dropout": example.dropout}
    return MultiHeadAttention.draw(example.d_model, example.n_heads, **sizes, generator=random)


@dataclass(frozen=True, kw_only=True)
class HeadsPreset:
    """One source of the example. `fixed` holds the choices that a notebook makes, named as in `HeadsExample`."""

    title: Message
    fixed: dict[str, object]
    draw: Callable[[HeadsExample], DrawnHeads] | None = None
    remark: Message | str = ""


def fixed_by_notebook(
    *tokens: str, d_model: int, n_heads: int, bias: bool, ids: tuple[int, ...] | None = None
) -> dict[str, object]:
    """What a notebook fixes, named as in `HeadsExample`."""
    sizes = {"d_model": d_model, "n_heads": n_heads, "bias": bias, "seed": NOTEBOOK_SEED}
    return {"tokens": tokens, "ids": ids or tuple(range(len(tokens)))} | sizes


BUILT_IN = message("The weights are those that nn.MultiheadAttention draws. The notebook uses no mask here.")
JOURNEY_FIXED = fixed_by_notebook(*JOURNEY_TOKENS, d_model=6, n_heads=2, bias=False)
MODULES_FIXED = fixed_by_notebook("The", "cat", "sat", "down", ids=(5, 12, 31, 7), d_model=8, n_heads=2, bias=False)
HEADS_PRESETS: dict[str, HeadsPreset] = {
    "sentence": HeadsPreset(title=message("The running example"), fixed={}, draw=draw_sentence_heads),
    "journey": HeadsPreset(
        title=message("Your journey, twice over"),
        fixed=JOURNEY_FIXED,
        draw=draw_journey_heads,
        remark=message("The notebook shows it without the mask, then with it."),
    ),
    "journey_builtin": HeadsPreset(
        title=message("Your journey, built-in"),
        draw=draw_journey_builtin,
        remark=BUILT_IN,
        fixed=JOURNEY_FIXED,
    ),
    "modules": HeadsPreset(
        title=message("The cat sat down, 2 heads"),
        draw=draw_modules_heads,
        remark=message("The notebook uses no mask here."),
        fixed=MODULES_FIXED,
    ),
    "modules_builtin": HeadsPreset(
        title=message("The cat sat down, built-in"), draw=draw_modules_builtin, remark=BUILT_IN, fixed=MODULES_FIXED
    ),
    "wide": HeadsPreset(
        title=message("512 features, 8 heads"),
        draw=lambda example: wide_heads(len(example.tokens), example.dropout, example.seed),
        fixed=fixed_by_notebook(*map("token {}".format, range(1, WIDE_TOKENS + 1)), d_model=512, n_heads=8, bias=True),
        remark=message("These are the sizes of the first transformer. The notebook uses no mask here."),
    ),
    "planted": HeadsPreset(
        title=message("The mat, 64 features"),
        draw=lambda example: planted_heads(len(example.tokens), example.dropout, example.seed),
        fixed=fixed_by_notebook("The", "cat", "sat", "on", "the", "mat", d_model=64, n_heads=4, bias=True),
        remark=message(
            "“cat” is made like “the”, and “sat” like “mat”. The notebook shows it without the mask, then with it."
        ),
    ),
    "drawn": HeadsPreset(
        title=message("Two sentences at once"),
        fixed=fixed_by_notebook(*map("token {}".format, range(1, 5)), d_model=8, n_heads=1, bias=False),
        remark=message(
            "Q, K and V are drawn, not projected. To attention, sentences and heads are alike. No mask there."
        ),
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
    """Those of so many that a figure shows: all where they are few, else about `most`, the first ones of each head."""
    if features <= MOST_FEATURES:
        return list(range(features))
    d_head = max(1, features // n_heads)
    each = min(d_head, max(1, most // n_heads))
    shown = [head * d_head + place for head in range(n_heads) for place in range(each)]
    return [feature for feature in shown if feature < features]


# Dropout.


def in_training(trace: SideBySide, kept: Float[Tensor, "heads queries keys"] | None = None) -> Computation:
    """The same in training mode: the weights that are kept, drawn from the seed if not given, and others dropped."""
    p = trace.example.dropout
    if kept is None:
        kept = draw_kept(trace.heads.weights, p, generator(trace.example.seed, "dropout"))
    return replace(trace.computation, inputs={**trace.computation.inputs, "kept": kept, "p": p})


def dropped_out(trace: SideBySide) -> AttentionTrace:
    """The heads in training mode: each weight dropped with the chosen probability, the others enlarged."""
    return in_training(trace).result.dropped
