"""Ours and PyTorch's: the same numbers over all sizes, the two meanings of a mask, and what is said of both."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.measured.parity import compare_with_pytorch, copy_to_pytorch, one_mask_for_both, random_cases
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.one_head.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask


def run(n, d_head, n_heads, mask=None, bias=False, seed=0):
    random = generator(seed)
    ours = MultiHeadAttention.draw(d_head * n_heads, n_heads, bias=bias, generator=random)
    x = torch.randn(n, d_head * n_heads, generator=random)
    return compare_with_pytorch(x, causal_mask(n) if mask is None else mask, ours)


def by_loops(parity):
    """Every head number by number, in double precision: weights of each head, and the output."""
    x, ours, n = parity.x.double(), parity.ours, len(parity.x)
    d_model, d_head = x.shape[-1], x.shape[-1] // ours.n_heads

    def linear(name, row):
        W, b = getattr(ours, f"W_{name}"), getattr(ours, f"b_{name}")
        bias = [0.0] * d_model if b is None else b.tolist()
        return [
            sum(w * v for w, v in zip(column, row, strict=True)) + added
            for column, added in zip(W.T.tolist(), bias, strict=True)
        ]

    q, k, v = ([linear(name, row) for row in x.tolist()] for name in "qkv")
    weights, joined = torch.zeros(ours.n_heads, n, n), [[0.0] * d_model for _ in range(n)]
    for head in range(ours.n_heads):
        own = range(head * d_head, (head + 1) * d_head)
        for i in range(n):
            keys = [j for j in range(n) if parity.may_attend[i, j]]
            powers = [math.exp(sum(q[i][f] * k[j][f] for f in own) / math.sqrt(d_head)) for j in keys]
            for j, power in zip(keys, powers, strict=True):
                weights[head, i, j] = power / sum(powers)
                for f in own:
                    joined[i][f] += power / sum(powers) * v[j][f]
    return weights, torch.tensor([linear("o", row) for row in joined])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_heads", [1, 3])
def test_all_three_are_what_loops_give(n_heads, bias):
    parity = run(5, 2, n_heads, bias=bias)
    weights, output = by_loops(parity)
    for given_weights in (parity.per_head, parity.trace.heads.weights):
        assert torch.allclose(given_weights, weights, atol=1e-6)
    for given_output in (parity.module, parity.trace.output):
        assert torch.allclose(given_output, output, atol=1e-6)
    assert torch.allclose(parity.averaged, weights.mean(dim=0), atol=1e-6)
    assert parity.fused.shape == (n_heads, 5, 2)


@given(
    st.integers(1, 12),
    st.integers(1, 7),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["causal", "full", "window", "padding"]),
    st.integers(0, 9999),
)
def test_the_same_numbers_for_all_sizes_and_masks(n, d_head, n_heads, bias, kind, seed):
    masks = {"causal": causal_mask(n), "full": full_mask(n), "window": sliding_window_mask(n, 2)}
    parity = run(n, d_head, n_heads, masks.get(kind, padding_mask(n, max(1, n - 2))), bias, seed)
    assert max(parity.module_difference, parity.fused_difference, parity.weights_difference) < 5e-6
    assert parity.module_difference == pytest.approx(
        max(abs((parity.module - parity.trace.output).detach().numpy().ravel()))
    )


def test_copying_takes_every_weight_and_leaves_the_global_state_alone():
    ours = MultiHeadAttention.draw(6, 3, bias=True, generator=generator(1))
    before = torch.get_rng_state()
    theirs = copy_to_pytorch(ours)
    assert torch.equal(torch.get_rng_state(), before)
    parts = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for W, weight in zip((ours.W_q, ours.W_k, ours.W_v), parts[0], strict=True):
        assert torch.equal(W, weight.T)
    for b, bias in zip((ours.b_q, ours.b_k, ours.b_v), parts[1], strict=True):
        assert torch.equal(b, bias)
    assert torch.equal(ours.W_o, theirs.out_proj.weight.T) and torch.equal(ours.b_o, theirs.out_proj.bias)
    assert not any(parameter.is_meta for parameter in theirs.parameters())
    assert not theirs.training


def test_weights_that_are_not_copied_do_not_agree():
    parity = run(5, 2, 3)
    other = MultiHeadAttention.draw(6, 3, generator=generator(99))
    assert (other(parity.x, parity.may_attend)[0] - parity.trace.output).abs().max() > 0.01


def test_one_mask_has_opposite_meanings():
    mask = drawn_mask([[i != j for j in range(5)] for i in range(5)])
    parity = run(5, 2, 3, mask)
    two = one_mask_for_both(parity.x, mask, parity.ours)
    assert torch.equal(two.blocked > 0, (~mask).expand(3, 5, 5))
    assert torch.equal(two.kept > 0, mask.expand(3, 5, 5))
    assert torch.allclose(two.kept, parity.trace.heads.weights, atol=1e-6)
    assert torch.allclose(two.blocked, torch.eye(5).expand(3, 5, 5))


def test_random_cases_cover_what_they_say_and_come_again():
    cases = tuple(random_cases(3, 60))
    assert cases == tuple(random_cases(3, 60)) != tuple(random_cases(4, 60))
    assert len(cases) == 60 and {case.mask for case in cases} == {"none", "causal", "random"}
    assert max(case.difference for case in cases) < 5e-6
    assert {case.bias for case in cases} == {False, True}


def test_cases_leave_the_global_state_alone():
    before = torch.get_rng_state()
    assert len(list(random_cases(77, 5))) == 5
    assert torch.equal(torch.get_rng_state(), before)


def test_the_oracle_is_pytorch_itself():
    parity = run(5, 2, 3)
    heads = parity.trace.heads
    fused = F.scaled_dot_product_attention(heads.q, heads.k, heads.v, is_causal=True)
    assert torch.allclose(parity.fused, fused, atol=1e-6)
