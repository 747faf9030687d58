"""A head turned for a text, beside plain products of what it was."""

import numpy as np
import pytest
import torch

from attention_core.one_head.turning import FEATURES, clear_axes, turn_for_scores, turn_for_values


def drawn(n_queries, n_keys, d_k, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n_queries, d_k)), random.standard_normal((n_keys, d_k))


def rest_of(q, k, turn):
    """What the features behind the first ones add to each score, product by product."""
    q, k = q @ turn, k @ turn
    return np.array(
        [[sum(a * b for a, b in zip(row[FEATURES:], key[FEATURES:], strict=True)) for key in k] for row in q]
    )


@pytest.mark.parametrize(("n_queries", "n_keys", "d_k"), [(11, 11, 67), (5, 13, 31), (1, 1, 17), (3, 3, 29)])
def test_a_turn_is_orthogonal_and_leaves_every_score(n_queries, n_keys, d_k):
    q, k = drawn(n_queries, n_keys, d_k)
    turn = turn_for_scores(q, k)
    np.testing.assert_allclose(turn.T @ turn, np.eye(d_k), atol=1e-10)
    np.testing.assert_allclose((q @ turn) @ (k @ turn).T, q @ k.T, atol=1e-10)


def test_few_keys_need_no_more_features_than_are_shown():
    q, k = drawn(7, 7, 31)
    assert np.abs(rest_of(q, k, turn_for_scores(q, k))).max() < 1e-10


def test_most_of_the_scores_comes_from_the_features_in_front():
    q, k = drawn(11, 11, 67, seed=3)
    turned, stored = (np.abs(rest_of(q, k, turn)).sum() for turn in (turn_for_scores(q, k), np.eye(67)))
    assert turned < stored / 5


def test_the_first_features_take_most_in_order():
    q, k = drawn(7, 7, 31, seed=5)
    turn = turn_for_scores(q, k)
    taken = np.abs((q @ turn)[:, None] * (k @ turn)[None]).sum(axis=(0, 1))[:7]
    assert (np.diff(taken) <= 1e-9).all()


def test_values_keep_their_lengths_and_lie_in_front():
    v = drawn(1, 13, 37)[1]
    turn = turn_for_values(v)
    np.testing.assert_allclose(turn.T @ turn, np.eye(37), atol=1e-10)
    lengths = np.sqrt([sum(number**2 for number in row) for row in v @ turn])
    np.testing.assert_allclose(lengths, np.sqrt([sum(number**2 for number in row) for row in v]), atol=1e-10)
    assert np.abs((v @ turn)[:, 13:]).max() < 1e-10


def test_clear_axes_make_each_feature_answer_to_few():
    random = np.random.default_rng(7)
    hidden, _ = np.linalg.qr(random.standard_normal((5, 5)))
    vectors = np.diag([5.0, 4.0, 3.0, 2.0, 1.0]) @ hidden  # each vector along an axis of its own, which is not shown
    found = np.abs(vectors @ clear_axes(vectors))
    assert (np.sort(found, axis=0)[:-1] < 0.01).all()


def test_torch_and_numpy_agree():
    q, k = drawn(5, 7, 31)
    theirs = turn_for_scores(torch.tensor(q), torch.tensor(k)).numpy()
    np.testing.assert_allclose(np.abs((k @ theirs)[:, :5]), np.abs((k @ turn_for_scores(q, k))[:, :5]), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_each_axis_points_where_the_vector_that_reaches_furthest_along_it_is_positive(seed):
    """So it does whatever a processor makes of the last digits, and whatever sign a decomposition has picked."""
    q, k = drawn(7, 7, 31, seed)
    for vectors, turn in ((k, turn_for_scores(q, k)), (k, turn_for_values(k))):
        for along in (vectors @ turn).T[:7]:
            assert max(along, key=abs) > 0


def test_single_and_double_precision_turn_alike():
    q, k = drawn(7, 7, 31)
    single, double = (turn_for_scores(q.astype(kind), k.astype(kind)) for kind in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, atol=1e-3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(turn_for_values(k.astype(np.float32)), turn_for_values(k), atol=1e-3)
