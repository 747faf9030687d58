"""Ours and PyTorch's: the same numbers over all sizes, the two meanings of a mask, and what is said of both."""

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attention_core.heads import MultiHeadAttention
from attention_core.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.pytorch_parity import (
    RandomCase,
    compare_with_pytorch,
    copy_to_pytorch,
    heads_as_module,
    heads_built_in,
    heads_by_hand,
    one_mask_for_both,
    random_cases,
)
from attention_core.randomness import generator
from lessons.captions import magnitude
from lessons.parity import CASES, Level, code_lines, parameter_table, three_levels, timed
from lessons.parity_captions import (
    averaged_caption,
    cases_caption,
    difference_caption,
    level_note,
    levels_caption,
    meanings_caption,
    telling_cell,
)

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def run(n, d_head, n_heads, mask=None, bias=False, seed=0):
    random = generator(seed)
    ours = MultiHeadAttention(d_head * n_heads, n_heads, bias=bias, generator=random)
    x = torch.randn(n, d_head * n_heads, generator=random)
    return compare_with_pytorch(WORDS[:n], x, causal_mask(n) if mask is None else mask, ours)


def by_loops(parity):
    """Every head number by number, in double precision: weights of each head, and the output."""
    x, ours, n = parity.x.double(), parity.ours, len(parity.x)
    d_model, d_head = x.shape[-1], x.shape[-1] // ours.n_heads

    def linear(layer, row):
        bias = [0.0] * d_model if layer.bias is None else layer.bias.tolist()
        return [
            sum(w * v for w, v in zip(ws, row, strict=True)) + b
            for ws, b in zip(layer.weight.tolist(), bias, strict=True)
        ]

    q, k, v = ([linear(layer, row) for row in x.tolist()] for layer in (ours.W_q, ours.W_k, ours.W_v))
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
    return weights, torch.tensor([linear(ours.W_o, row) for row in joined])


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
    ours = MultiHeadAttention(6, 3, bias=True, generator=generator(1))
    before = torch.get_rng_state()
    theirs = copy_to_pytorch(ours)
    assert torch.equal(torch.get_rng_state(), before)
    parts = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for linear, weight, bias in zip((ours.W_q, ours.W_k, ours.W_v), *parts, strict=True):
        assert torch.equal(linear.weight, weight) and torch.equal(linear.bias, bias)
    assert torch.equal(ours.W_o.weight, theirs.out_proj.weight) and torch.equal(ours.W_o.bias, theirs.out_proj.bias)
    assert not any(parameter.is_meta for parameter in theirs.parameters())
    assert not theirs.training


def test_weights_that_are_not_copied_do_not_agree():
    parity = run(5, 2, 3)
    other = MultiHeadAttention(6, 3, generator=generator(99))
    assert (other(parity.x, parity.may_attend)[0] - parity.trace.output).abs().max() > 0.01


@pytest.mark.parametrize("bias", [False, True])
def test_the_parameter_table_names_every_number(bias):
    ours = MultiHeadAttention(6, 3, bias=bias, generator=generator(1))
    theirs = copy_to_pytorch(ours)
    *rows, total = parameter_table(ours, theirs)
    assert total["numbers"] == sum(
        p.numel() for p in nn.MultiheadAttention(6, 3, bias=bias, device="meta").parameters()
    )
    assert sum(row["numbers"] for row in rows) == total["numbers"]
    assert [row["ours"] for row in rows] == [name for name, _ in ours.named_parameters()]
    stacked = {"in_proj_weight": theirs.in_proj_weight, "in_proj_bias": theirs.in_proj_bias}
    for row in rows:
        name, _, place = row["in nn.MultiheadAttention"].partition(", rows ")
        mine = ours.get_parameter(row["ours"])
        if place:
            first, last = map(int, place.split(" to "))
            assert torch.equal(stacked[name][first - 1 : last], mine)
        else:
            assert torch.equal(theirs.get_parameter(name), mine)
        assert row["shape"] == " × ".join(map(str, mine.shape))


