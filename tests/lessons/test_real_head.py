"""The view of a head of many features: every number again, by loops over the numbers of the example."""

import math
import random
from dataclasses import replace

import pytest
import torch

from lessons.example.example import Example, run_example
from lessons.one_head.projections.lesson import Choices, screen
from lessons.one_head.projections.real_head import limit_of
from lessons.screen import Fixed, render_all
from lessons.shared.adding_up import in_hundredths

SHIPPED = Example(source="language", text="", layer=14)
HEAD, IT, CAT = 8, 7, 1


def figures(*, query=IT, key=CAT, head=HEAD, **choices):
    trace = run_example(replace(SHIPPED, **choices))
    return trace, screen(trace, head, Choices("head", query, key)).figures


def vectors(trace, head=HEAD):
    return trace.heads.q[head].tolist(), trace.heads.k[head].tolist()


def product(trace, query, key, feature, head=HEAD):
    q, k = vectors(trace, head)
    return q[query][feature] * k[key][feature]


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize(("query", "head"), [(IT, HEAD), (9, 2), (0, 5)])
def test_columns_and_the_others_are_the_products_and_add_up_to_the_score(turned, query, head):
    trace, (_, pairs, *_) = figures(query=query, head=head, turned=turned)
    assert len(pairs.shown) == 8 and pairs.others == 56 and len(pairs.keys) == query + 1
    for place, row in enumerate(pairs.keys):
        products = [product(trace, query, place, feature, head) for feature in range(64)]
        here = [products[feature - 1] for feature in pairs.shown]
        others = sum(number for feature, number in enumerate(products, 1) if feature not in pairs.shown)
        assert [part.value for part in row.parts] == pytest.approx([*here, others], abs=1e-4)
        assert row.score.value == pytest.approx(float(trace.heads.scores[head, query, place]), abs=1e-3)
        assert sum(part.hundredths for part in row.parts) == row.score.hundredths
        for part in (*row.parts, row.score):
            assert abs(part.hundredths / 100 - part.value) < 0.01


def test_turned_the_first_features_are_shown_and_as_stored_those_with_the_largest_products():
    _, (_, pairs, *_) = figures()
    assert pairs.shown == (1, 2, 3, 4, 5, 6, 7, 8)
    trace, (_, pairs, *_) = figures(turned=False)
    sums = [sum(abs(product(trace, IT, key, feature)) for key in range(IT + 1)) for feature in range(64)]
    largest = sorted(range(64), key=lambda feature: -sums[feature])[:8]
    assert pairs.shown == tuple(feature + 1 for feature in sorted(largest))


def test_turned_or_as_stored_the_scores_are_the_same():
    (_, (_, turned, *_)), (_, (_, stored, *_)) = figures(), figures(turned=False)
    for one, other in zip(turned.keys, stored.keys, strict=True):
        assert one.score.value == pytest.approx(other.score.value, abs=1e-3)


@pytest.mark.parametrize("turned", [True, False])
def test_the_terms_of_a_pair_are_sorted_and_the_others_unfold_into_what_they_add(turned):
    trace, (_, pairs, table) = figures(turned=turned)
    q, k = vectors(trace)
    sizes = [abs(term.product.value) for term in pairs.terms]
    assert sizes == sorted(sizes, reverse=True)
    for term in pairs.terms:
        assert (term.of_query, term.of_key) == (q[IT][term.feature - 1], k[CAT][term.feature - 1])
        assert term.product.value == pytest.approx(term.of_query * term.of_key, abs=1e-4)
    *rows, (_, _, _, whole) = table.cells
    assert len(rows) == 56 and {int(row[0]) for row in rows} == set(range(1, 65)) - set(pairs.shown)
    true = [product(trace, IT, CAT, int(row[0]) - 1) for row in rows]
    written = [round(100 * row[3].value) for row in rows]
    assert [abs(number) for number in true] == pytest.approx(sorted(map(abs, true), reverse=True))
    assert all(abs(number / 100 - exact) < 0.01 + 1e-5 for number, exact in zip(written, true, strict=True))
    assert sum(written) == round(100 * whole.value) == pairs.keys[CAT].parts[-1].hundredths
    assert sum(written) + sum(term.product.hundredths for term in pairs.terms) == pairs.keys[CAT].score.hundredths
    assert pairs.scaled == pytest.approx(sum(product(trace, IT, CAT, feature) for feature in range(64)) / 8, abs=1e-4)


