"""Sinusoidal and rotary positions against plain loops and their defining properties."""

import math

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.text.embeddings import rotate, sinusoidal_positions
from tests.rounding import SUMS


def test_sinusoidal_positions_are_the_formula_of_the_paper():
    n_tokens, d_model = 11, 7
    table = sinusoidal_positions(n_tokens, d_model)
    assert table.shape == (n_tokens, d_model)
    for place in range(n_tokens):
        for feature in range(d_model):
            wave = math.sin if feature % 2 == 0 else math.cos
            angle = place / 10000 ** ((feature - feature % 2) / d_model)
            assert table[place, feature].item() == pytest.approx(wave(angle), abs=SUMS * max(1, angle))


def test_rotation_turns_each_pair_by_its_own_angle():
    x = torch.randn(3, 5, 6, generator=generator(2))
    turned = rotate(x)
    for place in range(5):
        for pair in range(3):
            angle = place / 10000 ** (2 * pair / 6)
            as_complex = torch.view_as_complex(x[:, place, 2 * pair : 2 * pair + 2].contiguous())
            expected = as_complex * complex(math.cos(angle), math.sin(angle))
            got = torch.view_as_complex(turned[:, place, 2 * pair : 2 * pair + 2].contiguous())
            assert torch.allclose(got, expected, atol=1e-6)


def test_rotated_scores_depend_on_the_distance_alone():
    q, k = torch.randn(2, 1, 6, generator=generator(3)).expand(2, 13, 6)
    scores = rotate(q) @ rotate(k).mT
    for distance in range(-12, 13):
        same = scores.diagonal(distance)
        assert torch.allclose(same, same[0].expand_as(same), atol=1e-5)


def test_rotation_keeps_lengths():
    x = torch.randn(13, 8, generator=generator(4))
    assert torch.allclose(rotate(x).norm(dim=-1), x.norm(dim=-1), atol=1e-5)


def test_what_cannot_be_placed_is_said():
    with pytest.raises(ValueError, match="must be even, but it is 3"):
        rotate(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="n_tokens is a whole number of at least 1, but got 0"):
        sinusoidal_positions(0, 4)


def test_angles_kept_from_inference_serve_training():
    with torch.inference_mode():
        rotate(torch.zeros(1, 7, 10))
    x = torch.ones(1, 7, 10, requires_grad=True)
    rotate(x).sum().backward()
    assert x.grad.shape == x.shape
