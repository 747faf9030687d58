"""What is measured of scores and weights, against whole matrices and known numbers."""

import math

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.measured.measures import mean_entropy, measure_scaling, softmax_jacobian_norm


def test_the_jacobian_norm_is_that_of_the_whole_matrix():
    weights = torch.randn(7, 5, generator=generator(3)).softmax(dim=-1)
    for row, norm in zip(weights, softmax_jacobian_norm(weights), strict=True):
        assert float(norm) == pytest.approx(float((torch.diag(row) - torch.outer(row, row)).norm()), rel=1e-4)


def test_what_the_division_does_is_measured_as_known():
    measured = {(m.d_k, m.divided): m for m in measure_scaling(16, 400, 0)}
    assert measured[2, False].largest == pytest.approx(0.30, abs=0.03)
    assert measured[512, False].largest == pytest.approx(0.95, abs=0.02)
    assert measured[512, False].jacobian == pytest.approx(0.07, abs=0.03)
    for d_k in (1, 4, 64, 512):
        assert measured[d_k, True].std == pytest.approx(1, abs=0.06)
        assert measured[d_k, False].std == pytest.approx(math.sqrt(d_k), rel=0.06)
    assert measured[512, True].largest == pytest.approx(0.25, abs=0.03)
    assert measure_scaling(16, 400, 1) != measure_scaling(16, 400, 0)


def test_entropy_counts_the_keys_that_a_row_is_spread_over():
    shared_by = [[1, 0, 0, 0, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0, 0, 0], [0.125] * 8]
    for row, bits in zip(shared_by, (0, 1, 3), strict=True):
        assert mean_entropy(torch.tensor([row], dtype=torch.float32)) == pytest.approx(bits)
    assert mean_entropy(torch.tensor(shared_by)) == pytest.approx(4 / 3)
