"""Causal mask.

No query may look at a later key. Put −∞ (`-math.inf`) where the key comes later than the query, and
leave every other score as it is. A token may look at itself.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def causal_scores(scores):
    # scores: shape [queries, keys], as many keys as queries
    n = scores.shape[0]
    future = None  # Your code: True where the key stands later than the query
    masked = None  # Your code
    return masked
