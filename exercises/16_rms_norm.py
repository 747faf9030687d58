"""RMS norm.

Bring every token's features to a common size before a layer reads them: divide them by the root of
the mean of their squares, and multiply each feature by its gain. A small ε inside the root keeps it
from 0: x / √(mean of x² + ε) · gain. Most of today's models do this; no mean is subtracted.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def rms_norm(x, gain, epsilon):
    # x: shape [tokens, features], gain: shape [features]; epsilon is a number
    mean_of_squares = None  # Your code
    normed = None  # Your code
    return normed