def test_one_mask_has_opposite_meanings():
    mask = drawn_mask([[i != j for j in range(5)] for i in range(5)])
    parity = run(5, 2, 3, mask)
    two = one_mask_for_both(parity)
    assert torch.equal(two.blocked > 0, (~mask).expand(3, 5, 5))
    assert torch.equal(two.kept > 0, mask.expand(3, 5, 5))
    assert torch.allclose(two.kept, parity.trace.heads.weights, atol=1e-6)
    assert torch.allclose(two.blocked, torch.eye(5).expand(3, 5, 5))


def test_a_row_blocked_everywhere_is_no_number_or_looks_like_one():
    parity = run(5, 2, 3, causal_mask(5))
    two = one_mask_for_both(parity)
    assert two.blocked[:, 4].isnan().all() and not two.blocked[:, :4].isnan().any()
    said = meanings_caption(two, 0, parity.tokens)
    assert "“five” is blocked everywhere: its weights are not numbers (0 ÷ 0)" in said
    silent = not two.without_weights[4].isnan().any()
    assert said.endswith("as if nothing were wrong." if silent else "is not a number either.")


@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_the_caption_of_a_mask_speaks_of_a_cell_where_it_is_true(n_heads):
    parity = run(7, 2, n_heads, sliding_window_mask(7, 3))
    two = one_mask_for_both(parity)
    said = meanings_caption(two, 0, parity.tokens)
    a, b = (WORDS.index(word.strip("“”:")) for word in said.split(" for ")[1].split(" there")[0].split(" → "))
    assert two.mask[a, b]
    assert f"gives the weight {two.blocked[0, a, b]:.2f}, scaled_dot_product_attention {two.kept[0, a, b]:.2f}." in said
    assert f"look at {int((~two.mask[a]).sum())} of 7 tokens in the first and at {int(two.mask[a].sum())} in" in said
    assert "blocked everywhere" not in said


def test_the_caption_of_a_mask_takes_a_query_with_a_choice_in_both_meanings():
    for n in range(4, 9):
        two = one_mask_for_both(run(n, 2, 2, causal_mask(n)))
        i, j = telling_cell(two.mask, two.kept[0])
        assert two.mask[i, j] and 2 <= int(two.mask[i].sum()) <= n - 2
        rows = [row for row in range(n) if 2 <= row + 1 <= n - 2]
        assert two.kept[0, i, j] == max(two.kept[0, row, key] for row in rows for key in range(row + 1))
    two = one_mask_for_both(run(3, 2, 2, causal_mask(3)))
    i, _ = telling_cell(two.mask, two.kept[0])
    assert 0 < int(two.mask[i].sum()) < 3, "of three tokens none has a choice in both, but some see something in both"


def test_every_row_blocked_still_has_a_caption():
    parity = run(3, 2, 2, full_mask(3))
    said = meanings_caption(one_mask_for_both(parity), 0, parity.tokens)
    assert "gives the weight “not a number”" in said and "3 tokens are blocked everywhere" in said
    one = run(1, 2, 1)
    assert "“one” → “one”" in meanings_caption(one_mask_for_both(one), 0, one.tokens)


def test_the_average_is_not_what_any_head_does():
    parity = run(5, 2, 3)
    said = averaged_caption(parity)
    assert torch.allclose(parity.averaged, parity.per_head.sum(dim=0) / 3)
    gap = parity.per_head.max(dim=0).values - parity.per_head.min(dim=0).values
    i, j = divmod(int(gap.argmax()), 5)
    listed = ", ".join(f"{parity.per_head[head, i, j]:.2f}" for head in range(3))
    assert said.startswith(f"“{WORDS[i]}” gives “{WORDS[j]}” the weights {listed} in its 3 heads")
    assert f"their average, {parity.averaged[i, j]:.2f}." in said
    assert "choose more heads" in averaged_caption(run(5, 2, 1))


def test_differences_are_told_beside_the_size_of_the_numbers():
    parity = run(11, 7, 3)
    for way, difference in (("module", parity.module_difference), ("fused", parity.fused_difference)):
        said = difference_caption(parity, way)
        assert magnitude(difference) in said if difference else "the same to the last digit" in said


