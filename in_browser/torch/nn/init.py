"""Numbers to begin with, drawn into a tensor."""

import math


def zeros_(tensor):
    return tensor.fill_(0)


def ones_(tensor):
    return tensor.fill_(1)


def constant_(tensor, val):
    return tensor.fill_(val)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return tensor.normal_(mean, std)


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return tensor.uniform_(a, b)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return tensor.normal_(mean, std).clamp_(a, b)


def eye_(tensor):
    tensor.fill_(0).diagonal().fill_(1)
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    edge = gain * math.sqrt(6 / (tensor.size(0) + tensor.size(1)))
    return tensor.uniform_(-edge, edge)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return tensor.normal_(0.0, gain * math.sqrt(2 / (tensor.size(0) + tensor.size(1))))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    edge = math.sqrt(6 / ((1 + a**2) * tensor.size(1 if mode == "fan_in" else 0)))
    return tensor.uniform_(-edge, edge)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return tensor.normal_(0.0, math.sqrt(2 / ((1 + a**2) * tensor.size(1 if mode == "fan_in" else 0))))


def orthogonal_(tensor, gain=1):
    """Rows at right angles, by Gram and Schmidt."""
    tensor.normal_()
    for i in range(tensor.size(0)):
        for j in range(min(i, tensor.size(1))):
            tensor[i] -= (tensor[i] * tensor[j]).sum() * tensor[j]
        tensor[i] /= tensor[i].norm()
    return tensor.mul_(gain)
