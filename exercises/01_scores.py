"""Scores and scaling.

Compare every query with every key: the dot product of their vectors, divided by √d_k. Row i holds
the scores of query i, column j those of key j. d_k is the number of features of a key.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def scaled_scores(Q, K):
    # Q: shape [queries, d_k], K: shape [keys, d_k]
    d_k = None  # Your code
    scores = None  # Your code
    return scores
