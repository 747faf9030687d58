"""What trains is what the lessons show, on NumPy and on torch, alone and in company."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from strategies import models

from attention_core.base.arrays import align_runs, column_sum, namespace, row_max, row_sum
from attention_core.learning import backward
from attention_core.learning.backward import attend_backward
from attention_core.learning.steps import TrainingStack
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.tasks.text import notebook_model
from attention_core.learning.training import TrainingSettings, begin_run, recommended, stack_shape, train
from attention_core.one_head import heads
from attention_core.one_head.attention import attend
from tests.rounding import LAYERS, assert_close_for_size

HELLO = CharacterTask("hello world")


def notebook(seed=0, **choices):
    return TrainingSettings(task=HELLO, model=notebook_model(8), **{"steps": 25, "seed": seed} | choices)


def losses_of(settings):
    return [step.loss for step in train(settings)]


# One source


def test_attention_needs_no_torch():
    code = "import sys, attention_core.one_head.attention; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_attention_on_numpy_arrays_alone_needs_no_torch():
    code = (
        "import sys, numpy as np; from attention_core.one_head.attention import attend;"
        "x = np.ones((5, 3), np.float32);"
        "assert attend(x, x, x, np.tri(5, dtype=bool)).output.dtype == np.float32; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("engine", ["numpy", "autograd"])
@pytest.mark.parametrize("heads_kind", ["projected", "sliced"])
def test_training_goes_through_the_attention_that_the_lessons_show(monkeypatch, engine, heads_kind):
    forward, back = [], []
    monkeypatch.setattr(heads, "attend", lambda *q, **choices: forward.append(q) or attend(*q, **choices))
    monkeypatch.setattr(backward, "attend_backward", lambda *trace: back.append(trace) or attend_backward(*trace))
    settings = recommended(TASKS["recall"], steps=3, heads=heads_kind, n_heads=2, engine=engine)
    list(train(settings))
    evaluated, layers, steps = 2, 2, 4  # at the first step and at the last
    assert len(forward) == layers * (steps + evaluated)
    assert len(back) == (layers * steps if engine == "numpy" else 0)


def test_a_change_of_attention_changes_what_is_trained(monkeypatch):
    before = losses_of(notebook())
    monkeypatch.setattr(heads, "attend", lambda q, k, v, *how, **options: attend(q, k, 1.001 * v, *how, **options))
    assert losses_of(notebook())[1:] != before[1:]


@pytest.mark.parametrize("masked", [False, True])
@given(batch=st.sampled_from([(), (2,), (13, 2)]), seed=st.integers(0, 99))
def test_numpy_and_torch_give_the_same_attention(masked, batch, seed):
    random = np.random.RandomState(seed)
    q, k, v = (random.randn(*batch, *shape) for shape in ((5, 3), (7, 3), (7, 11)))
    mask = np.tri(5, 7, 2, dtype=bool) if masked else None
    ours = attend(q, k, v, mask)
    theirs = attend(*map(torch.from_numpy, (q, k, v)), None if mask is None else torch.from_numpy(mask))
    for name in ("scores", "scaled", "masked", "weights", "output", "visible"):
        assert isinstance(getattr(ours, name), np.ndarray)
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name).numpy(), rtol=0, atol=1e-12)


def test_a_query_that_may_see_nothing_is_named_in_both_libraries():
    x, mask = np.ones((5, 3)), np.tri(5, 5, -1, dtype=bool)
    for arrays in ((x, mask), (torch.from_numpy(x), torch.from_numpy(mask))):
        with pytest.raises(ValueError, match="the mask hides all keys from query 0"):
            attend(arrays[0], arrays[0], arrays[0], arrays[1])


@given(shape=st.lists(st.integers(1, 7), min_size=2, max_size=5))
def test_sums_and_maxima_of_rows_are_those_of_numpy(shape):
    x = np.random.RandomState(0).randn(*shape)
    for array in (x, torch.from_numpy(x)):
        np.testing.assert_allclose(np.asarray(row_sum(array)), x.sum(axis=-1, keepdims=True), atol=1e-12)
        np.testing.assert_allclose(np.asarray(column_sum(array)), x.sum(axis=-2), atol=1e-12)
        assert np.array_equal(row_max(array), x.max(axis=-1, keepdims=True))
        assert isinstance(row_max(array), type(array)) and isinstance(row_sum(array), type(array))


def test_weights_of_runs_are_aligned_with_a_batch():
    x = np.zeros((3, 2, 5, 7))
    assert align_runs(np.zeros((3, 7)), x, 1).shape == (3, 1, 1, 7)
    assert align_runs(np.zeros((3, 5, 7)), x, 2).shape == (3, 1, 5, 7)
    assert align_runs(np.zeros((5, 7)), x, 2).shape == (5, 7)
    assert align_runs(np.zeros((3, 5, 7)), x[:, 0], 2).shape == (3, 5, 7)
    assert namespace(x) is np and namespace(torch.zeros(1)) is torch


# Two engines


@pytest.mark.parametrize("name", ["characters", "recall", "pronoun", "vectors", "last"])
def test_both_engines_train_the_same(name):
    settings = recommended(TASKS[name], 3, steps=25)
    ours, theirs = losses_of(settings), losses_of(replace(settings, engine="autograd"))
    assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-4) and ours[0] != ours[-1]


def test_both_engines_train_the_notebooks_model_alike_to_six_digits():
    ours, theirs = (losses_of(notebook(steps=200, engine=engine)) for engine in ("numpy", "autograd"))
    assert_close_for_size(ours, theirs, rounding=LAYERS)


def test_an_engine_there_is_not_is_an_error():
    with pytest.raises((ValueError, TypeCheckError), match="autograd"):
        notebook(engine="jax")


# Alone and in company


def steps_of(all_settings, steps):
    """What each run shows in company: all of its steps, as it would be alone."""
    stack = TrainingStack([begin_run(settings) for settings in all_settings])
    return list(zip(*(stack.step() for _ in range(steps)), strict=True))


def assert_same_bits(alone, in_company):
    assert alone.step == in_company.step and alone.loss == in_company.loss
    assert np.array_equal(alone.weights, in_company.weights)
    assert (alone.evaluation is None) == (in_company.evaluation is None)
    if alone.evaluation is not None:
        one, other = alone.evaluation, in_company.evaluation
        assert (one.loss, one.accuracy, one.learnt) == (other.loss, other.accuracy, other.learnt)
        assert np.array_equal(one.role_weights, other.role_weights)


@pytest.mark.part(3)
@pytest.mark.parametrize("name", TASKS)
def test_a_run_has_the_same_bits_alone_and_in_company(name):
    chosen = [recommended(TASKS[name], seed, steps=45) for seed in (3, 7, 11)]
    chosen[1] = replace(chosen[1], learning_rate=0.02, weight_decay=0.3)
    chosen[2] = replace(chosen[2], clip=0.1, steps=50)
    assert len({stack_shape(settings) for settings in chosen}) == 1
    for settings, in_company in zip(chosen, steps_of(chosen, 46), strict=True):
        for alone, together in zip(train(settings), in_company, strict=False):
            assert_same_bits(alone, together)


@given(config=models(output="scores"), batch_size=st.integers(1, 5), company=st.integers(2, 4))
def test_any_model_has_the_same_bits_alone_and_in_company(config, batch_size, company):
    task = CharacterTask("abcdefghijklm abcabcacb"[:14] * 3, 5)
    config = replace(config, vocabulary=len(task.vocabulary))
    chosen = [
        TrainingSettings(task=task, model=config, batch_size=batch_size, seed=seed, steps=3) for seed in range(company)
    ]
    for settings, in_company in zip(chosen, steps_of(chosen, 4), strict=True):
        for alone, together in zip(train(settings), in_company, strict=True):
            assert_same_bits(alone, together)


def test_runs_on_different_texts_train_together_where_their_sizes_agree():
    texts = CharacterTask("hello world"), CharacterTask("dlrow olleh")
    chosen = [TrainingSettings(task=text, model=notebook_model(8), steps=45) for text in texts]
    assert stack_shape(chosen[0]) == stack_shape(chosen[1])
    for settings, in_company in zip(chosen, steps_of(chosen, 46), strict=True):
        for alone, together in zip(train(settings), in_company, strict=True):
            assert_same_bits(alone, together)


def test_runs_may_part_and_meet_others_without_changing_a_bit():
    first, second, third = (begin_run(notebook(seed, steps=60)) for seed in range(3))
    shown = {0: [], 1: [], 2: []}

    def go_on(states, steps):
        stack = TrainingStack(states)
        for _ in range(steps):
            for state, step in zip(states, stack.step(), strict=True):
                shown[state.draws.settings.seed].append(step.loss)
        stack.write_back()

    go_on([first, second], 13)
    go_on([third], 5)
    go_on([second, third, first], 29)
    go_on([first], 4)
    for seed, losses in shown.items():
        assert losses == losses_of(notebook(seed, steps=60))[: len(losses)] and len(losses) > 20


def test_what_a_step_shows_is_not_changed_by_later_ones():
    stack = TrainingStack([begin_run(notebook(seed)) for seed in range(2)])
    first = stack.step()
    before = [step.weights.copy() for step in first]
    stack.step()
    assert all(np.array_equal(step.weights, weights) for step, weights in zip(first, before, strict=True))
    assert not np.array_equal(stack.weights[0], before[0])
