"""Scaled dot-product attention.

One whole head: queries, keys and values from X; scores Q Kᵀ / √d_k; the softmax of each row; and
the context vectors, weights times V. Return the context vectors and the weights.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def scaled_dot_product_attention(X, W_q, W_k, W_v):
    # 1. Project inputs to Q, K, V
    Q = None  # Your code
    K = None  # Your code
    V = None  # Your code

    # 2. Scaled scores: Q @ K^T / sqrt(d_k)
    d_k = None  # Your code
    attn_scores = None  # Your code

    # 3. Softmax
    attn_weights = None  # Your code

    # 4. Context vectors
    context = None  # Your code

    return context, attn_weights
