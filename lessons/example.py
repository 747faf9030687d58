"""The running example: a few choices from which everything on the lesson pages is computed.

Reading order: what can be chosen (`Example`), where tokens and numbers come from (`PRESETS`, one record for
each source, at the end), and what follows from them (`run_example`).
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.embeddings import embed, embedding_table
from attention_core.heads import split_heads
from attention_core.masks import causal_mask
from attention_core.randomness import MAX_SEED, generator
from attention_core.tokens import Unit, Vocabulary, clean_text, tokenize
from lessons.edits import LETTER_OF, Edits, apply_edits, waiting_notes
from lessons.formatting import names
from lessons.sentence import Sentence, Token, say

Source = Literal["journey", "search", "mat", "batch", "modules", "sentence"]
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
    "d_model": Limit(1, 12), "d_k": Limit(1, 8), "d_v": Limit(1, 8), "n_heads": Limit(1, 4),
    "seed": Limit(0, MAX_SEED), "sentence_of_batch": Limit(1, 2),
}  # fmt: skip

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
    """What the learner chose. Raises ValueError for a source there is not, and for a size outside its limits.

    `source` names one of the `PRESETS`: an example of a notebook, or a sentence of one's own, whose
    vectors are drawn from the seed. Some notebooks fix all sizes; what is chosen here then has no effect,
    and those sizes may lie outside the limits. `sentence_of_batch` counts from 1 and matters to “batch” only.
    `edits` are numbers set by hand in the place of those drawn; they stay when anything else is chosen anew.
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
    sentence_of_batch: int = 1
    edits: Edits = ()

    def __post_init__(self):
        if self.source not in PRESETS:
            raise ValueError(f"source is one of {', '.join(PRESETS)}, but got {self.source}")
        fixed = PRESETS[self.source].fixed
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if not limit.least <= value <= limit.most and value != getattr(fixed, name, None):
                raise ValueError(f"{name} goes from {limit.least} to {limit.most}, but got {value}")


