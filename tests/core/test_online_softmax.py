"""Attention block by block: after each block what loops over the keys so far give, in the end what `attend` gives."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.arrays import namespace
from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.online_softmax import attend_in_blocks

QUERIES, KEYS, D_K, D_V = 5, 13, 3, 11


def random_qkv(batch=(), seed=0):
    random, shapes = generator(seed), ((QUERIES, D_K), (KEYS, D_K), (KEYS, D_V))
    return [torch.randn(*batch, *shape, generator=random, dtype=torch.float64) for shape in shapes]


def random_mask(batch=(), seed=1, blind=False):
    mask = torch.rand(*batch, QUERIES, KEYS, generator=generator(seed)) < 0.4
    mask[..., 4] |= not blind
    mask[..., 2, :] &= not blind
    return mask


@pytest.mark.parametrize("library", ["numpy", "torch"])
@given(
    batch=st.sampled_from([(), (2,), (3, 2)]),
    block=st.integers(1, 17),
    seed=st.integers(0, 99),
    masked=st.booleans(),
    options=st.fixed_dictionaries(
        {},
        optional={
            "scale": st.sampled_from([0.37, 20.0]),
            "soft_cap": st.just(1.7),
            "sink": st.sampled_from([-1.0, 2.0]),
        },
    ),
)
def test_blocks_of_any_size_give_the_numbers_of_attend(library, batch, block, seed, masked, options):
    q, k, v = random_qkv(batch, seed)
    mask = random_mask(batch, seed, blind="sink" in options) if masked else None
    if library == "numpy":
        q, k, v, mask = (None if array is None else array.numpy() for array in (q, k, v, mask))
    *_, last = attend_in_blocks(q, k, v, mask, block=block, **options)
    assert namespace(last.output) is namespace(q)
    np.testing.assert_allclose(last.output, attend(q, k, v, mask, **options).output, rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 4, 13])
def test_each_step_is_what_loops_over_the_keys_so_far_give(block):
    (q, k, v), mask = random_qkv(), random_mask()
    previous = [-math.inf] * QUERIES
    steps = list(attend_in_blocks(q, k, v, mask, block=block))
    assert [(step.begin, step.end) for step in steps] == [(b, min(b + block, KEYS)) for b in range(0, KEYS, block)]
    for step in steps:
        assert step.masked.shape == (QUERIES, step.end - step.begin)
        for i in range(QUERIES):
            seen = [j for j in range(step.end) if mask[i, j]]
            scores = [float(q[i] @ k[j]) / math.sqrt(D_K) for j in seen]
            largest = max(scores, default=-math.inf)
            powers = [math.exp(score - largest) for score in scores]
            assert math.isclose(step.largest[i], largest)
            assert math.isclose(step.total[i], sum(powers), abs_tol=1e-12)
            assert math.isclose(step.rescale[i], math.exp(previous[i] - largest) if seen else 0)
            mixed = sum((power * v[j] for power, j in zip(powers, seen, strict=True)), torch.zeros(D_V).double())
            torch.testing.assert_close(step.mixed[i], mixed)
            torch.testing.assert_close(step.output[i], mixed / sum(powers) if seen else mixed)
            previous[i] = largest


def test_scores_far_beyond_what_exp_can_hold_give_the_same_too():
    q, k, v = random_qkv()
    *_, last = attend_in_blocks(q * 1e4, k * 1e4, v, block=3)
    torch.testing.assert_close(last.output, attend(q * 1e4, k * 1e4, v).output)


def test_each_head_has_a_sink_of_its_own():
    q, k, v = random_qkv((3, 2))
    sink = torch.tensor([0.5, -3.0], dtype=torch.float64)
    *_, last = attend_in_blocks(q, k, v, block=5, sink=sink)
    torch.testing.assert_close(last.output, attend(q, k, v, sink=sink).output)


def test_errors_are_those_of_attend():
    q, k, v = random_qkv()
    for wrong, message in (
        (lambda: attend_in_blocks(q, k, v, block=0), "at least 1, but got 0"),
        (lambda: attend_in_blocks(q, k, v, random_mask(blind=True), block=3), "at least one key"),
    ):
        with pytest.raises(ValueError, match=message):
            next(wrong())
