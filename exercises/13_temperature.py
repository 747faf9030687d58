"""Sampling with temperature.

Draw the next token: divide the logits by the temperature, take the softmax, and lay the
probabilities end to end from 0 to 1. Draw the token on whose stretch the random number `uniform`
falls. Return the probabilities and the number of the token, counted from 0.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def draw_token(logits, temperature, uniform):
    # logits: shape [vocabulary]; temperature and uniform are numbers
    probabilities = None  # Your code
    token = None  # Your code
    return probabilities, token
