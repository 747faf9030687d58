"""From ids to vectors: a table with a row for each token of the vocabulary, and vectors for the positions."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attention_core.base.arrays import Array, cast, namespace, numbers_of, precise
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.inputs import check_ids, check_whole, is_float, is_number
from attention_core.base.randomness import Generator, generator

NEGATIVE_IDS = 128  # ids from −1 to −128, the least of a byte, pick one of that many rows of zeros
FIXED_VECTORS_SEED = 42


def embedding_table(vocabulary: int, d_model: int, generator: Generator) -> Float[Array, "vocabulary d_model"]:
    """Draw one vector for each token from the standard normal distribution, row after row.

    Row i is the same for every size of the vocabulary larger than i. Raises InputError without a token or a feature.
    """
    import torch

    check_whole("vocabulary", vocabulary, least=1)
    check_whole("d_model", d_model, least=1)
    return torch.stack([torch.randn(d_model, generator=generator) for _ in range(vocabulary)])


def fixed_vectors(vocabulary: int, d_model: int) -> Float[Array, "vocabulary d_model"]:
    """Return the token vectors of a model that outputs vectors: of `nn.Embedding` after `torch.manual_seed(42)`."""
    import torch

    return torch.randn(vocabulary, d_model, generator=generator(FIXED_VECTORS_SEED))


def embed(
    ids: Int[Array, "*batch tokens"], table: Float[Array, "vocabulary d_model"]
) -> Float[Array, "*batch tokens d_model"]:
    """Return the row of the table for each id: the same token always gets the same vector.

    Raises InputError for an id without a row.
    """
    check_ids(ids, table.shape[0])
    return table[numbers_of(ids)]


def one_hot(ids: Int[Array, "*batch"], vocabulary: int, like: Array) -> Float[Array, "*batch vocabulary"]:
    """Return a row for each id, with 1 at the id and 0 elsewhere; for an id below 0 the whole row is 0.

    Library and precision are those of `like`. The product of the rows with a table picks rows of the table, as `embed`
    does, even where each run has a separate table; the gradient of the table is a product, too. Raises InputError for
    an id without a row, and for one below −NEGATIVE_IDS.
    """
    check_ids(ids, vocabulary, least=-NEGATIVE_IDS)
    if isinstance(like, np.ndarray):
        return one_hot_rows(vocabulary, like.dtype)[ids]
    return namespace(like).eye(vocabulary + NEGATIVE_IDS, vocabulary, dtype=like.dtype)[ids]


@functools.lru_cache(maxsize=64)
def one_hot_rows(vocabulary: int, dtype: np.dtype) -> Float[np.ndarray, "rows vocabulary"]:
    """Return the identity matrix with rows of zeros below it. It is made once and shared, so it must not be changed."""
    return np.eye(vocabulary + NEGATIVE_IDS, vocabulary, dtype=dtype)


def sinusoidal_positions(n_tokens: int, d_model: int, like: Array | None = None) -> Float[Array, "tokens d_model"]:
    """Return a row of sines and cosines for each position, from fast waves to slow ones, to be added to embeddings.

    Feature 2i is sin(position · ω_i), feature 2i + 1 is cos(position · ω_i), with ω_i = 10000^(−2i/d_model). Vaswani et
    al. 2017, section 3.5. Library and precision are those of `like`; without it, torch's. Raises InputError when there
    is no token or no feature.
    """
    check_whole("n_tokens", n_tokens, least=1)
    check_whole("d_model", d_model, least=1)
    angles = rotation_angles(n_tokens, d_model, like=like)
    xp = namespace(angles)
    waves = xp.stack([xp.sin(angles), xp.cos(angles)], axis=-1).reshape(n_tokens, -1)[:, :d_model]
    return waves if like is None else cast(waves, like.dtype)


def rotation_angles(
    n_tokens: int, d_model: int, base: float = 10000.0, like: Array | None = None
) -> Float[Array, "tokens pairs"]:
    """Return position · ω_i, in radians, for each position and pair of features, with ω_i = base^(−2i/d_model).

    Pair i consists of features 2i and 2i + 1. Library and precision are those of `like`, but of 32 bits at least, since
    bfloat16 cannot tell position 256 from 257; without `like`, they are torch's. Raises InputError unless `like` holds
    floating-point numbers.
    """
    if like is not None and not is_float(like):
        raise TechnicalError("positions are floating-point numbers, but are to be {kind}", kind=str(like.dtype))
    xp = namespace(like)
    counted = range(n_tokens), range(0, -d_model, -2)
    positions, exponents = (xp.asarray(list(numbers), dtype=precise(like)) for numbers in counted)
    return positions[:, None] * base ** (exponents / d_model)


@functools.lru_cache(maxsize=64)
def shared_angles(n_tokens: int, d_model: int, base: float, dtype: Any) -> Float[Array, "tokens pairs"]:
    """Return `rotation_angles`, computed once for all layers and heads that rotate as many tokens.

    The result is shared, so it must not be changed.
    """
    if isinstance(dtype, type | np.dtype):  # one of NumPy's
        return rotation_angles(n_tokens, d_model, base, like=np.ones(1, dtype))
    import torch

    with torch.inference_mode(False):  # it is kept, so it must be fit for every use
        return rotation_angles(n_tokens, d_model, base, like=torch.ones(1, dtype=dtype))


@dataclass(frozen=True)
class Rotary:
    """The settings of rotary positions.

    With a larger `base` the angles grow more slowly with the position: Rozière et al. 2023 (Code Llama),
    https://arxiv.org/abs/2308.12950. Only the first `features` of a query or key are rotated, or all where it is None:
    partial rotary, Black et al. 2022 (GPT-NeoX), https://arxiv.org/abs/2204.06745. Positions are divided by `stretch`,
    so that a longer text has the angles of a shorter one: position interpolation, Chen et al. 2023,
    https://arxiv.org/abs/2306.15595.
    """

    base: float = 10000.0
    features: int | None = None
    stretch: float = 1.0


def rotate(
    x: Float[Array, "*batch tokens d_head"], first: int = 0, *, how: Rotary = Rotary(), back: bool = False
) -> Float[Array, "*batch tokens d_head"]:
    """Rotate each token's pairs of neighbouring features by an angle that grows with its position (RoPE).

    Applied to queries and keys, it makes their product depend on the distance between two tokens and not on their
    positions. The first token has the position `first`; `back` rotates the other way round. Su et al. 2021,
    https://arxiv.org/abs/2104.09864. Raises InputError when the number of rotated features is odd or larger than
    d_head, for a position below 0, and for an x, a base or a stretch that cannot be used.
    """
    check_whole("first", first, least=0)
    if x.ndim < 2:
        raise TechnicalError(
            "what is turned has a row for each token, but its shape is {shape}; a single vector is written x[None]",
            shape=str((*x.shape,)),
        )
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
    if not all(is_number(number) and 0 < number < math.inf for number in (how.base, how.stretch)):
        raise InputError(
            "rotary positions need a base and a stretch above 0, but got {base} and {stretch}",
            base=str(how.base),
            stretch=str(how.stretch),
        )
    angles = shared_angles(first + n_tokens, width, how.base, precise(x))[first:]
    return turn_pairs(x, xp.asarray(angles / (-how.stretch if back else how.stretch)))


def turn_pairs(
    x: Float[Array, "*batch tokens features"], angles: Float[Array, "tokens pairs"]
) -> Float[Array, "*batch tokens features"]:
    """Rotate each pair of neighbouring features by its angle; features beyond the pairs stay as they are.

    The result is computed in the precision of the angles and rounded to the type of x at the end.
    """
    xp, width = namespace(x), 2 * angles.shape[-1]
    even, odd = x[..., 0:width:2], x[..., 1:width:2]
    cos, sin = xp.cos(angles), xp.sin(angles)
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    turned = cast(xp.stack(turned, axis=-1).reshape(*x.shape[:-1], width), x.dtype)
    return turned if width == x.shape[-1] else xp.concat([turned, x[..., width:]], axis=-1)
