"""What a module is, and those that attention is built from."""

import math

import torch

from . import functional


class Parameter(torch.Tensor):
    """A tensor that a module would train."""

    def __init__(self, data, requires_grad=True):
        torch.Tensor.__init__(self, data._data, data._shape, data.dtype, data._strides, data._offset)
        self.requires_grad = requires_grad


class Buffer(Parameter):
    """A tensor that a module keeps and does not train."""


class Module:
    """Something that is called with tensors. Its layers and parameters are known to it by their names."""

    def __init__(self):
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, {})
        object.__setattr__(self, "training", True)

    def __setattr__(self, name, value):
        for kind, kept, what in ((Parameter, "_parameters", "parameters"), (Module, "_modules", "module")):
            if isinstance(value, kind):
                if kept not in self.__dict__:
                    raise AttributeError(f"cannot assign {what} before Module.__init__() call")
                self.__dict__[kept][name] = value
            elif kept in self.__dict__ and name in self.__dict__[kept]:
                if value is not None:
                    word = "parameter" if kind is Parameter else "child module"
                    what = "torch.nn.Parameter or None" if kind is Parameter else "torch.nn.Module or None"
                    found = torch_name(value)
                    raise TypeError(f"cannot assign '{found}' as {word} '{name}' ({what} expected)")
                self.__dict__[kept][name] = None
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *inputs, **options):
        if "_modules" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_backward_hooks'")
        return self.forward(*inputs, **options)

    def forward(self, *inputs, **options):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def train(self, mode=True):
        if "_modules" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_modules'")
        object.__setattr__(self, "training", mode)
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._buffers[name] = tensor
        object.__setattr__(self, name, tensor)

    def register_parameter(self, name, param):
        setattr(self, name, param)

    def add_module(self, name, module):
        setattr(self, name, module)

    register_module = add_module

    def children(self):
        return [module for module in self._modules.values() if module is not None]

    def named_children(self):
        return list(self._modules.items())

    def modules(self):
        return [self] + [inner for module in self.children() for inner in module.modules()]

    def named_parameters(self):
        own = [(name, value) for name, value in self._parameters.items() if value is not None]
        return own + [(f"{at}.{name}", x) for at, m in self._modules.items() for name, x in m.named_parameters()]

    def parameters(self):
        return iter([value for _, value in self.named_parameters()])

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad=True):
        return self

    def to(self, *_, **__):
        return self

    cpu = float = zero_grad = to

    def extra_repr(self):
        return ""

    def __repr__(self):
        inner = "".join([f"  ({name}): {module!r}\n" for name, module in self._modules.items()])
        return f"{type(self).__name__}(" + (f"\n{inner}" if inner else self.extra_repr()) + ")"


def torch_name(value):
    """The name of a value's class, as torch writes it."""
    kind = type(value).__name__
    return "torch.FloatTensor" if isinstance(value, torch.Tensor) else kind


class Linear(Module):
    """x Wᵀ + b."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        Module.__init__(self)
        for n in (in_features, out_features):
            if not isinstance(n, int):
                kind = type(n).__name__
                words = (
                    "empty(): argument 'size' (position 1) must be tuple of ints, but found element of type {} at pos 0"
                )
                raise TypeError(words.format(kind))
        self.in_features, self.out_features = in_features, out_features
        edge = 1 / math.sqrt(in_features) if in_features else 0
        self.weight = Parameter((torch.rand(out_features, in_features) * 2 - 1) * edge)
        self.bias = Parameter((torch.rand(out_features) * 2 - 1) * edge) if bias else None

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self):
        parts = f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        return parts


class Dropout(Module):
    """In training, some numbers are made 0 by chance."""

    def __init__(self, p=0.5, inplace=False):
        Module.__init__(self)
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p

    def forward(self, input):
        return functional.dropout(input, self.p, self.training)


class Softmax(Module):
    """The softmax along one axis."""

    def __init__(self, dim=None):
        Module.__init__(self)
        self.dim = dim

    def forward(self, input):
        return functional.softmax(input, self.dim)


class Identity(Module):
    """What comes in."""

    def __init__(self, *_, **__):
        Module.__init__(self)

    def forward(self, input):
        return input


class LayerNorm(Module):
    """Each row with mean 0 and variance 1, times a weight, plus a bias."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        Module.__init__(self)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape)) if elementwise_affine else None
        self.bias = Parameter(torch.zeros(self.normalized_shape)) if elementwise_affine and bias else None

    def forward(self, input):
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Each row divided by the root of its mean square, times a weight."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True):
        Module.__init__(self)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape)) if elementwise_affine else None

    def forward(self, input):
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class Embedding(Module):
    """A table of rows."""

    def __init__(self, num_embeddings, embedding_dim):
        Module.__init__(self)
        self.weight = Parameter(torch.randn(num_embeddings, embedding_dim))

    def forward(self, input):
        return self.weight[input]


class Flatten(Module):
    """Several axes as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        Module.__init__(self)
        self.dims = start_dim, end_dim

    def forward(self, input):
        return input.flatten(*self.dims)


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim, unflattened_size):
        Module.__init__(self)
        self.dim, self.sizes = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.sizes)


def number_by_number(name, compute):
    """A module of one function."""

    class OneFunction(Module):
        """A function, number by number."""

        def __init__(self, *_, **__):
            Module.__init__(self)

        def forward(self, input):
            return compute(input)

    OneFunction.__name__ = name
    return OneFunction


ReLU = number_by_number("ReLU", functional.relu)
GELU = number_by_number("GELU", functional.gelu)
SiLU = number_by_number("SiLU", functional.silu)
Tanh = number_by_number("Tanh", functional.tanh)
Sigmoid = number_by_number("Sigmoid", functional.sigmoid)


def must_be_module(module):
    if not isinstance(module, Module):
        raise TypeError(f"{type(module).__name__} is not a Module subclass")


class Several(Module):
    """Modules in a row, found by their number."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(list(self._modules.values()))

    def __getitem__(self, place):
        return list(self._modules.values())[place]

    def append(self, module):
        must_be_module(module)
        setattr(self, str(len(self._modules)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self


class Sequential(Several):
    """Each module is given what the one before it found."""

    def __init__(self, *modules):
        Module.__init__(self)
        self.extend(modules)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(Several):
    """Several modules."""

    def __init__(self, modules=()):
        Module.__init__(self)
        self.extend(modules)


class ModuleDict(Module):
    """Modules by their names."""

    def __init__(self, modules=None):
        Module.__init__(self)
        for name, module in (modules or {}).items():
            self[name] = module

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        must_be_module(module)
        setattr(self, name, module)

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


class ParameterList(list):
    """Several parameters."""


class ParameterDict(dict):
    """Parameters by their names."""


class Transformer:
    """Of it, only the mask."""

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return torch.full((sz, sz), -math.inf).triu(1)


class MultiheadAttention(Module):
    """An answer is not given this: the driver refuses it."""
