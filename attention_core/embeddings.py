"""From ids to vectors: one row of a table for each token of the vocabulary; and vectors for its position."""

import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from attention_core.arrays import Array, namespace, numbers_of
from attention_core.errors import InputError
from attention_core.inputs import check_whole, is_float
from attention_core.randomness import Generator, generator

NEGATIVE_IDS = (
    128  # ids below 0, down to the least of a byte, count from the end: they pick one of so many rows of zeros
)
FIXED_VECTORS_SEED = 42


def embedding_table(vocabulary: int, d_model: int, generator: Generator) -> Float[Array, "vocabulary d_model"]:
    """One vector for each token, drawn from the standard normal distribution, row after row.

    Row i is the same for every size of the vocabulary larger than i.
    """
    import torch

    return torch.stack([torch.randn(d_model, generator=generator) for _ in range(vocabulary)])


def fixed_vectors(vocabulary: int, d_model: int) -> Float[Array, "vocabulary d_model"]:
    """The token vectors of a model that gives vectors back: those of `nn.Embedding` after `torch.manual_seed(42)`."""
    import torch

    return torch.randn(vocabulary, d_model, generator=generator(FIXED_VECTORS_SEED))


def embed(
    ids: Int[Array, "*batch tokens"], table: Float[Array, "vocabulary d_model"]
) -> Float[Array, "*batch tokens d_model"]:
    """The row of the table for each id: the same token always gets the same vector."""
    return table[numbers_of(ids)]


def one_hot(ids: Int[Array, "*batch"], vocabulary: int, like: Array) -> Float[Array, "*batch vocabulary"]:
    """A row for each id, with 1 at the id and 0 elsewhere; all 0 for an id below 0. Library and precision are `like`'s.

    Its product with a table picks rows, as `embed` does, also where each run has a table of its own; and the gradient
    of the table is a product too.
    """
    if isinstance(like, np.ndarray):
        return one_hot_rows(vocabulary, like.dtype)[ids]
    return namespace(like).eye(vocabulary + NEGATIVE_IDS, vocabulary, dtype=like.dtype)[ids]


@functools.lru_cache(maxsize=64)
def one_hot_rows(vocabulary: int, dtype: np.dtype) -> Float[np.ndarray, "rows vocabulary"]:
    """The identity matrix, with rows of zeros below it. Made once: shared, and never to be changed."""
    return np.eye(vocabulary + NEGATIVE_IDS, vocabulary, dtype=dtype)


def sinusoidal_positions(n_tokens: int, d_model: int, like: Array | None = None) -> Float[Array, "tokens d_model"]:
    """A row of sines and cosines for each position, from quick waves to slow ones, to be added to the embeddings.

    Feature 2i is sin(position · ω_i), feature 2i + 1 is cos(position · ω_i), with ω_i = 10000^(−2i/d_model).
    Vaswani et al. 2017, section 3.5. Library and precision are `like`'s; left out, torch's. Raises ValueError when
    there is no token or no feature.
    """
    if n_tokens < 1 or d_model < 1:
        raise ValueError(f"positions need at least 1 token and 1 feature, but got {n_tokens} and {d_model}")
    angles = rotation_angles(n_tokens, d_model, like=like)
    xp = namespace(angles)
    return xp.stack([xp.sin(angles), xp.cos(angles)], axis=-1).reshape(n_tokens, -1)[:, :d_model]


def rotation_angles(
    n_tokens: int, d_model: int, base: float = 10000.0, like: Array | None = None
) -> Float[Array, "tokens pairs"]:
    """position · ω_i in radians, for each position and each pair of neighbouring features: ω_i = base^(−2i/d_model).

    Library and precision are `like`'s; left out, torch's.
    """
    xp = namespace(like)
    dtype = xp.float32 if like is None else like.dtype
    counted = range(n_tokens), range(0, -d_model, -2)
    positions, exponents = (xp.asarray(list(numbers), dtype=dtype) for numbers in counted)
    return positions[:, None] * base ** (exponents / d_model)


@functools.lru_cache(maxsize=64)
def shared_angles(n_tokens: int, d_model: int, base: float, *, numpy: bool) -> Float[Array, "tokens pairs"]:
    """The same, once for all layers and heads that turn as many tokens: shared, and never to be changed."""
    if numpy:
        return rotation_angles(n_tokens, d_model, base, like=np.ones(1, np.float32))
    import torch

    with torch.inference_mode(False):  # it is kept, so it must be fit for every use
        return rotation_angles(n_tokens, d_model, base)


@dataclass(frozen=True)
class Rotary:
    """How rotary positions turn.

    A larger `base` turns slower: Rozière et al. 2023 (Code Llama), https://arxiv.org/abs/2308.12950. Only the first
    `features` turn, or all: partial rotary, Black et al. 2022 (GPT-NeoX), https://arxiv.org/abs/2204.06745. Positions
    are divided by `stretch`, so that a longer text has the angles of a shorter one: position interpolation, Chen et
    al. 2023, https://arxiv.org/abs/2306.15595.
    """

    base: float = 10000.0
    features: int | None = None
    stretch: float = 1.0


def rotate(
    x: Float[Array, "*batch tokens d_head"], first: int = 0, *, how: Rotary = Rotary(), back: bool = False
) -> Float[Array, "*batch tokens d_head"]:
    """Each token's pairs of neighbouring features, turned by an angle that grows with its position (RoPE).

    Done to queries and keys, it makes their product depend on the distance between two tokens and not on
    where they stand. The first token stands at position `first`; `back` turns the other way round. Su et al. 2021,
    https://arxiv.org/abs/2104.09864. Raises InputError when the number of features is odd, and for a
    position below 0.
    """
    check_whole("first", first, least=0)
    (n_tokens, d_head), xp = x.shape[-2:], namespace(x)
    width = d_head if how.features is None else how.features
    if width % 2:
        raise InputError(
            "rotary positions turn pairs of features, so their number must be even, but it is {width}", width=width
        )
    if not 0 <= width <= d_head:
        raise InputError(
            "rotary positions can turn at most all features of a head, d_k = {d_head}, but got {width}",
            d_head=d_head,
            width=width,
        )
    if not is_float(x):
        raise InputError("only floating-point numbers can be turned, but these are {kind}", kind=str(x.dtype))
    if not (how.base > 0 and how.stretch > 0):
        raise InputError(
            "rotary positions need a base and a stretch above 0, but got {base} and {stretch}",
            base=str(how.base),
            stretch=str(how.stretch),
        )
    angles = shared_angles(first + n_tokens, width, how.base, numpy=isinstance(x, np.ndarray))[first:]
    angles = angles / (-how.stretch if back else how.stretch)
    return turn_pairs(x, xp.asarray(angles, dtype=x.dtype))


def turn_pairs(
    x: Float[Array, "*batch tokens features"], angles: Float[Array, "tokens pairs"]
) -> Float[Array, "*batch tokens features"]:
    """Each pair of neighbouring features, turned by its angle; features beyond the pairs stay as they are."""
    xp, width = namespace(x), 2 * angles.shape[-1]
    even, odd = x[..., 0:width:2], x[..., 1:width:2]
    cos, sin = xp.cos(angles), xp.sin(angles)
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    turned = xp.stack(turned, axis=-1).reshape(*x.shape[:-1], width)
    return turned if width == x.shape[-1] else xp.concat([turned, x[..., width:]], axis=-1)