def test_random_cases_cover_what_they_say_and_come_again():
    cases = tuple(random_cases(3, 60))
    assert cases == tuple(random_cases(3, 60)) != tuple(random_cases(4, 60))
    assert len(cases) == 60 and {case.mask for case in cases} == {"none", "causal", "random"}
    assert max(case.difference for case in cases) < 5e-6
    assert {case.bias for case in cases} == {False, True}
    said = cases_caption(cases)
    for what, values in (
        ("tokens", [c.tokens for c in cases]),
        ("heads", [c.heads for c in cases]),
        ("features in a head", [c.d_head for c in cases]),
    ):
        assert f"{min(values)} to {max(values)} {what}" in said
    assert f"largest difference of any number is {magnitude(max(c.difference for c in cases))}" in said
    assert f"{sum(c.difference == 0 for c in cases)} case" in said
    assert CASES == 300


def test_a_case_that_disagrees_would_be_told():
    cases = (RandomCase(2, 1, 3, "none", False, 0.0), RandomCase(5, 2, 3, "causal", True, 0.25))
    assert "number is 0.25, the middle one 0.12; 1 case agree" in cases_caption(cases).replace("0.13", "0.12")


def test_cases_leave_the_global_state_alone():
    before = torch.get_rng_state()
    assert len(list(random_cases(77, 5))) == 5
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("bias", [False, True])
def test_the_three_levels_compute_the_same(bias):
    parity = run(5, 2, 3, bias=bias)
    levels = three_levels(parity, runs=3)
    assert [level.title for level in levels] == ["Tensors by hand", "A module of our own", "Built into PyTorch"]
    assert all(0 < level.difference < 5e-6 for level in levels)
    assert all(len(level.milliseconds) == 3 and min(level.milliseconds) > 0 for level in levels)
    assert [level.functions[0] for level in levels] == [heads_by_hand, heads_as_module, heads_built_in]
    linears = [parity.ours.W_q, parity.ours.W_k, parity.ours.W_v, parity.ours.W_o]
    biases = tuple(torch.zeros(6) if layer.bias is None else layer.bias for layer in linears)
    hand = heads_by_hand(parity.x, tuple(layer.weight.T for layer in linears), biases, 3, parity.may_attend)
    assert torch.allclose(hand, by_loops(parity)[1], atol=1e-6)


def test_lines_of_code_are_those_that_do_something():
    def small(x):
        """A description.

        Of three lines.
        """
        # a remark

        return x  # and another

    assert code_lines(small) == 2
    assert code_lines(small, small) == 4
    source = inspect.getsource(inspect.unwrap(heads_built_in))
    assert "2 lines of code in the function shown, " in level_note(Level("A", (small,), 2, (1.0,), 0.0))
    assert "4 lines of code in the functions shown, " in level_note(Level("A", (small, small), 4, (1.0,), 0.0))
    assert code_lines(heads_built_in) == len([line for line in source.splitlines() if line.strip()]) - 1


def test_times_are_told_as_measured_and_in_no_order_of_merit():
    levels = tuple(Level(title, (), 1, times, 0.0) for title, times in (("A", (3.0, 1.0, 2.0)), ("B", (0.5, 9.0, 7.0))))
    assert levels_caption(levels) == (
        "Median of 3 runs on this machine, at this moment: a 2.000 ms (1.000 to 3.000); b 7.000 ms (0.500 to 9.000)."
    )
    assert not any(word in levels_caption(levels) for word in ("fast", "slow", "than"))
    calls = []
    assert len(timed(lambda: calls.append(1), 4)) == 4 and len(calls) == 5


def test_the_oracle_is_pytorch_itself():
    parity = run(5, 2, 3)
    heads = parity.trace.heads
    fused = F.scaled_dot_product_attention(heads.q, heads.k, heads.v, is_causal=True)
    assert torch.allclose(parity.fused, fused, atol=1e-6)
