"""Multi-head attention written in three ways, each run here and now: how long it takes and how far off it is."""

import ast
import functools
import inspect
import statistics
import textwrap
import timeit
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.measured.parity import Parity, heads_as_module, heads_built_in, heads_by_hand, largest_absolute
from attention_core.one_head.heads import MultiHeadAttention
from lessons.screen import Fixed, Listing, ListOf, Magnitude, Message, message, plural

RUNS = 15
MODULE_STEPS = (MultiHeadAttention.__call__, MultiHeadAttention.project)


@dataclass(frozen=True)
class Level:
    """One way to write multi-head attention: what was run, for how long, and how far off it is."""

    title: Message
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
    ours, theirs, x, mask = parity.ours, parity.theirs, parity.x, parity.may_attend
    if theirs is None:
        return ()
    projections = (ours.W_q, ours.W_k, ours.W_v, ours.W_o)
    biases = tuple(torch.zeros(len(ours.W_o)) if b is None else b for b in (ours.b_q, ours.b_k, ours.b_v, ours.b_o))
    maps, added = (tuple(tensor.double() for tensor in tensors) for tensors in (projections, biases))
    precise = heads_by_hand(x.double(), maps, added, ours.n_heads, mask)
    ways = (
        (
            message("Tensors by hand"),
            (heads_by_hand,),
            lambda: heads_by_hand(x, projections, biases, ours.n_heads, mask),
        ),
        (message("A module of our own"), (heads_as_module, *MODULE_STEPS), lambda: heads_as_module(ours, x, mask)),
        (message("Built into PyTorch"), (heads_built_in,), lambda: heads_built_in(theirs, x, mask)),
    )
    return tuple(
        Level(title, functions, code_lines(*functions), timed(way, runs), largest_absolute(way() - precise))
        for title, functions, way in ways
    )


def timed(way: Callable[[], Tensor], runs: int) -> tuple[float, ...]:
    """Milliseconds of each run, after a first one that is not counted."""
    way()
    return tuple(1000 * seconds for seconds in timeit.repeat(way, number=1, repeat=runs))


@functools.lru_cache(maxsize=32)
def code_lines(*functions: Callable) -> int:
    """Lines of source that say what to do: without descriptions, comments and empty lines."""
    count = 0
    for function in functions:
        source = textwrap.dedent(inspect.getsource(function))
        body = next(node.body for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef))
        described = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        silent = range(body[0].lineno, (body[0].end_lineno or 0) + 1) if described else range(0)
        lines = enumerate(source.splitlines(), start=1)
        count += sum(bool(line.split("#")[0].strip()) and number not in silent for number, line in lines)
    return count


def level_listings(levels: tuple[Level, ...]) -> tuple[Listing, ...]:
    """The three ways side by side, each with its source."""
    return tuple(
        Listing(
            key=f"level{at}",
            name=message("One way to write multi-head attention"),
            beside=at > 0,
            title=level.title,
            note=note_on(level),
            functions=level.functions,
            notice=() if at else (notice_levels(levels),),
        )
        for at, level in enumerate(levels)
    )


def notice_levels(levels: tuple[Level, ...]) -> Message:
    """The times as measured, with their range; no order is claimed that they do not show."""
    ways = tuple(
        message(
            "{median} ms for “{way}” ({fastest} to {slowest})",
            way=level.title,
            median=Fixed(level.median, 3),
            fastest=Fixed(min(level.milliseconds), 3),
            slowest=Fixed(max(level.milliseconds), 3),
        )
        for level in levels
    )
    return message(
        "Median of {runs} runs on this machine, at this moment: {ways}.",
        runs=len(levels[0].milliseconds),
        ways=ListOf(ways),
    )


def note_on(level: Level) -> Message:
    """Lines, time and error of one way."""
    return plural(
        "{lines} lines of code in the function shown, {median} ms. The output differs from the same computation in "
        "double precision by at most {difference}.",
        "{lines} lines of code in the functions shown, {median} ms. The output differs from the same computation in "
        "double precision by at most {difference}.",
        len(level.functions),
        lines=level.lines,
        median=Fixed(level.median, 3),
        difference=Magnitude(level.difference),
    )
