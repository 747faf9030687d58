"""A step of gradient descent.

Train the last layer by one step. The softmax of the logits X W gives the probabilities P; `right`
has a 1 at the token that followed and 0 elsewhere. The loss is the mean over the tokens of −ln of
the right token's probability. Its gradient with respect to the logits is (P − right) / number of
tokens; with respect to W it is Xᵀ times that. Return the loss before the step, and the new weights:
W minus the learning rate times the gradient.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def train_step(X, W, right, learning_rate):
    # X: shape [tokens, features], W: shape [features, vocabulary], right: shape [tokens, vocabulary]
    P = None  # Your code
    loss = None  # Your code: one number
    gradient = None  # Your code: as large as W
    new_W = None  # Your code
    return loss, new_W
