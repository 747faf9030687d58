"""What is measured of heads, against plain loops over heads, queries and features."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.measured.head_measures import (
    head_contributions,
    head_difference,
    head_reach,
    outside_slice,
    total_variation,
)
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads
from attention_core.one_head.masks import causal_mask


def drawn_heads(n_heads, n_tokens, causal, seed):
    random = generator(seed)
    q, k, v = (torch.randn(n_heads, n_tokens, 3, generator=random) for _ in "qkv")
    return attend(q, k, v, causal_mask(n_tokens) if causal else None)


@given(st.integers(1, 5), st.integers(1, 7), st.booleans(), st.integers(0, 99))
def test_the_difference_of_heads_is_the_total_variation_over_rows_with_a_choice(n_heads, n_tokens, causal, seed):
    heads = drawn_heads(n_heads, n_tokens, causal, seed)
    weights, visible, found = heads.weights.tolist(), heads.visible[0].tolist(), {}
    for i in [i for i, row in enumerate(visible) if sum(row) > 1]:
        for a in range(n_heads):
            for b in range(a + 1, n_heads):
                pairs = zip(weights[a][i], weights[b][i], strict=True)
                found[(a, b), i] = sum(abs(p - q) for p, q in pairs) / 2
    difference = head_difference(heads)
    if not found:
        assert difference is None
        return
    measured = {
        (pair, query): float(difference.distances[row, column])
        for row, pair in enumerate(difference.pairs)
        for column, query in enumerate(difference.queries)
    }
    assert measured == pytest.approx(found, abs=1e-6)
    assert difference.mean == pytest.approx(sum(found.values()) / len(found), abs=1e-6)


def test_total_variation_goes_from_the_same_row_to_nothing_in_common():
    a = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    b = torch.tensor([[0.0, 0.25, 0.75], [0.2, 0.3, 0.5]])
    assert total_variation(a, b).tolist() == [1.0, 0.0]


def test_what_the_heads_add_sums_to_the_output():
    module = MultiHeadAttention.draw(6, 3, bias=True, generator=generator(5))
    x = torch.randn(7, 6, generator=generator(3))
    output, trace = module(x)
    added = head_contributions(trace.heads.output, module.W_o)
    torch.testing.assert_close(added.sum(dim=0) + module.b_o, output)
    for head in range(3):
        torch.testing.assert_close(added[head], trace.heads.output[head] @ module.W_o[2 * head : 2 * head + 2])


@pytest.mark.parametrize("causal", [True, False])
def test_reach_is_measured_by_changing_one_feature_at_a_time(causal):
    x, mask = torch.randn(5, 6, generator=generator(2)), causal_mask(5) if causal else None
    for kind in (MultiHeadAttention, SlicedHeads):
        module = kind.draw(6, 3, generator=generator(2))
        reach = head_reach(module, x, [0, 2, 5], mask, 0.7)
        for column, feature in enumerate((0, 2, 5)):
            changed = x.clone()
            changed[:, feature] += 1
            before, after = (module(one, mask, scale=0.7)[1].heads.output.detach() for one in (x, changed))
            for head in range(3):
                expected = float((after[head] - before[head]).abs().max())
                assert float(reach[head, column]) == pytest.approx(expected, abs=1e-6)


def test_a_sliced_head_sees_exactly_nothing_outside_its_slice():
    x, features = torch.randn(5, 6, generator=generator(2)), list(range(6))
    sliced = head_reach(SlicedHeads.draw(6, 3, generator=generator(2)), x, features, None, 0.7)
    projected = head_reach(MultiHeadAttention.draw(6, 3, generator=generator(2)), x, features, None, 0.7)
    for head in range(3):
        others = [feature for feature in features if feature // 2 != head]
        assert (sliced[head, others] == 0).all() and (sliced[head, [2 * head, 2 * head + 1]] > 0.01).all()
        assert float(outside_slice(projected, features, 2)[head]) == max(projected[head, others].tolist()) > 0.01
    assert outside_slice(sliced, features, 2).tolist() == [0, 0, 0]
    assert outside_slice(projected[:1], features, 6).tolist() == [0]
