"""Grouped queries.

Every head has its own queries, but neighbouring heads share keys and values, so that a cache keeps
fewer. Q has shape [n_heads, tokens, d_k], K and V [n_kv_heads, tokens, d_k]: the first n_heads /
n_kv_heads heads use K[0] and V[0], the next ones K[1] and V[1], and so on. Return the output and
the weights of all heads.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def grouped_attention(Q, K, V):
    # Q: shape [n_heads, tokens, d_k]; K, V: shape [n_kv_heads, tokens, d_k]
    shared_by = Q.shape[0] // K.shape[0]
    # 1. Keys and values for every head
    # 2. Attention, as ever
    weights = None  # Your code
    output = None  # Your code
    return output, weights
