"""Windows, global tokens and ALiBi: cell by cell, and as PyTorch's flex_attention has them, as functions of i and j."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend, mask_scores
from attention_core.one_head.distances import alibi_biases, alibi_slopes, distances, with_global_tokens, within_window
from attention_core.one_head.masks import causal_mask, sliding_window_mask

HEADS, QUERIES, KEYS, D_K, D_V = 2, 5, 7, 3, 11
SIDE = st.none() | st.integers(0, 6)


def cells(n_queries, n_keys, rule):
    return [[rule(i, j) for j in range(n_keys)] for i in range(n_queries)]


def random_qkv(*heads, d_v=D_V):
    random, shapes = generator(0), ((QUERIES, D_K), (KEYS, D_K), (KEYS, d_v))
    return [torch.randn(*heads, *shape, generator=random, dtype=torch.float64) for shape in shapes]


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 5))
def test_a_distance_is_position_of_the_key_less_position_of_the_query(n_queries, n_keys, past):
    assert distances(n_queries, n_keys, past).tolist() == cells(n_queries, n_keys, lambda i, j: j - (past + i))


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 5), SIDE, SIDE)
def test_a_window_reaches_as_far_left_and_right_as_it_says(n_queries, n_keys, past, left, right):
    def rule(i, j):
        return (left is None or past + i - left <= j) and (right is None or j <= past + i + right)

    window = within_window(distances(n_queries, n_keys, past), left, right)
    assert window.tolist() == cells(n_queries, n_keys, rule)


@given(st.integers(1, 7), st.integers(1, 7))
def test_windows_are_the_masks_that_the_lessons_know(n, width):
    distance = distances(n, n)
    assert torch.equal(within_window(distance, right=0), causal_mask(n))
    assert torch.equal(within_window(distance, width - 1, width - 1), sliding_window_mask(n, width))


@given(st.lists(st.booleans(), min_size=7, max_size=7), st.integers(0, 3))
def test_global_tokens_look_at_all_and_are_seen_by_all(is_global, left):
    mask = with_global_tokens(within_window(distances(7, 7), left, 0), torch.tensor(is_global))
    assert mask.tolist() == cells(7, 7, lambda i, j: is_global[i] or is_global[j] or i - left <= j <= i)


def test_slopes_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(2).tolist() == [2.0**-4, 2.0**-8]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    every_other_of_eight = [2.0**-1, 2.0**-3]
    assert alibi_slopes(6).tolist() == [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, *every_other_of_eight]


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 8, 12])
def test_each_head_has_a_slope_of_its_own_and_takes_it_off_for_each_step(n_heads):
    slopes, biases = alibi_slopes(n_heads), alibi_biases(distances(QUERIES, KEYS, 3), n_heads)
    assert len(slopes) == len(set(slopes.tolist())) == n_heads and slopes.min() > 0 and slopes.max() < 1
    for head in range(n_heads):
        expected = cells(QUERIES, KEYS, lambda i, j, head=head: -float(slopes[head]) * abs(j - i - 3))
        torch.testing.assert_close(biases[head], torch.tensor(expected))


@pytest.mark.parametrize(("left", "right"), [(2, 0), (1, 3), (None, 0), (3, None)])
def test_windows_and_biases_give_what_flex_attention_gives(left, right):
    q, k, v = random_qkv(1, HEADS)
    slopes = alibi_slopes(HEADS).double()

    def near(b, h, i, j):
        return (j >= i - (KEYS if left is None else left)) & (j <= i + (KEYS if right is None else right))

    def bias(score, b, h, i, j):
        return score - slopes[h] * (j - i).abs()

    distance = distances(QUERIES, KEYS)
    mask = mask_scores(alibi_biases(distance, HEADS).double(), within_window(distance, left, right))
    block_mask = create_block_mask(near, None, None, QUERIES, KEYS, device="cpu")
    expected = flex_attention(q, k, v, score_mod=bias, block_mask=block_mask)
    torch.testing.assert_close(attend(q, k, v, mask).output, expected)


def test_alibi_by_loops():
    q, k, v = random_qkv(HEADS)
    trace = attend(q, k, v, alibi_biases(distances(QUERIES, KEYS), HEADS).double())
    for head, slope in enumerate(alibi_slopes(HEADS).tolist()):
        for i in range(QUERIES):
            scores = [float(q[head, i] @ k[head, j]) / math.sqrt(D_K) - slope * abs(j - i) for j in range(KEYS)]
            powers = [math.exp(score) for score in scores]
            expected = torch.tensor([power / sum(powers) for power in powers], dtype=torch.float64)
            torch.testing.assert_close(trace.weights[head, i], expected)
