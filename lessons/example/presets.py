"""Where the tokens and numbers of a running example with random weights come from: notebooks, or a sentence's seed.

Reading order: how each source draws, what they have in common (`Preset`), and one record for each (`PRESETS`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.errors import Phrase
from attention_core.base.randomness import generator
from attention_core.text.embeddings import embed, embedding_table
from attention_core.text.tokens import Vocabulary, clean_text, tokenize
from lessons.example.real_model import MAX_TOKENS
from lessons.example.source import (
    DEFAULT_SENTENCE,
    Chosen,
    Drawn,
    ExampleInputs,
    Sizes,
    Source,
    WeightKind,
    first_shown,
)
from lessons.screen import Message, message

RandomSource = Literal["journey", "search", "mat", "batch", "modules", "meanings", "sentence"]

BATCH = 2  # sentences
JOURNEY_TOKENS = ("Your", "journey", "starts", "with", "one", "step")
JOURNEY_X = (
    (0.43, 0.15, 0.89),
    (0.55, 0.87, 0.66),
    (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33),
    (0.77, 0.25, 0.10),
    (0.05, 0.80, 0.55),
)


MEANINGS = (  # woman or man, child or grown-up, sad or glad
    ("The", (0.0, 0.0, 0.0)),
    ("girl", (1.2, 0.8, 0.0)),
    ("left", (0.0, 0.0, 1.2)),
    ("the", (0.0, 0.0, 0.0)),
    ("king", (-1.2, -0.8, 0.0)),
    (".", (0.0, 0.0, 0.0)),
    ("She", (1.2, 0.0, 0.6)),
    ("cried", (0.0, 0.4, 1.2)),
)
MADE_UP = message(
    "Written by hand, to be readable: feature 1 is positive for a woman and negative for a man, "
    "feature 2 positive for a child and negative for a grown-up, feature 3 positive for something "
    "sad. Trained vectors do not show their meaning so openly."
)


def draw_meanings(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """Vectors written by hand; W_q, W_k, W_v from the seed."""
    x = torch.tensor([row for _, row in MEANINGS])
    return Drawn(x, *draw_maps(sizes, x.shape[1], generator(sizes.seed)))


def draw_journey(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """Six fixed vectors of 3 numbers; W_q, W_k, W_v from the seed."""
    return Drawn(torch.tensor(JOURNEY_X), *draw_maps(sizes, len(JOURNEY_X[0]), generator(sizes.seed)))


def draw_sentence(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """A row of the embedding table for each token; the maps have a stream of their own."""
    table = embedding_table(max(ids) + 1, sizes.d_model, generator(sizes.seed, "embedding"))
    return Drawn(embed(torch.tensor(ids), table), *draw_maps(sizes, sizes.d_model, generator(sizes.seed)))


def draw_with_numpy(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """NumPy's normal numbers from one stream: X, then W_q, W_k, W_v, each a tenth as large."""
    random = np.random.RandomState(sizes.seed)
    x = random.standard_normal((len(ids), sizes.d_model))
    widths = (sizes.d_k, sizes.d_k, sizes.d_v)
    maps = [random.standard_normal((sizes.d_model, width)) * 0.1 for width in widths]
    x, W_q, W_k, W_v = (torch.tensor(array, dtype=torch.float32) for array in (x, *maps))
    return Drawn(x, W_q, W_k, W_v)


