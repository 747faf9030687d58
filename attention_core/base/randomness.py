"""Random numbers: each comes from a generator made from a seed that the learner can see, or a constant of the code.

Global random state is shared by all visitors of a server, so nothing here or elsewhere uses it.
"""

import functools
import math
import zlib
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import is_whole, shown

Generator = Any  # of torch, which is imported where one is made
MAX_SEED = 2**31 - 1


def generator(seed: int, purpose: str = "") -> Generator:
    """Return a torch generator for one purpose, made from a visible seed.

    Without a purpose it yields the same stream as `torch.manual_seed(seed)`. Each purpose has a separate stream, so
    that drawing more numbers for one (a longer sentence, say) leaves the numbers of another as they were. Raises
    InputError for a seed that is negative or larger than MAX_SEED.
    """
    if not (is_whole(seed) and 0 <= seed <= MAX_SEED):
        raise TechnicalError(
            "a seed is a whole number from 0 to {most}, but got {seed}", most=MAX_SEED, seed=shown(seed)
        )
    import torch

    return torch.Generator().manual_seed(mixed(seed, purpose) if purpose else seed)


@functools.lru_cache(maxsize=1024)
def mixed(seed: int, purpose: str) -> int:
    """Return a seed made of a seed and a purpose. It is cached: mixing takes longer than making the generator."""
    mixture = np.random.SeedSequence([seed, zlib.crc32(purpose.encode())])
    return int(mixture.generate_state(1, np.uint64)[0] >> np.uint64(1))


def draw_linear(
    d_in: int, d_out: int, *, bias: bool, generator: Generator
) -> tuple[Float[Array, "d_in d_out"], Float[Array, " d_out"] | None]:
    """Draw W and b of a linear map, x @ W + b, as PyTorch draws those of `nn.Linear`, which stores W transposed."""
    import torch

    W, bound = draw_map(d_in, d_out, generator), 1 / math.sqrt(d_in)
    return W, torch.empty(d_out).uniform_(-bound, bound, generator=generator) if bias else None


def draw_map(d_in: int, d_out: int, generator: Generator) -> Float[Array, "d_in d_out"]:
    """Draw W of a linear map, x @ W, as PyTorch draws that of `nn.Linear`: uniform between ±1/√d_in."""
    return default_weight(d_out, d_in, generator).T.contiguous()


def default_weight(d_out: int, d_in: int, generator: Generator) -> Float[Array, "d_out d_in"]:
    """Draw the weight of an `nn.Linear` as PyTorch does, in its layout (d_out, d_in): uniform between ±1/√d_in."""
    import torch

    return torch.nn.init.kaiming_uniform_(torch.empty(d_out, d_in), a=math.sqrt(5), generator=generator)
