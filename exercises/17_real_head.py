"""A head of a real model.

Head 13.8 of SmolLM2 reads “The cat sat on the mat because it was very”. X is what enters its layer,
one row for each of the 10 tokens; the head's own maps take 576 features to 64. Compute its context
vectors and its weights. Queries and keys are turned by `rotate`, which is already written; the mask
is causal, and scores are divided by √d_k. Your numbers are compared with those of the model.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def rotate(x, base=100000.0):
    # Rotary positions as this model has them; x: shape [tokens, d_k]
    speeds = base ** (-torch.arange(0, x.shape[1], 2) / x.shape[1])
    angles = torch.outer(torch.arange(x.shape[0]).float(), speeds)
    cos, sin = torch.cos(angles), torch.sin(angles)
    first, second = x[:, 0::2], x[:, 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

def real_head(X, W_q, W_k, W_v):
    # X: shape [10, 576]; W_q, W_k, W_v: shape [576, 64]
    weights = None  # Your code
    context = None  # Your code
    return context, weights
