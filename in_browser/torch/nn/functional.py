"""Functions that modules are made of."""

import math

import torch

from ..making import drawn
from ..products import linear, must_be_tensor  # noqa: F401


def axis_of(x, dim):
    """The axis that torch takes where none is named."""
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.softmax(axis_of(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.log_softmax(axis_of(input, dim), dtype=dtype)


def softmin(input, dim=None):
    return softmax(-input, dim)


def dropout(input, p=0.5, training=True, inplace=False):
    if p < 0 or p > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = torch.tensor([0.0 if drawn() < p else 1 / (1 - p) for _ in range(input.numel())]).reshape(input.shape)
    return input * kept


def relu(input, inplace=False):
    return input.relu()


def silu(input, inplace=False):
    return input * input.sigmoid()


def gelu(input, approximate="none"):
    if approximate == "tanh":
        return input * 0.5 * (1 + (math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)).tanh())
    return input * 0.5 * (1 + (input / math.sqrt(2)).erf())


def sigmoid(input):
    return input.sigmoid()


def tanh(input):
    return input.tanh()


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def one_hot(tensor, num_classes=-1):
    if tensor.dtype is not torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if bool((tensor < 0).any()):
        raise RuntimeError("Class values must be non-negative.")
    many = int(tensor.max()) + 1 if num_classes == -1 else num_classes
    if many <= int(tensor.max()):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (tensor.contiguous().unsqueeze(-1) == torch.arange(many)).long()


def pad(input, pad, mode="constant", value=None):
    must_be_tensor(input, "pad", "input", 1)
    if len(pad) > 2 * input.ndim:
        words = (
            "Padding length should be less than or equal to two times the input dimension but got padding length {} "
        )
        raise RuntimeError((words + "and input of dimension {}").format(len(pad), input.ndim))
    for place in range(len(pad) // 2):
        d, (before, after) = input.ndim - 1 - place, pad[2 * place : 2 * place + 2]
        for many, first in ((before, True), (after, False)):
            if many < 0:
                n = input.size(d)
                input = input.narrow(d, -many, n + many) if first else input.narrow(d, 0, n + many)
            elif many:
                shape = [many if i == d else n for i, n in enumerate(input.shape)]
                more = torch.full(shape, value or 0, dtype=input.dtype)
                input = torch.cat([more, input] if first else [input, more], d)
    return input


def for_norm(input, name):
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.called}'")
    return input.contiguous()


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    if not normalized_shape:
        words = "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but "
        raise RuntimeError(words + f"got normalized_shape = {list(normalized_shape)}")
    input = for_norm(input, "LayerNormKernelImpl")
    dims = tuple(range(-len(normalized_shape), 0))
    found = (input - input.mean(dims, keepdim=True)) / (input.var(dims, False, keepdim=True) + eps).sqrt()
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def rms_norm(input, normalized_shape, weight=None, eps=None):
    input = for_norm(input, "rms_norm")
    dims = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    found = input * (input.square().mean(dims, keepdim=True) + eps).rsqrt()
    return found if weight is None else found * weight


def nll_loss(input, target, reduction="mean"):
    if input.ndim == 1 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 1 and target.dtype is not torch.int64:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.called}")
    if input.ndim == 1 and target.numel() != 1:
        words = "For 1D input, 1D target must have size 1, but got target size: {}"
        raise ValueError(words.format(target.numel()))
    rows = input if input.ndim > 1 else input.unsqueeze(0)
    targets = target if input.ndim > 1 else target.reshape(1)
    if not targets.ndim or len(rows) != len(targets):
        words = "Expected input batch_size ({}) to match target batch_size ({})."
        raise ValueError(words.format(len(rows), len(targets) if targets.ndim else 0))
    if target.dtype is not torch.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.called}")
    losses = -rows.gather(1, targets.unsqueeze(1)).squeeze(1)
    return reduced(losses.reshape(target.shape) if input.ndim == 1 else losses, reduction)


def cross_entropy(input, target, reduction="mean"):
    dim = 0 if input.ndim == 1 else 1
    if target.shape == input.shape and not target.is_floating_point():
        words = "Expected floating point type for target with class probabilities, got {}"
        raise RuntimeError(words.format(target.dtype.called))
    logarithms = input.log_softmax(dim)
    if target.shape == input.shape:
        return reduced(-(target * logarithms).sum(dim), reduction)
    return nll_loss(logarithms, target, reduction)


def reduced(losses, reduction):
    return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses


def embedding(input, weight):
    return weight[input]


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    lengths = [x.norm(2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


def scaled_dot_product_attention(*_, **__):
    """An answer is not given this: the driver refuses it."""