@dataclass(frozen=True, eq=False)
class Drawn:
    """What attention starts from: one row of x for each token, and three maps, to be used as x @ W."""

    x: Float[Tensor, "tokens d_model"]
    W_q: Float[Tensor, "d_model all_d_k"]
    W_k: Float[Tensor, "d_model all_d_k"]
    W_v: Float[Tensor, "d_model all_d_v"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ExampleTrace(Drawn):
    """Everything that follows from an example, in the order in which it is computed.

    `heads` has the axis of the heads first, also when there is one head. `notes` are sentences
    about what had to be changed in the text to make it fit, and about edits that find no place.
    """

    example: Example
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    scale: float
    heads: AttentionTrace
    notes: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return names(self.tokens)


def projection_of(trace: ExampleTrace, role: str, head: int) -> Float[Tensor, "d_model d_head"]:
    """The columns of W_q, W_k or W_v (role "q", "k" or "v") that belong to one head."""
    packed = getattr(trace, f"W_{role}")
    return packed.unflatten(-1, (trace.heads.q.shape[0], -1))[:, head]


def whose_weights(trace: ExampleTrace) -> Sentence:
    """What made the weights of this example: chance, and where there are some, the learner's edits."""
    if trace.example.edits:
        return say("Untrained: random weights (seed {seed}), some of them changed by hand.", seed=trace.example.seed)
    return say("Untrained: random weights (seed {seed}).", seed=trace.example.seed)


def whose_vectors(trace: ExampleTrace) -> Sentence | None:
    """What made the rows of X, where no notebook wrote them down."""
    if trace.example.source == "journey":
        return None
    if any(edit.matrix == "x" for edit in trace.example.edits):
        return say("Untrained: random vectors (seed {seed}), some of them changed by hand.", seed=trace.example.seed)
    return say("Untrained: random vectors (seed {seed}).", seed=trace.example.seed)


def run_example(example: Example) -> ExampleTrace:
    """Compute the whole example: tokens, vectors, projections and attention.

    The example in the trace has the sizes that were used: those of the notebook where it fixes them.
    """
    preset = PRESETS[example.source]
    example = replace(example, **asdict(preset.fixed)) if preset.fixed else example
    tokens, notes = (preset.tokens, ()) if preset.tokens else sentence_tokens(example)
    ids = preset.ids or tuple(Vocabulary.in_order_of_appearance(tokens).encode(tokens))
    drawn, waiting = with_edits(preset.draw(example, ids), example.edits, ids)
    q, k, v = (split_heads(drawn.x @ W, example.n_heads) for W in (drawn.W_q, drawn.W_k, drawn.W_v))
    may_attend = causal_mask(len(tokens)) if example.causal else None
    scale = 1 / math.sqrt(example.d_k) if example.scaling else 1.0
    heads = attend(q, k, v, may_attend, scale=scale)
    return ExampleTrace(
        **vars(drawn), example=example, tokens=tokens, ids=ids, scale=scale, heads=heads, notes=(*notes, *waiting)
    )


def unedited(trace: ExampleTrace) -> ExampleTrace:
    """The same example without the numbers changed by hand."""
    return run_example(replace(trace.example, edits=())) if trace.example.edits else trace


def sentence_tokens(example: Example) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The learner's tokens, at most MAX_TOKENS, and notes on what was changed. There is always at least one."""
    clean = clean_text(example.text)
    tokens, notes = tokenize(clean.text, example.unit), list(clean.notes)
    if not tokens:
        notes.append(f"There is no word to show yet: type a sentence. Until then this is “{DEFAULT_SENTENCE}”.")
        tokens = tokenize(DEFAULT_SENTENCE, example.unit)
    elif len(tokens) > MAX_TOKENS:
        notes.append(f"The picture shows the first {MAX_TOKENS} tokens, so that every number can be read.")
    return tuple(tokens[:MAX_TOKENS]), tuple(notes)


def with_edits(drawn: Drawn, edits: Edits, ids: tuple[int, ...]) -> tuple[Drawn, tuple[str, ...]]:
    """The numbers set by hand in the place of those drawn, and notes on those that find no place."""
    if not edits:
        return drawn, ()
    matrices = {name: getattr(drawn, name) for name in LETTER_OF}
    return Drawn(**apply_edits(matrices, edits, ids)), waiting_notes(matrices, edits)


def draw_journey(example: Example, ids: tuple[int, ...]) -> Drawn:
    """Six fixed vectors of 3 numbers; W_q, W_k, W_v from the seed."""
    return Drawn(torch.tensor(JOURNEY_X), *draw_maps(example, len(JOURNEY_X[0]), generator(example.seed)))


def draw_sentence(example: Example, ids: tuple[int, ...]) -> Drawn:
    """A row of the embedding table for each token; the maps have a stream of their own."""
    table = embedding_table(max(ids) + 1, example.d_model, generator(example.seed, "embedding"))
    return Drawn(embed(torch.tensor(ids), table), *draw_maps(example, example.d_model, generator(example.seed)))


def draw_with_numpy(example: Example, ids: tuple[int, ...]) -> Drawn:
    """NumPy's normal numbers from one stream: X, then W_q, W_k, W_v, each a tenth as large."""
    random = np.random.RandomState(example.seed)
    x = random.standard_normal((len(ids), example.d_model))
    widths = (example.d_k, example.d_k, example.d_v)
    maps = [random.standard_normal((example.d_model, width)) * 0.1 for width in widths]
    return Drawn(*(torch.tensor(array, dtype=torch.float32) for array in (x, *maps)))


def draw_batch(example: Example, ids: tuple[int, ...]) -> Drawn:
    """Two sentences at once, of which one is kept; then the maps in the notebook's order: key, query, value."""
    random = generator(example.seed)
    batch = torch.randn(LIMITS["sentence_of_batch"].most, len(ids), example.d_model, generator=random)
    W_k, W_q, W_v = draw_maps(example, example.d_model, random)
    return Drawn(batch[example.sentence_of_batch - 1], W_q, W_k, W_v)


def draw_modules(example: Example, ids: tuple[int, ...]) -> Drawn:
    """An embedding table of 50 rows, of which the tokens use four; then W_q, W_k, W_v from the same stream."""
    random = generator(example.seed)
    table = torch.randn(50, example.d_model, generator=random)
    return Drawn(embed(torch.tensor(ids), table), *draw_maps(example, example.d_model, random))


def draw_maps(example: Example, d_model: int, random: torch.Generator) -> list[Tensor]:
    """Two maps to all d_k features of all heads and one to all d_v, in this order."""
    widths = (example.n_heads * width for width in (example.d_k, example.d_k, example.d_v))
    return [draw_weight(example.weight_kind, d_model, width, random) for width in widths]


def draw_weight(kind: WeightKind, d_in: int, d_out: int, random: torch.Generator) -> Float[Tensor, "d_in d_out"]:
    """A weight matrix, to be used as x @ W: standard normal, a tenth of that, or `nn.Linear`'s default.

    `nn.Linear` draws uniformly between ±1/√d_in and stores the transposed matrix.
    """
    if kind == "linear":
        bound = 1 / math.sqrt(d_in)
        return torch.empty(d_out, d_in).uniform_(-bound, bound, generator=random).T
    return torch.randn(d_in, d_out, generator=random) * (0.1 if kind == "small" else 1.0)


@dataclass(frozen=True, kw_only=True)
class FixedSizes:
    """The choices that a notebook makes for the learner; named as in `Example`."""

    d_model: int
    d_k: int
    d_v: int
    n_heads: int = 1
    seed: int
    weight_kind: WeightKind


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One source of the running example.

    `tokens` is None where the learner types them; `ids` is None where they follow from the tokens.
    `fixed` is None where the learner chooses the sizes. `draw` makes vectors and maps from an example
    with its true sizes and the ids of its tokens. `remark` says how the notebook sets the mask.
    """

    key: Source
    title: str
    tokens: tuple[str, ...] | None
    ids: tuple[int, ...] | None = None
    fixed: FixedSizes | None = None
    draw: Callable[[Example, tuple[int, ...]], Drawn]
    remark: str = ""


EVERY_PRESET = (
    Preset(key="journey", title="Your journey starts with one step", tokens=JOURNEY_TOKENS, draw=draw_journey),
    Preset(key="search", title="Four positions that search", draw=draw_with_numpy, remark="The notebook uses no mask.",
           tokens=("position 0", "position 1", "position 2", "position 3"),
           fixed=FixedSizes(d_model=8, d_k=8, d_v=8, seed=42, weight_kind="small")),
    Preset(key="mat", title="The cat sat on the mat", draw=draw_with_numpy, remark="The notebook uses no mask.",
           tokens=("The", "cat", "sat", "on", "the", "mat"),
           fixed=FixedSizes(d_model=16, d_k=16, d_v=16, seed=123, weight_kind="small")),
    Preset(key="batch", title="A batch of two sentences", draw=draw_batch, remark="The notebook uses the causal mask.",
           tokens=("token 1", "token 2", "token 3", "token 4"),
           fixed=FixedSizes(d_model=8, d_k=8, d_v=8, seed=1337, weight_kind="linear")),
    Preset(key="modules", title="The cat sat down", tokens=("The", "cat", "sat", "down"), ids=(5, 12, 31, 7),
           fixed=FixedSizes(d_model=8, d_k=6, d_v=6, seed=42, weight_kind="linear"), draw=draw_modules,
           remark="The notebook shows it without the mask, then with it."),
    Preset(key="sentence", title="A sentence of your own", tokens=None, draw=draw_sentence))  # fmt: skip
PRESETS: dict[str, Preset] = {preset.key: preset for preset in EVERY_PRESET}
