"""Every lesson, computed by another processor than what is compared with it: every printed number holds.

What another processor computes is the same but for the last binary digits of every sum, product and function.
"""

import math
import sys
from dataclasses import replace
from functools import cache

import pytest
import screens
import torch
from screens import Case, check_case
from test_every_screen import LESSONS, file_of
from torch.utils._python_dispatch import TorchDispatchMode

from lessons.example.example import Example, learnt_example, run_afresh, run_example

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

# What is summed in another order, or approximated in another way. What is only fetched, copied or compared is not.
COMPUTED = {
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "mv",
    "dot",
    "sum",
    "mean",
    "var",
    "cumsum",
    "exp",
    "log",
    "tanh",
    "erf",
    "sin",
    "cos",
    "_softmax",
    "_log_softmax",
    "logsumexp",
    "linalg_vector_norm",
    "rsqrt",
    "sqrt",
    "div",
    "native_layer_norm",
    "randn",
    "normal_",
}
UNITS = 4  # in the last place, at most


class OtherProcessor(TorchDispatchMode):
    """While this lasts, every number that torch computes is up to some units in its last place off.

    Computed again it is off by the same, but equal numbers in two places of an array need not be.
    """

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in COMPUTED or not isinstance(found, torch.Tensor) or not found.is_floating_point():
            return found
        exact = found == found.round()  # as exp(0) is 1 everywhere
        moved = found.where(exact, found * nearly_ones(len(name), found.shape, found.dtype))
        return found.copy_(moved) if name.endswith("_") else moved


@cache
def nearly_ones(first, shape, dtype):
    """Factors that differ from one place to the next, and from one function to another."""
    units = (first + 7 * torch.arange(math.prod(shape), dtype=torch.float64)) % (2 * UNITS + 1) - UNITS
    return (1 + units * torch.finfo(dtype).eps).to(dtype).reshape(shape)


@pytest.fixture(autouse=True)
def three_digits(monkeypatch):
    """So many units move a score of 20 that is divided by 0.1, and e to it, by up to three parts in ten thousand."""
    monkeypatch.setattr(screens, "CLOSE", 1e-3)


@pytest.fixture(scope="module", autouse=True)
def nothing_kept():
    """What is computed meanwhile is forgotten at the end: no other test meets it."""
    yield
    for name, module in [*sys.modules.items()]:
        if name.startswith("lessons."):
            for one in [*vars(module).values()]:
                getattr(one, "cache_clear", lambda: None)()


@pytest.mark.part(3)
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_is_true_for_a_trained_model_whatever_processor_computes_it(lesson, whole):
    check_computed_elsewhere(lesson, learnt_example("induction", layer=2), every=1 if whole else 5)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_ties_is_named_whatever_processor_computes_it(lesson, whole):
    check_computed_elsewhere(
        lesson, Example(source="sentence", text="no no the no", causal=False), every=3 if whole else 7
    )


def check_computed_elsewhere(lesson, chosen, every):
    """The screen is computed by another processor than what is compared with it."""
    module = file_of(lesson)
    if hasattr(module, "EXAMPLES"):
        pytest.skip("this lesson has examples of its own")
    trace, other = run_example(chosen), OtherProcessor()
    with other:
        elsewhere = run_afresh(chosen)
    for choices in [*module.cases(trace)][::every]:
        with other:
            screen = module.screen(elsewhere, 0, choices)
        check_case(Case(trace, 0, choices, computed_by(other, screen)), module.ORACLE, module.ANSWERS)


def computed_by(processor, screen):
    """The screen, whose questions too are computed there."""

    def ask(number):
        with processor:
            return screen.ask(number)

    return replace(screen, ask=screen.ask and ask)
