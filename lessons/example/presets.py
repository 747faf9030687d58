"""Where the tokens and numbers of a running example with random weights come from: notebooks, or a sentence's seed.

Reading order: the sizes that draws depend on (`Sizes`), what they give (`Drawn`), how each source draws, and one
record for each (`PRESETS`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.embeddings import embed, embedding_table
from attention_core.randomness import generator
from lessons.screen.message import Message, message

RandomSource = Literal["journey", "search", "mat", "batch", "modules", "sentence"]
WeightKind = Literal["normal", "small", "linear"]

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


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the random numbers of an example depend on. `sentence_of_batch` counts from 1."""

    d_model: int = 4
    d_k: int = 2
    d_v: int = 2
    n_heads: int = 1
    seed: int = 42
    weight_kind: WeightKind = "normal"
    sentence_of_batch: int = 1


@dataclass(frozen=True, eq=False)
class Drawn:
    """What attention starts from: one row of x for each token, and three maps, to be used as x @ W.

    A model may have positions that are not in x: `added` to what queries and keys are made of, or `rotary` ones, by
    which queries and keys are turned.
    """

    x: Float[Tensor, "tokens d_model"]
    W_q: Float[Tensor, "d_model all_d_k"]
    W_k: Float[Tensor, "d_model all_d_k"]
    W_v: Float[Tensor, "d_model all_d_v"]
    added: Float[Tensor, "tokens d_model"] | None = None
    rotary: bool = False


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
    return Drawn(*(torch.tensor(array, dtype=torch.float32) for array in (x, *maps)))


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


def draw_maps(sizes: Sizes, d_model: int, random: torch.Generator) -> list[Tensor]:
    """Two maps to all d_k features of all heads and one to all d_v, in this order."""
    widths = (sizes.n_heads * width for width in (sizes.d_k, sizes.d_k, sizes.d_v))
    return [draw_weight(sizes.weight_kind, d_model, width, random) for width in widths]


def draw_weight(kind: WeightKind, d_in: int, d_out: int, random: torch.Generator) -> Float[Tensor, "d_in d_out"]:
    """A weight matrix, to be used as x @ W: standard normal, a tenth of that, or `nn.Linear`'s default.

    `nn.Linear` draws uniformly between ±1/√d_in and stores the transposed matrix.
    """
    if kind == "linear":
        bound = 1 / math.sqrt(d_in)
        return torch.empty(d_out, d_in).uniform_(-bound, bound, generator=random).T
    return torch.randn(d_in, d_out, generator=random) * (0.1 if kind == "small" else 1.0)


@dataclass(frozen=True, kw_only=True)
class Preset:
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


EVERY_PRESET = (
    Preset(key="journey", title="Your journey starts with one step", tokens=JOURNEY_TOKENS, draw=draw_journey),
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
    Preset(key="sentence", title=message("A sentence of your own"), tokens=None, draw=draw_sentence),
)
PRESETS: dict[str, Preset] = {preset.key: preset for preset in EVERY_PRESET}
