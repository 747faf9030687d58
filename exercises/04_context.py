"""Context vectors, by loops.

The context vector of a query is the sum of all value vectors, each times the weight that the query
gives its key. Write it number by number, with loops; then compare with one line of matrices.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def context_vectors(weights, V):
    # weights: shape [queries, keys], V: shape [keys, features]
    n_queries, n_keys = weights.shape
    n_features = V.shape[1]
    context = torch.zeros(n_queries, n_features)
    for i in range(n_queries):
        for j in range(n_keys):
            for f in range(n_features):
                pass  # Your code
    return context
