"""Split into heads.

Give each head its own neighbouring features of every token: from shape [tokens, d_model] to
[n_heads, tokens, d_head]. Head 1 gets the first d_head features, head 2 the next ones, and so on.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, n_heads):
    # x: shape [tokens, d_model]
    n_tokens, d_model = x.shape
    heads = None  # Your code
    return heads
