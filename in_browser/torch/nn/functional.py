"""Functions that modules are made of."""

import torch


def softmax(x, dim=None):
    return torch.softmax(x, dim)


def linear(x, weight, bias=None):
    y = torch.matmul(x, weight.T)
    return y if bias is None else y + bias


def dropout(x, p=0.5, training=True):
    return x


def scaled_dot_product_attention(*_, **__):
    raise NotImplementedError("In this exercise you write this function yourself.")
