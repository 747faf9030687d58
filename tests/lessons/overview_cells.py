"""The cells of the overview, as its screen describes them."""

from lessons.example.example import Example, run_example
from lessons.start.overview.matrices_view import Choices, screen

KEYS = ("x", "k_transposed", "k", "v", "q", "scores", "scaled", "masked", "weights", "output")


def matrices_of(example=None, head=0):
    """The matrices of one head, by their names."""
    (figure,) = screen(run_example(example or Example()), head, Choices()).figures
    return {matrix.key: matrix for matrix in figure.matrices}


def tensor_of(trace, head, key):
    """The tensor that a matrix must show."""
    if key == "x":
        return trace.x
    return trace.heads.k[head].mT if key == "k_transposed" else getattr(trace.heads, key)[head]
