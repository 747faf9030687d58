"""A small stand-in for the part of torch that the exercises use: plain Python, for there is no torch in a browser.

Tensors are strided views of lists, so that `view`, `permute` and `contiguous` work, and fail, as torch's do.
"""

from .functions import *  # noqa: F403
from .shapes import Size, bool, float32, inf, int64  # noqa: F401
from .tensors import Tensor  # noqa: F401

float = float32
long = int64
nan = inf - inf
from . import nn  # noqa: E402, F401  which needs all of the above
