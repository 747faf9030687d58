"""What the lesson on PyTorch says of the two modules: where each weight stands, and three ways to write the same."""

import ast
import functools
import inspect
import statistics
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_core.heads import MultiHeadAttention
from attention_core.pytorch_parity import Parity, heads_as_module, heads_built_in, heads_by_hand, largest_absolute

CASES = 300  # random ones, compared at once
RUNS = 15
MODULE_STEPS = (MultiHeadAttention.forward, MultiHeadAttention.project)


def parameter_table(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> list[dict[str, str | int]]:
    """Where each of our parameters stands in PyTorch's module. Both store a projection transposed."""
    d_model = ours.W_o.in_features
    rows = [f", rows {part * d_model + 1} to {(part + 1) * d_model}" for part in range(3)]
    packed = {"weight": ("in_proj_weight", "out_proj.weight"), "bias": ("in_proj_bias", "out_proj.bias")}
    table = []
    for name, parameter in ours.named_parameters():
        layer, kind = name.split(".")
        stacked, alone = packed[kind]
        where = alone if layer == "W_o" else stacked + rows[("W_q", "W_k", "W_v").index(layer)]
        shape = " × ".join(map(str, parameter.shape))
        table.append({"ours": name, "in nn.MultiheadAttention": where, "shape": shape, "numbers": parameter.numel()})
    total = sum(parameter.numel() for parameter in theirs.parameters())
    return [*table, {"ours": "together", "in nn.MultiheadAttention": "", "shape": "", "numbers": total}]


@dataclass(frozen=True)
class Level:
    """One way to write multi-head attention: what was run, for how long, and how far off it is."""

    title: str
    functions: tuple[Callable, ...]
    lines: int  # of code, without descriptions
    milliseconds: tuple[float, ...]  # of each run
    difference: float  # from the same by hand in double precision

    @property
    def median(self) -> float:
        """The time of the run in the middle, in milliseconds."""
        return statistics.median(self.milliseconds)


@torch.no_grad()
def three_levels(parity: Parity, runs: int = RUNS) -> tuple[Level, ...]:
    """Run all three ways on the same tokens, weights and mask. The times are those of this machine, now."""
    ours, x, mask = parity.ours, parity.x, parity.may_attend
    linears = (ours.W_q, ours.W_k, ours.W_v, ours.W_o)
    projections = tuple(linear.weight.T for linear in linears)
    biases = tuple(torch.zeros(len(W)) if b is None else b for W, b in ((n.weight, n.bias) for n in linears))
    doubled = (tuple(tensor.double() for tensor in tensors) for tensors in (projections, biases))
    precise = heads_by_hand(x.double(), *doubled, ours.n_heads, mask)
    ways = (
        ("Tensors by hand", (heads_by_hand,), lambda: heads_by_hand(x, projections, biases, ours.n_heads, mask)),
        (
            "A module of our own",
            (heads_as_module, *MODULE_STEPS),
            lambda: heads_as_module(ours, x, mask),
        ),
        ("Built into PyTorch", (heads_built_in,), lambda: heads_built_in(parity.theirs, x, mask)),
    )
    return tuple(
        Level(title, functions, code_lines(*functions), timed(way, runs), largest_absolute(way() - precise))
        for title, functions, way in ways
    )


def timed(way: Callable[[], Tensor], runs: int) -> tuple[float, ...]:
    """Milliseconds of each run, after a first one that is not counted."""
    way()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        way()
        times.append(1000 * (time.perf_counter() - start))
    return tuple(times)


@functools.lru_cache(maxsize=32)
def code_lines(*functions: Callable) -> int:
    """Lines of source that say what to do: without descriptions, comments and empty lines."""
    count = 0
    for function in functions:
        source = textwrap.dedent(inspect.getsource(function))
        description = ast.parse(source).body[0].body[0]
        silent = range(description.lineno, description.end_lineno + 1) if is_text(description) else range(0)
        lines = enumerate(source.splitlines(), start=1)
        count += sum(bool(line.split("#")[0].strip()) and number not in silent for number, line in lines)
    return count


def is_text(statement: ast.stmt) -> bool:
    """True for a description: a statement that is nothing but a string."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
