"""Multi-head attention.

Write a PyTorch module with four layers of weights, several heads and, if asked for, a causal mask.
Return the output and the weights of all heads, shape [n_heads, queries, keys].
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = None  # Your code: nn.Linear(d_model, d_model, bias=False)
        self.W_k = None  # Your code
        self.W_v = None  # Your code
        self.W_o = None  # Your code

    def forward(self, x, causal=False):
        seq_len = x.shape[0]
        # 1. Project to Q, K, V
        # 2. Reshape to [n_heads, seq_len, d_head]
        # 3. Scaled attention scores
        # 4. Causal mask, if asked for
        # 5. Softmax
        attn_weights = None  # Your code
        # 6. Apply attention to values
        # 7. Concatenate the heads and project
        output = None  # Your code
        return output, attn_weights
