"""Room for many vectors of equal length that come and go by the dozen."""

import mmap

import torch
from jaxtyping import Float
from torch import Tensor

BLOCK_BYTES = 256 * 1024


class Shelf:
    """Keeps copies of vectors side by side in blocks; a block goes when nobody holds a vector of it any more.

    Allocated one by one, they would lie scattered among what everybody else allocates, and leave holes when they go
    that nothing fits into. A block is asked of the system itself: what of it is not written yet takes no memory, and
    it goes back as a whole.
    """

    def __init__(self):
        self._block: Tensor | None = None
        self._used = 0

    def keep(self, vector: Float[Tensor, " numbers"]) -> Float[Tensor, " numbers"]:
        """A copy, which stays as it is while anybody holds it."""
        if self._block is None or self._used == len(self._block):
            rows = max(1, BLOCK_BYTES // vector.nbytes)
            with torch.inference_mode(False):  # a block made in that mode could not be written to outside it
                block = torch.frombuffer(mmap.mmap(-1, rows * vector.nbytes), dtype=vector.dtype)
                self._block, self._used = block.view(rows, len(vector)), 0
        self._used += 1
        return self._block[self._used - 1].copy_(vector)
