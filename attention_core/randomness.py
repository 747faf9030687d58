"""Where every random number comes from: a generator made from a seed that the learner can see.

Global random state is shared by all visitors of a server, so nothing here or elsewhere uses it.
"""

import functools
import zlib

import numpy as np
import torch

MAX_SEED = 2**31 - 1


def generator(seed: int, purpose: str = "") -> torch.Generator:
    """A generator for one purpose, made from a visible seed.

    Without a purpose it yields the same stream as `torch.manual_seed(seed)`.
    Each purpose has a stream of its own, so that drawing more numbers for one
    (a longer sentence, say) leaves the numbers of another as they were.
    Raises ValueError for a seed that is negative or larger than MAX_SEED.
    """
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"a seed is a whole number from 0 to {MAX_SEED}, but got {seed}")
    return torch.Generator().manual_seed(mixed(seed, purpose) if purpose else seed)


@functools.lru_cache(maxsize=1024)
def mixed(seed: int, purpose: str) -> int:
    """A seed made of a seed and a purpose. Mixing takes longer than making the generator."""
    mixture = np.random.SeedSequence([seed, zlib.crc32(purpose.encode())])
    return int(mixture.generate_state(1, np.uint64)[0] >> np.uint64(1))