def test_without_scaling_nothing_is_divided():
    _, (_, pairs, _) = figures(scaling=False)
    assert pairs.scaled is None and "divided" not in render_all(pairs.notice)


def test_a_key_that_may_not_be_seen_gives_way_to_one_that_may():
    _, (strips, pairs, _) = figures(query=2, key=9)
    assert (pairs.chosen, strips.meets) == (2, 2)
    _, (strips, pairs, _) = figures(query=2, key=9, causal=False)
    assert (pairs.chosen, strips.meets, len(pairs.keys)) == (9, 9, 10)


def test_of_few_features_all_are_shown_and_none_are_left():
    trace = run_example(Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2))
    strips, pairs = screen(trace, 0, Choices("head", 4, 1)).figures
    assert pairs.shown == (1, 2, 3) and pairs.others == 0 and len(pairs.keys[0].parts) == 3
    assert [one.values.shape for one in strips.strips] == [(5, 7), (5, 3), (5, 3), (5, 2)]


def test_the_strips_hold_every_number_and_say_where_bars_are_cut():
    trace, (strips, *_) = figures()
    x, q, k, v = strips.strips
    assert torch.equal(x.values, trace.x) and x.given and not q.given
    for one, found in ((q, trace.heads.q), (k, trace.heads.k), (v, trace.heads.v)):
        torch.testing.assert_close(one.values, found[HEAD], atol=1e-4, rtol=1e-4)
    for one in strips.strips:
        sizes = sorted(abs(number) for row in one.values.tolist() for number in row)
        assert sizes[int(0.98 * len(sizes))] <= one.limit, "nearly all are drawn whole"
        assert one.limit <= 2.01 * sizes[math.ceil(0.99 * (len(sizes) - 1))], "and no more room than they need"


@pytest.mark.parametrize(
    ("number", "limit"), [(0.54, 0.6), (9.4, 10), (13.4, 15), (1.0, 1.0), (0.0, 1.0), (3e-5, 3e-5), (1.2e6, 1.5e6)]
)
def test_bars_are_cut_at_a_round_number(number, limit):
    assert limit_of(torch.full((3, 4), number)) == pytest.approx(limit, rel=1e-5)


def test_rounded_numbers_add_up_whatever_they_are():
    chance = random.Random(5)
    for count in (1, 2, 9, 56):
        for size in (1e-3, 1.0, 300.0):
            parts = [chance.uniform(-size, size) for _ in range(count)]
            for whole in (math.floor(100 * math.fsum(parts)), math.ceil(100 * math.fsum(parts))):
                written = in_hundredths(parts, whole)
                assert sum(written) == whole
                assert all(abs(number / 100 - part) < 0.01 for number, part in zip(written, parts, strict=True))
    assert in_hundredths([0.0, 0.0]) == [0, 0]
    assert in_hundredths([0.004, 0.004, 0.004]) == [1, 0, 0]


def test_a_product_is_followed_to_its_two_numbers():
    trace = run_example(SHIPPED)
    from lessons.one_head.projections.real_head import compute_by_feature

    computation = compute_by_feature(trace, HEAD, IT)
    step = computation.follow("products").step(CAT, 0)
    assert step.value == pytest.approx(product(trace, IT, CAT, 0), abs=1e-3)
    assert "“cat”" in render_all([step.meaning])


def test_what_is_unfolded_is_written_with_two_decimals():
    _, (_, _, table) = figures()
    assert all(isinstance(number, Fixed) and number.decimals == 2 for row in table.cells[:-1] for number in row[1:])
