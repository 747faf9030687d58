"""Gradient of the softmax.

Go backwards through the softmax: from the weights and the gradient of the loss with respect to each
weight, find its gradient with respect to each score. A weight depends on all scores of its row:
d_scores[i, j] = weights[i, j] · (d_weights[i, j] − Σₘ weights[i, m] · d_weights[i, m]).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def softmax_backward(weights, d_weights):
    # both: shape [queries, keys]; each row of weights sums to 1
    d_scores = None  # Your code
    return d_scores
