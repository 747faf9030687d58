"""Shuffles, positions and residuals: against plain loops, and by what must hold for every order."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.measured.permutation import (
    attend_in_both_orders,
    attend_with_positions,
    measure_residuals,
    random_permutation,
    read_permutation,
)
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary, rotate, sinusoidal_positions
from attention_core.text.positions import (
    FURTHEST,
    N_POSITIONS,
    add_positions,
    added_positions,
    kinds_for,
    scores_by_distance,
    similarity_of_query_and_key,
    similarity_of_rows,
    turn_vectors,
    wavelengths,
)
from lessons.example.example import Example, run_example
from lessons.trace.head import head_inputs

SIZES = st.tuples(st.integers(1, 12), st.integers(1, 11), st.integers(1, 7), st.integers(1, 5))
KINDS = ["none", "sinusoidal", "learned", "rotary"]


def drawn(n, d_model, d_k, d_v, seed=0):
    """Tokens and the maps W_q, W_k and W_v of one head, all of different sizes."""
    random = generator(seed)
    shapes = (n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return [torch.randn(shape, generator=random) for shape in shapes]


def both_orders(head, order, kind, seed=0, mask=None):
    return attend_in_both_orders(*head, order, mask, head[1].shape[1] ** -0.5, kind, seed)


def residual_of(head, order, kind, seed, causal):
    measured = measure_residuals(*head, order, head[1].shape[1] ** -0.5, seed)
    return next(r for r in measured if (r.kind, r.causal) == (kind, causal))


def attend_by_loops(x, W_q, W_k, W_v, scale, positions, causal):
    """One head with rows added to x, number by number and in double precision."""
    rows = [[float(a) + float(b) for a, b in zip(r, p, strict=True)] for r, p in zip(x, positions, strict=True)]

    def project(W):
        return [[sum(r[f] * float(W[f, c]) for f in range(len(r))) for c in range(W.shape[1])] for r in rows]

    q, k, v = map(project, (W_q, W_k, W_v))
    output = []
    for i in range(len(rows)):
        keys = range(i + 1) if causal else range(len(rows))
        powers = [math.exp(scale * sum(a * b for a, b in zip(q[i], k[j], strict=True))) for j in keys]
        output.append(
            [sum(p * v[j][c] for p, j in zip(powers, keys, strict=True)) / sum(powers) for c in range(len(v[0]))]
        )
    return output


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_positions_are_added_before_projecting(kind, causal):
    head, mask = drawn(5, 3, 2, 7), causal_mask(5) if causal else None
    trace = attend_with_positions(*head, mask, 0.3, kind, 11)
    rows = torch.zeros(5, 3) if kind == "none" else added_positions(kind, 5, 3, 11)
    expected = attend_by_loops(*head, 0.3, rows, causal)
    assert torch.allclose(trace.head.output, torch.tensor(expected), atol=1e-5)


def test_rotary_positions_turn_queries_and_keys_but_not_values():
    x, W_q, W_k, W_v = drawn(7, 5, 4, 3)
    trace = attend_with_positions(x, W_q, W_k, W_v, None, 0.5, "rotary", 0).head
    assert torch.equal(trace.v, x @ W_v)
    for place in range(7):
        for pair in range(2):
            angle = place / 10000 ** (2 * pair / 4)
            turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            for turned, W in ((trace.q, W_q), (trace.k, W_k)):
                own = slice(2 * pair, 2 * pair + 2)
                assert torch.allclose(turned[place, own], turn @ (x[place] @ W)[own], atol=1e-5)


def test_added_positions_are_the_tables_they_say():
    assert torch.equal(added_positions("sinusoidal", 5, 3, 1), sinusoidal_positions(5, 3))
    x = torch.ones(5, 3)
    for kind in ("none", "rotary"):
        rows = add_positions(x, kind, 1)
        assert rows.going_in is x and rows.positions is None
    learned = added_positions("learned", 7, 3, 1)
    assert torch.equal(learned[:5], added_positions("learned", 5, 3, 1)), "a longer sentence keeps the first rows"
    assert not torch.equal(learned, added_positions("learned", 7, 3, 2))


@given(SIZES, st.integers(0, 9999))
def test_without_mask_and_positions_the_output_is_shuffled_along(sizes, seed):
    head, order = drawn(*sizes, seed=seed), random_permutation(sizes[0], seed)
    both = both_orders(head, order, "none")
    own = both.own.head
    size = max(1, float(own.output.abs().max())) * max(1, float(own.scaled.abs().max()))
    assert both.residual <= 1e-5 * size
    assert torch.allclose(both.weights, both.shuffled.head.weights, atol=1e-5 * size)
    measured = residual_of(head, order, "none", 0, False)
    assert not measured.knows_order
    assert measured.residual == both.residual


def test_moved_output_and_weights_are_those_of_the_same_tokens():
    x, W_q, *_ = head = drawn(5, 3, 2, 7)
    order = (2, 0, 4, 1, 3)
    both = both_orders(head, order, "sinusoidal", 3)
    own, shuffled = both.own.head, both.shuffled.head
    assert torch.equal(shuffled.q, (x[[2, 0, 4, 1, 3]] + sinusoidal_positions(5, 3)) @ W_q)
    for i, old_i in enumerate(order):
        assert torch.equal(both.output[i], own.output[old_i])
        for j, old_j in enumerate(order):
            assert both.weights[i, j] == own.weights[old_i, old_j]
    differences = [
        abs(float(a) - float(b)) for a, b in zip(shuffled.output.flatten(), both.output.flatten(), strict=True)
    ]
    assert both.residual == pytest.approx(max(differences))


@given(seed=st.integers(0, 500))
def test_positions_and_the_mask_give_the_order_away(seed):
    measured = measure_residuals(*drawn(7, 5, 4, 3, seed=seed), random_permutation(7, seed), 0.5, seed)
    assert {r.kind for r in measured} == set(KINDS)
    for r in measured:
        assert r.knows_order == (r.causal or r.kind != "none")


@given(SIZES)
def test_the_own_order_leaves_nothing_at_all(sizes):
    for measured in measure_residuals(*drawn(*sizes), tuple(range(sizes[0])), 0.5, 0):
        assert measured.residual == measured.precise == 0


def test_the_first_token_under_the_causal_mask_sees_itself_alone():
    x, *_, W_v = head = drawn(5, 3, 2, 7)
    both = both_orders(head, (4, 3, 2, 1, 0), "none", mask=causal_mask(5))
    assert torch.allclose(both.shuffled.head.output[0], x[4] @ W_v, atol=1e-6)


@pytest.mark.parametrize(("d_k", "kinds"), [(2, KINDS), (3, KINDS[:3]), (1, KINDS[:3]), (8, KINDS)])
def test_rotary_positions_are_offered_for_even_d_k_only(d_k, kinds):
    assert list(kinds_for(d_k)) == kinds
    residuals = measure_residuals(*drawn(6, 3, d_k, 2), random_permutation(6, 1), 0.5, 0)
    assert [(r.kind, r.causal) for r in residuals] == [(kind, causal) for kind in kinds for causal in (False, True)]


def test_the_projections_of_a_head_are_those_that_ran():
    trace = run_example(Example(source="sentence", n_heads=3, d_k=2, d_v=5, causal=False))
    for head in range(3):
        again = attend_with_positions(**head_inputs(trace, head), kind="none", seed=0).head
        assert torch.allclose(again.output, trace.heads.output[head], atol=1e-6)


@given(st.integers(1, 12), st.integers(0, 9999))
def test_a_shuffle_is_an_order_and_never_the_own_one(n, seed):
    order = random_permutation(n, seed)
    assert sorted(order) == list(range(n)) and order == random_permutation(n, seed)
    assert n == 1 or order != tuple(range(n))


@given(st.permutations(range(7)), st.sampled_from([" ", ",", ", ", "  "]))
def test_an_order_typed_is_read_back(order, between):
    assert read_permutation(between.join(str(place + 1) for place in order), 7) == tuple(order)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2 x", "names the positions 1 to 3, such as 3 2 1, but got “x”"),
        ("1 2 4", "but got “4”"),
        ("0 1 2", "but got “0”"),
        ("1 2 2", "each position appears once, as in 3 2 1, but 2 appears 2 times"),
        ("3", "missing: 1, 2"),
        ("3 1", "missing: 2"),
        ("1 2 " + "y" * 99, "but got “yyyyyyyyyyyy…”"),
        ("1.0 2 3", "but got “1.0”"),
        ("١ ٢ ٣", "but got “١”"),
        ("-1 2 3", "but got “-1”"),
    ],
)
def test_what_is_no_order_is_said(text, said):
    with pytest.raises(ValueError, match=r"^(an order names|each position appears)") as caught:
        read_permutation(text, 3)
    assert said in str(caught.value)


@given(st.text(max_size=40), st.integers(1, 12))
def test_any_text_is_an_order_or_a_sentence(text, n):
    try:
        assert sorted(read_permutation(text, n)) == list(range(n))
    except ValueError as error:
        assert str(error)


def cosine(a, b):
    length = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / max(length, 1e-12)


@pytest.mark.parametrize(("kind", "d_model"), [("sinusoidal", 6), ("sinusoidal", 3), ("learned", 5), ("sinusoidal", 1)])
def test_likeness_of_rows_is_gathered_over_distance(kind, d_model):
    similarity = similarity_of_rows(kind, d_model, 7)
    rows = added_positions(kind, N_POSITIONS, d_model, 7).tolist()
    for distance in (-FURTHEST, -5, 0, 3, FURTHEST):
        pairs = [cosine(rows[i], rows[i + distance]) for i in range(N_POSITIONS) if 0 <= i + distance < N_POSITIONS]
        place = similarity.distances.index(distance)
        assert similarity.at(distance) == pytest.approx(sum(pairs) / len(pairs), abs=1e-5)
        assert similarity.least[place] == pytest.approx(min(pairs), abs=1e-5)
        assert similarity.most[place] == pytest.approx(max(pairs), abs=1e-5)


def test_only_the_distance_counts_for_even_sines_and_for_rotations():
    assert similarity_of_rows("sinusoidal", 8, 0).variation < 1e-5
    assert 1e-2 < similarity_of_rows("sinusoidal", 3, 0).variation < 0.1
    assert similarity_of_rows("learned", 8, 0).variation > 0.5
    row, W_q, W_k, _ = drawn(1, 3, 4, 2, seed=5)
    q, k = row @ W_q, row @ W_k
    rotary, none = (similarity_of_query_and_key(row[0], W_q, W_k, kind) for kind in ("rotary", "none"))
    assert rotary.variation < 1e-5 and none.variation < 1e-6
    assert none.mean == pytest.approx([none.at(0)] * len(none.mean), abs=1e-6)
    assert rotary.at(0) == pytest.approx(none.at(0), abs=1e-5)
    turned_q, turned_k = rotate(q.expand(9, -1))[3], rotate(k.expand(9, -1))[8]
    assert rotary.at(5) == pytest.approx(cosine(turned_q.tolist(), turned_k.tolist()), abs=1e-5)
    assert rotary.at(5) != pytest.approx(rotary.at(-5), abs=1e-3)


def test_wavelengths_are_where_a_wave_comes_round():
    assert wavelengths(4) == pytest.approx([2 * math.pi, 200 * math.pi])
    assert len(wavelengths(5)) == 3


def test_attention_itself_is_what_runs():
    x, *maps = drawn(5, 3, 2, 7)
    own = attend(*(x @ W for W in maps), scale=0.7)
    assert torch.equal(attend_with_positions(x, *maps, None, 0.7, "none", 0).head.output, own.output)


@pytest.mark.parametrize("rotary", [Rotary(100_000.0), Rotary(features=4), Rotary(stretch=3.0)])
def test_each_way_of_turning_is_that_of_the_vectors_the_angles_and_the_scores(rotary):
    x, W_q, W_k, _ = drawn(7, 5, 6, 3)
    turned = turn_vectors(x, W_q, W_k, rotary)
    assert torch.allclose(turned.q_turned, rotate(x @ W_q, how=rotary), atol=1e-6)
    speeds = [rotary.base ** (-2 * pair / (rotary.features or 6)) for pair in range((rotary.features or 6) // 2)]
    assert turned.angles[4].tolist() == pytest.approx([4 * speed / rotary.stretch for speed in speeds])
    scores = scores_by_distance(turned.q[6], turned.k[2], 0.5, rotary)
    assert float(scores[4]) == pytest.approx(float(turned.q_turned[6] @ turned.k_turned[2]) / 2, abs=1e-5)