def draw_batch(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """Two sentences at once, of which one is kept; then the maps in the notebook's order: key, query, value."""
    random = generator(sizes.seed)
    batch = torch.randn(BATCH, len(ids), sizes.d_model, generator=random)
    W_k, W_q, W_v = draw_maps(sizes, sizes.d_model, random)
    return Drawn(batch[sizes.sentence_of_batch - 1], W_q, W_k, W_v)


def draw_modules(sizes: Sizes, ids: tuple[int, ...]) -> Drawn:
    """An embedding table of 50 rows, of which the tokens use four; then W_q, W_k, W_v from the same stream."""
    random = generator(sizes.seed)
    table = torch.randn(50, sizes.d_model, generator=random)
    return Drawn(embed(torch.tensor(ids), table), *draw_maps(sizes, sizes.d_model, random))


def draw_maps(sizes: Sizes, d_model: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Two maps to all d_k features of all heads and one to all d_v, in this order."""
    widths = (sizes.n_heads * width for width in (sizes.d_k, sizes.d_k, sizes.d_v))
    first, second, third = (draw_weight(sizes.weight_kind, d_model, width, random) for width in widths)
    return first, second, third


def draw_weight(kind: WeightKind, d_in: int, d_out: int, random: torch.Generator) -> Float[Tensor, "d_in d_out"]:
    """A weight matrix, to be used as x @ W: standard normal, a tenth of that, or `nn.Linear`'s default.

    `nn.Linear` draws uniformly between ±1/√d_in and stores the transposed matrix.
    """
    if kind == "linear":
        bound = 1 / math.sqrt(d_in)
        return torch.empty(d_out, d_in).uniform_(-bound, bound, generator=random).T
    return torch.randn(d_in, d_out, generator=random) * (0.1 if kind == "small" else 1.0)


@dataclass(frozen=True, kw_only=True)
class Preset(Source):
    """One source of the running example with random weights.

    `tokens` is None where the learner types them; `ids` is None where they follow from the tokens.
    `fixed` is None where the learner chooses the sizes. `draw` makes vectors and maps from the
    true sizes and the ids of the tokens. `remark` says how the notebook sets the mask.
    """

    key: RandomSource
    title: Message | str
    tokens: tuple[str, ...] | None
    ids: tuple[int, ...] | None = None
    fixed: Sizes | None = None
    draw: Callable[[Sizes, tuple[int, ...]], Drawn]
    remark: Message | str = ""
    asks: tuple[str, ...] = ("fixed",)
    more: tuple[str, ...] = ()
    writes_x: bool = False
    about_x: Message | None = None
    asking: tuple[str, ...] = ()

    takes_text = cuts_text = property(lambda self: self.tokens is None)

    def inputs(self, example: Chosen) -> ExampleInputs:
        """Random numbers: those of a notebook, or drawn from the seed for a sentence."""
        if self.fixed:
            own = {"sentence_of_batch": example.sentence_of_batch}  # the only choice that a notebook leaves
            example = replace(example, **{f.name: getattr(self.fixed, f.name) for f in fields(Sizes)} | own)
        tokens, notes = (self.tokens, ()) if self.tokens else sentence_tokens(example)
        ids = self.ids or ids_of(tokens)
        drawn = vars(self.draw(example, ids))
        return ExampleInputs(**drawn, example=example, tokens=tokens, ids=ids, row_ids=ids, notes=notes)

    def together(self, first: ExampleInputs, second: ExampleInputs) -> tuple[tuple[int, ...], Tensor]:
        """A word's row is drawn by the order in which words appear."""
        ids = ids_of(first.tokens + second.tokens)
        return ids, self.draw(first.example, ids).x


def ids_of(tokens: tuple[str, ...]) -> tuple[int, ...]:
    """Each token's place among the different ones, in the order in which they appear."""
    return tuple(Vocabulary.in_order_of_appearance(tokens).encode(tokens))


def sentence_tokens(example: Chosen) -> tuple[tuple[str, ...], tuple[Message | Phrase, ...]]:
    """The learner's tokens, at most MAX_TOKENS, and notes on what was changed. There is always at least one."""
    clean = clean_text(example.text)
    tokens = tokenize(clean.text, example.unit)
    notes: list[Message | Phrase] = list(clean.notes)
    if not tokens:
        notes.append(
            message(
                "There is no word to show yet: type a sentence. Until then this is “{sentence}”.",
                sentence=DEFAULT_SENTENCE,
            )
        )
        tokens = tokenize(DEFAULT_SENTENCE, example.unit)
    elif len(tokens) > MAX_TOKENS:
        notes.append(first_shown(MAX_TOKENS))
    return tuple(tokens[:MAX_TOKENS]), tuple(notes)


EVERY_PRESET = (
    Preset(
        key="journey",
        title="Your journey starts with one step",
        tokens=JOURNEY_TOKENS,
        draw=draw_journey,
        asks=("sizes", "seed"),
        more=("init",),
        writes_x=True,
    ),
    Preset(
        key="search",
        title=message("Four positions that search"),
        draw=draw_with_numpy,
        remark=message("The notebook uses no mask."),
        tokens=("position 0", "position 1", "position 2", "position 3"),
        fixed=Sizes(d_model=8, d_k=8, d_v=8, seed=42, weight_kind="small"),
    ),
    Preset(
        key="mat",
        title="The cat sat on the mat",
        draw=draw_with_numpy,
        remark=message("The notebook uses no mask."),
        tokens=("The", "cat", "sat", "on", "the", "mat"),
        fixed=Sizes(d_model=16, d_k=16, d_v=16, seed=123, weight_kind="small"),
    ),
    Preset(
        key="batch",
        title=message("A batch of two sentences"),
        draw=draw_batch,
        remark=message("The notebook uses the causal mask."),
        tokens=("token 1", "token 2", "token 3", "token 4"),
        fixed=Sizes(d_model=8, d_k=8, d_v=8, seed=1337, weight_kind="linear"),
        asks=("fixed", "batch"),
    ),
    Preset(
        key="modules",
        title="The cat sat down",
        tokens=("The", "cat", "sat", "down"),
        ids=(5, 12, 31, 7),
        fixed=Sizes(d_model=8, d_k=6, d_v=6, seed=42, weight_kind="linear"),
        draw=draw_modules,
        remark=message("The notebook shows it without the mask, then with it."),
    ),
    Preset(
        key="meanings",
        title=message("Vectors written by hand"),
        tokens=tuple(token for token, _ in MEANINGS),
        draw=draw_meanings,
        asks=("sizes", "seed"),
        more=("init",),
        writes_x=True,
        about_x=MADE_UP,
        asking=("She",),
    ),
    Preset(
        key="sentence",
        title=message("A sentence of your own"),
        tokens=None,
        draw=draw_sentence,
        asks=("sentence", "sizes", "seed"),
        more=("d_model", "init"),
    ),
)
PRESETS: dict[str, Preset] = {preset.key: preset for preset in EVERY_PRESET}
