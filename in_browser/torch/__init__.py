"""A small stand-in for the part of torch that the exercises use: plain Python, for there is no torch in a browser.

Tensors are strided views of lists, with the kinds of numbers, strides and errors of torch, so that whole answers work,
and fail, as they do there. What it lacks, and torch has, is no mistake of a learner: the driver knows the names.
"""

from . import tensors  # noqa: F401, I001  which the others add to
from . import choosing, kinds, making, pointwise, printing, products, reductions, views  # noqa: F401
from .kinds import dtype, finfo, float32, float64, iinfo, inf, int8, int16, int32, int64, uint8  # noqa: F401
from .shapes import Size  # noqa: F401
from .table import FUNCTIONS, calling
from .tensors import Tensor

for _name in FUNCTIONS:
    globals()[_name] = FUNCTIONS[_name]
FloatTensor = Tensor
LongTensor = lambda *data: tensor(*data, dtype=int64)  # noqa: E731, F821
BoolTensor = lambda *data: tensor(*data, dtype=kinds.bool_)  # noqa: E731, F821
bool, float, double, long, int, short = kinds.bool_, float32, float64, int64, int32, int16
nan, pi, e, newaxis = inf - inf, 3.141592653589793, 2.718281828459045, None


class no_grad:
    """There are no gradients here: nothing changes."""

    def __init__(self, mode=True):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, function):
        return function


enable_grad = inference_mode = set_grad_enabled = no_grad


def device(name="cpu", *_):
    return name


def is_grad_enabled():
    return False


def set_default_dtype(kind):
    pass


def get_default_dtype():
    return float32


class linalg:
    """Of linear algebra, the lengths of vectors."""

    vector_norm = staticmethod(
        calling(lambda input, ord=2, dim=None, keepdim=False: input.norm(ord, dim, keepdim), "linalg_vector_norm")
    )
    norm = vector_norm
    matmul = FUNCTIONS["matmul"]


class special:
    """Other names of what torch has as well."""

    softmax, log_softmax, logsumexp, expit = (
        FUNCTIONS[name] for name in ("softmax", "log_softmax", "logsumexp", "sigmoid")
    )


from . import nn  # noqa: E402, F401  which needs all of the above
