"""Merge the heads.

Put the outputs of all heads side by side again: from [n_heads, tokens, d_head] to [tokens,
d_model]. The features of head 1 come first in the row of each token.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def merge_heads(heads):
    # heads: shape [n_heads, tokens, d_head]
    n_heads, n_tokens, d_head = heads.shape
    merged = None  # Your code
    return merged
