"""A batch.

Several sentences at once, each with several heads: Q, K and V have shape [batch, heads, tokens,
d_k]. No loop is needed: `@` multiplies the matrices in the last two axes, whatever axes come
before. Return the output and the weights.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def batched_attention(Q, K, V):
    # Q, K, V: shape [batch, heads, tokens, d_k]
    scores = None  # Your code
    weights = None  # Your code
    output = None  # Your code
    return output, weights
