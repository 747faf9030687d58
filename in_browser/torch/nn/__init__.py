"""Modules: enough of `torch.nn` to build attention from."""

from . import functional, init  # noqa: F401
from .modules import (  # noqa: F401
    GELU,
    Buffer,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    Linear,
    Module,
    ModuleDict,
    ModuleList,
    MultiheadAttention,
    Parameter,
    ParameterDict,
    ParameterList,
    ReLU,
    RMSNorm,
    Sequential,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
    Transformer,
    Unflatten,
)
