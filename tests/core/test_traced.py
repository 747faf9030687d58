"""Arrays that remember: the same numbers as NumPy's, every leaf declared, and a trace that is the computation."""

import math

import numpy as np
import pytest
import torch
from traced_settings import SETTINGS, arrays_in, plain

from attention_core.base.arrays import namespace
from attention_core.base.traced import XP, Cells, Input, NoRule, Traced, arrays_behind, given, sources_of

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

SIGNS = {
    "+": np.add,
    "−": np.subtract,
    "·": np.multiply,
    "÷": np.divide,
    "^": np.power,
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    ">": np.greater,
    "≥": np.greater_equal,
    "<": np.less,
    "≤": np.less_equal,
    "=": np.equal,
    "≠": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}


def run(name, seed):
    """A setting on arrays that remember: what was given, and every array of the result."""
    inputs = []

    def give(values, called, axes=()):
        inputs.append(given(values, called, axes))
        return inputs[-1]

    result = SETTINGS[name](seed, give)
    return inputs, [array for array in arrays_in(result) if isinstance(array, Traced)]


def run_plain(name, seed, give=plain):
    return [array for array in arrays_in(SETTINGS[name](seed, give)) if not np.issubdtype(array.dtype, np.integer)]


@pytest.mark.parametrize("name", SETTINGS)
def test_it_computes_as_numpy_does_and_every_leaf_is_declared(name):
    inputs, traced = run(name, 3)
    for array, numbers in zip(traced, run_plain(name, 3), strict=True):
        np.testing.assert_array_equal(array.values, numbers)
    leaves = [array for array in arrays_behind(*traced) if isinstance(array.rule, Input)]
    declared = {id(array) for array in inputs}
    assert all(leaf.rule.kind in ("constant", "number") or id(leaf) in declared for leaf in leaves)


def replayed(array, known):
    """Every cell of an array again, from the cells that it says it was made of, which have other numbers now."""
    waiting = [array]
    while waiting:
        here = waiting[-1]
        missing = [source for source in sources_of(here) if id(source) not in known]
        if id(here) in known or missing:
            waiting.extend(missing) if id(here) not in known else waiting.pop()
            continue
        waiting.pop()
        known[id(here)] = again(here, known)
    return known[id(array)]


def again(array, known):
    made = Cells(array, np.arange(array.values.size)).made
    numbers = [known[id(part.array)][part.at] for part in made.parts]
    if not made.parts:
        return array.values.ravel()
    if made.sign == "copy":
        return numbers[0] if made.which is None else np.choose(made.which, numbers)
    if made.sign == "products":
        with np.errstate(invalid="ignore"):
            return np.where((numbers[0] == 0) | (numbers[1] == 0), 0.0, numbers[0] * numbers[1]).sum(axis=-1)
    if made.sign in ("sum", "max") and len(numbers) == 1:
        return numbers[0].sum(axis=-1) if made.sign == "sum" else numbers[0].max(axis=-1)
    return (np.maximum if made.sign == "max" else SIGNS[made.sign])(*numbers)


@pytest.mark.parametrize("name", SETTINGS)
def test_with_other_inputs_the_trace_gives_what_the_core_gives(name):
    """A trace with the right numbers could still name the wrong cells, where two numbers are equal. This finds it."""
    inputs, traced = run(name, 5)
    random, others = np.random.RandomState(7), []

    def give(values, called, axes=()):
        changed = np.array(values)
        if changed.dtype.kind == "f":
            changed = changed + 0.01 * random.randn(*changed.shape)
        others.append(changed)
        return changed

    wanted = run_plain(name, 5, give)
    known = {id(array): other.ravel() for array, other in zip(inputs, others, strict=True)}
    with np.errstate(all="ignore"):
        for array, numbers in zip(traced, wanted, strict=True):
            np.testing.assert_allclose(replayed(array, known), numbers.ravel(), rtol=1e-9, atol=1e-12)


T = given(np.arange(4.0).reshape(2, 2), "t")
LOSING = {
    "np.exp": lambda: np.exp(T),
    "np.asarray": lambda: np.asarray(T),
    "np.concatenate": lambda: np.concatenate([T, T]),
    "np.sum": lambda: np.sum(T),
    "float": lambda: float(T[0, 0]),
    "math.exp": lambda: math.exp(T[0, 0]),
    "int": lambda: int(T[0, 0]),
    "if": lambda: bool(T[0, 0] > 0),
    "in": lambda: 1.0 in T,
    "+ array": lambda: T + np.ones((2, 2)),
    "array +": lambda: np.ones((2, 2)) + T,
    "@ array": lambda: T @ np.eye(2),
    "array @": lambda: np.eye(2) @ T,
    "float64 ·": lambda: np.ones(1) * T,
    "torch.exp": lambda: torch.exp(T),
    "tensor +": lambda: torch.ones(2, 2) + T,
    "+ tensor": lambda: T + torch.ones(2, 2),
    "cumsum": lambda: T.cumsum(),
    "tolist": lambda: T.tolist(),
    "T": lambda: T.T,
    "mean": lambda: T.mean(),
    "xp.cumsum": lambda: XP.cumsum(T),
    "xp.linalg.norm": lambda: XP.linalg.norm(T),
    "//": lambda: T // 2,
    "abs": lambda: abs(T),
    "assignment": lambda: T.__setitem__(0, 1),
    "where array": lambda: XP.where(np.ones(2) > 0, T, T),
    "concat array": lambda: XP.concat([T, np.ones((2, 2))]),
    "torch.tensor": lambda: torch.as_tensor(T),
    "round": lambda: round(T),
    "index": lambda: [1, 2][T[0, 0]],
}


@pytest.mark.parametrize("what", LOSING)
def test_an_operation_that_would_lose_the_trace_is_refused(what):
    with pytest.raises(TypeError):  # NoRule is one; where Python or torch says no first, that is as good
        LOSING[what]()


def test_an_operation_without_a_rule_says_what_to_do():
    with pytest.raises(NoRule, match=r"no rule for xp\.cumsum: add one to traced\.py"):
        namespace(T).cumsum(T)
