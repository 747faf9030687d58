"""Rotary positions.

Turn each token's features by its position. Features 2p and 2p + 1, neighbours, are one pair (a, b).
At position t, counted from 0, it turns by the angle t · base^(−2p / d_k) to (a cos − b sin, a sin +
b cos). Return all features, each in its place.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def rotate(x, base):
    # x: shape [tokens, d_k]; base is a number
    n_tokens, d_k = x.shape
    angles = None  # Your code: shape [tokens, d_k / 2]
    first, second = x[:, 0::2], x[:, 1::2]
    turned = None  # Your code
    return turned
