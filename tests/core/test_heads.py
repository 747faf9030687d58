import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attention_core.base.randomness import draw_linear, generator
from attention_core.model.weights import count_weights, named_weights
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import (
    MultiHeadAttention,
    SlicedHeads,
    drop_weights,
    features_per_head,
    mean_of_groups,
    merge_heads,
    sets_of_keys,
    share_heads,
    split_heads,
)
from attention_core.one_head.masks import causal_mask
from tests.rounding import assert_close_for_size

BATCH, QUERIES, KEYS, HEADS, D_HEAD = 2, 5, 7, 3, 11
D_MODEL = HEADS * D_HEAD


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed))


def pytorch_twin(ours, bias):
    """PyTorch's own multi-head attention with the same weights."""
    twin = nn.MultiheadAttention(len(ours.W_o), ours.n_heads, bias=bias, batch_first=True)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([ours.W_q.T, ours.W_k.T, ours.W_v.T]))
        twin.out_proj.weight.copy_(ours.W_o.T)
        if bias:
            twin.in_proj_bias.copy_(torch.cat([ours.b_q, ours.b_k, ours.b_v]))
            twin.out_proj.bias.copy_(ours.b_o)
    return twin


def some_mask(kind, n_queries, n_keys):
    """A mask in our sense (True may look), or a float one."""
    seen = torch.rand(n_queries, n_keys, generator=generator(5)) < 0.5
    seen[torch.arange(n_queries), torch.arange(n_queries) % n_keys] = True
    if kind == "float":
        return random(n_queries, n_keys, seed=6).masked_fill(~seen, -math.inf)
    return {"none": None, "boolean": seen, "causal": causal_mask(n_queries)}[kind]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["none", "boolean", "float", "causal"])
@pytest.mark.parametrize("cross", [False, True])
def test_it_is_the_multi_head_attention_of_pytorch(bias, kind, cross):
    if cross and kind == "causal":
        kind = "boolean"
    ours = MultiHeadAttention.draw(D_MODEL, HEADS, bias=bias, generator=generator(1))
    twin = pytorch_twin(ours, bias)
    x = random(BATCH, QUERIES, D_MODEL, seed=2)
    other = random(BATCH, KEYS, D_MODEL, seed=3) if cross else x
    mask = some_mask(kind, QUERIES, KEYS if cross else QUERIES)
    output, trace = ours(x, mask, key_value=other if cross else None)
    theirs = ~mask if mask is not None and mask.dtype == torch.bool else mask  # there, True means blocked
    expected, per_head = twin(x, other, other, attn_mask=theirs, average_attn_weights=False)
    _, averaged = twin(x, other, other, attn_mask=theirs)
    scores = trace.heads.scaled
    assert_close_for_size(output, expected, scores)
    assert_close_for_size(trace.heads.weights, per_head, scores)
    assert_close_for_size(trace.heads.weights.mean(dim=1), averaged, scores)
    assert trace.output is output


@st.composite
def situations(draw):
    """Sizes, tokens and a mask as they may come: self-attention, or queries that look at other tokens."""
    n_heads, d_head = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    queries = draw(st.integers(1, 9))
    keys = draw(st.none() | st.integers(1, 9))
    mask = draw(
        st.sampled_from(["none", "boolean", "float", "causal"] if keys is None else ["none", "boolean", "float"])
    )
    return n_heads, n_heads * d_head, draw(st.integers(1, 3)), queries, keys, mask, draw(st.booleans())


def both_ways(situation):
    """Our output and PyTorch's for the same weights, tokens and mask, and the tensors to compare gradients of."""
    n_heads, d_model, batch, queries, keys, kind, bias = situation
    ours = MultiHeadAttention.draw(d_model, n_heads, bias=bias, generator=generator(1))
    twin = pytorch_twin(ours, bias)
    x = random(batch, queries, d_model, seed=2).requires_grad_()
    other = x if keys is None else random(batch, keys, d_model, seed=3).requires_grad_()
    mask = some_mask(kind, queries, queries if keys is None else keys)
    theirs = ~mask if mask is not None and mask.dtype == torch.bool else mask
    expected, weights = twin(x, other, other, attn_mask=theirs, average_attn_weights=False)
    for _, weight in named_weights(ours):
        weight.requires_grad_()
    output, trace = ours(x, mask, key_value=None if keys is None else other)
    mine = [x, other, ours.W_o, ours.W_q, ours.W_k, ours.W_v]
    packed = [x, other, twin.out_proj.weight, twin.in_proj_weight]
    if bias:
        mine, packed = (
            [*mine, ours.b_o, ours.b_q, ours.b_k, ours.b_v],
            [*packed, twin.out_proj.bias, twin.in_proj_bias],
        )
    return (output, trace.heads, mine), (expected, weights, packed)


@given(situations())
def test_it_agrees_with_pytorch_for_any_sizes(situation):
    (output, heads, _), (expected, their_weights, _) = both_ways(situation)
    assert output.dtype == torch.float32
    assert_close_for_size(output, expected, heads.scaled)
    assert_close_for_size(heads.weights, their_weights, heads.scaled)


@given(situations())
def test_its_gradients_agree_with_those_of_pytorch_for_any_sizes(situation):
    bias = situation[-1]
    (output, _, mine), (expected, _, packed) = both_ways(situation)
    direction = random(*output.shape, seed=7)
    ours = torch.autograd.grad((output * direction).sum(), mine)
    theirs = torch.autograd.grad((expected * direction).sum(), packed)
    x, other, W_o, *maps = ours
    together = [x, other, W_o.T, torch.cat([W.T for W in maps[:3]])]
    together += [maps[3], torch.cat(maps[4:])] if bias else []
    for one, reference in zip(together, theirs, strict=True):
        assert_close_for_size(one, reference, 1.0)


def test_each_head_is_an_attention_over_its_own_columns():
    ours = MultiHeadAttention.draw(D_MODEL, HEADS, generator=generator(1))
    x = random(QUERIES, D_MODEL, seed=2)
    output, trace = ours(x, causal_mask(QUERIES), scale=0.37)
    parts = []
    for h in range(HEADS):
        columns = slice(h * D_HEAD, (h + 1) * D_HEAD)
        q, k, v = (x @ W[:, columns] for W in (ours.W_q, ours.W_k, ours.W_v))
        alone = attend(q, k, v, causal_mask(QUERIES), scale=0.37)
        torch.testing.assert_close(trace.heads.weights[h], alone.weights)
        parts.append(alone.output)
    torch.testing.assert_close(trace.concatenated, torch.cat(parts, dim=-1))
    torch.testing.assert_close(output, torch.cat(parts, dim=-1) @ ours.W_o)


def test_each_head_may_have_a_mask_of_its_own():
    ours = MultiHeadAttention.draw(D_MODEL, HEADS, generator=generator(1))
    masks = torch.stack([causal_mask(QUERIES), causal_mask(QUERIES).T, torch.eye(QUERIES, dtype=torch.bool)])
    _, trace = ours(random(BATCH, QUERIES, D_MODEL, seed=2), masks)
    assert torch.equal(trace.heads.visible, masks.expand(BATCH, -1, -1, -1))


@pytest.mark.parametrize("bias", [False, True])
def test_weights_are_drawn_as_pytorch_draws_those_of_linear_layers(bias):
    with torch.random.fork_rng():
        torch.manual_seed(17)
        layers = [nn.Linear(D_MODEL, D_MODEL, bias=bias) for _ in range(4)]
    ours = MultiHeadAttention.draw(D_MODEL, HEADS, bias=bias, generator=generator(17))
    for name, reference in zip("qkvo", layers, strict=True):
        W, b = getattr(ours, f"W_{name}"), getattr(ours, f"b_{name}")
        assert torch.equal(W, reference.weight.T)
        assert torch.equal(b, reference.bias) if bias else b is None


@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_map_may_have_two_different_sizes(bias):
    with torch.random.fork_rng():
        torch.manual_seed(17)
        expected = nn.Linear(5, 7, bias=bias)
    W, b = draw_linear(5, 7, bias=bias, generator=generator(17))
    assert torch.equal(W, expected.weight.T)
    assert torch.equal(b, expected.bias) if bias else b is None


def test_building_and_running_leaves_the_global_random_state_alone():
    before = torch.random.get_rng_state()
    heads = MultiHeadAttention.draw(D_MODEL, HEADS, bias=True, dropout=0.5, generator=generator(1))
    heads(random(QUERIES, D_MODEL), drop=generator(1))
    SlicedHeads.draw(D_MODEL, HEADS, generator=generator(1))
    assert torch.equal(torch.random.get_rng_state(), before)


# Splitting and merging


@given(
    batch=st.lists(st.integers(1, 3), max_size=2),
    tokens=st.integers(1, 7),
    heads=st.integers(1, 5),
    d_head=st.integers(1, 5),
)
def test_merging_undoes_splitting(batch, tokens, heads, d_head):
    x = random(*batch, tokens, heads * d_head)
    split = split_heads(x, heads)
    assert split.shape == (*batch, heads, tokens, d_head)
    assert torch.equal(merge_heads(split), x)


def test_a_head_owns_neighbouring_features():
    x = random(BATCH, QUERIES, D_MODEL)
    split = split_heads(x, HEADS)
    for h in range(HEADS):
        assert torch.equal(split[:, h], x[..., h * D_HEAD : (h + 1) * D_HEAD])


@given(d_model=st.integers(1, 60), n_heads=st.integers(-2, 70))
def test_features_are_shared_evenly_or_not_at_all(d_model, n_heads):
    if n_heads >= 1 and d_model % n_heads == 0:
        assert features_per_head(d_model, n_heads) * n_heads == d_model
    else:
        with pytest.raises(ValueError, match=f"d_model = {d_model} works with 1.* heads, but n_heads is {n_heads}$"):
            features_per_head(d_model, n_heads)


def test_neighbouring_heads_share_the_mean_of_their_own():
    k = random(4, KEYS, D_HEAD)
    shared = share_heads(mean_of_groups(k, 2), 4)
    for group in ((0, 1), (2, 3)):
        for head in group:
            torch.testing.assert_close(shared[head], (k[group[0]] + k[group[1]]) / 2)
    assert mean_of_groups(k, 1).equal(k)


@pytest.mark.parametrize("kind", [MultiHeadAttention, SlicedHeads])
def test_heads_that_cannot_share_the_features_are_an_error_that_says_what_works(kind):
    with pytest.raises(ValueError, match="d_model = 6 works with 1, 2, 3, 6 heads, but n_heads is 4"):
        kind.draw(6, 4, generator=generator(0))


# Dropout


def test_dropout_has_no_effect_outside_training():
    x = random(QUERIES, D_MODEL, seed=2)
    with_dropout = MultiHeadAttention.draw(D_MODEL, HEADS, dropout=0.5, generator=generator(1))
    without = MultiHeadAttention.draw(D_MODEL, HEADS, generator=generator(1))
    assert torch.equal(with_dropout(x)[0], without(x)[0])


def test_without_dropout_training_and_evaluation_are_the_same():
    heads = MultiHeadAttention.draw(D_MODEL, HEADS, generator=generator(1))
    x = random(QUERIES, D_MODEL, seed=2)
    assert torch.equal(heads(x, drop=generator(1))[0], heads(x)[0])


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_in_training_each_weight_is_dropped_or_enlarged(p):
    heads = MultiHeadAttention.draw(D_MODEL, HEADS, dropout=p, generator=generator(1))
    x = random(13, 17, D_MODEL, seed=2)
    plain = heads(x)[1].heads
    dropped = heads(x, drop=generator(3))[1].heads
    kept = dropped.weights != 0
    assert torch.equal(dropped.scores, plain.scores)
    torch.testing.assert_close(dropped.weights[kept], plain.weights[kept] / (1 - p))
    share = 1 - kept.float().mean().item()
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / kept.numel())
    assert (dropped.weights.sum(dim=-1) - 1).abs().max() > 0.05
    assert abs(dropped.weights.sum(dim=-1).mean().item() - 1) < 0.05
    torch.testing.assert_close(dropped.output, dropped.weights @ dropped.v)


def test_dropout_is_reproduced_by_its_generator():
    x = random(QUERIES, D_MODEL, seed=2)
    heads = MultiHeadAttention.draw(D_MODEL, HEADS, dropout=0.5, generator=generator(1))
    one, other = generator(3), generator(3)
    first = heads(x, drop=one)[0]
    assert torch.equal(first, heads(x, drop=other)[0])
    assert not torch.equal(first, heads(x, drop=one)[0])


def test_dropping_every_weight_leaves_zeros_as_in_pytorch():
    trace = attend(random(QUERIES, 3), random(KEYS, 3), random(KEYS, 2))
    expected = nn.functional.dropout(trace.weights, 1.0)
    assert torch.equal(drop_weights(trace, 1.0, generator(0)).weights, expected)


@pytest.mark.parametrize("p", [-0.5, 1.5, math.nan])
def test_an_impossible_dropout_is_an_error_where_it_is_chosen(p):
    with pytest.raises(ValueError, match="dropout"):
        MultiHeadAttention.draw(D_MODEL, HEADS, dropout=p, generator=generator(0))


# Numbers of parameters


def test_the_number_of_parameters_is_that_of_the_original_transformer():
    assert count_weights(MultiHeadAttention.draw(512, 8, bias=True, generator=generator(0))) == 1_050_624
    assert count_weights(MultiHeadAttention.draw(512, 8, generator=generator(0))) == 4 * 512 * 512


def test_the_number_of_parameters_does_not_depend_on_the_number_of_heads():
    assert count_weights(MultiHeadAttention.draw(12, 3, generator=generator(0))) == count_weights(
        MultiHeadAttention.draw(12, 4, generator=generator(0))
    )


def test_sliced_heads_have_fewer_parameters_than_projecting_ones():
    sliced = SlicedHeads.draw(16, 2, generator=generator(0))
    projected = MultiHeadAttention.draw(16, 2, generator=generator(0))
    assert sliced.W_qkv.numel() == 384
    assert count_weights(projected) - projected.W_o.numel() == 768
    assert count_weights(sliced) == 384 + 16 * 16 + 16


# Sliced heads


def test_sliced_heads_are_drawn_key_query_value_head_by_head():
    with torch.random.fork_rng():
        torch.manual_seed(17)
        heads = [[nn.Linear(D_HEAD, D_HEAD, bias=False) for _ in range(3)] for _ in range(HEADS)]
        output = nn.Linear(D_MODEL, D_MODEL)
    ours = SlicedHeads.draw(D_MODEL, HEADS, generator=generator(17))
    for h, (key, query, value) in enumerate(heads):
        expected = torch.cat([query.weight.T, key.weight.T, value.weight.T], dim=-1)
        assert torch.equal(ours.W_qkv[h], expected)
    assert torch.equal(ours.W_o, output.weight.T) and torch.equal(ours.b_o, output.bias)


@pytest.mark.parametrize("batch", [(), (BATCH,), (13, BATCH)], ids=str)
def test_a_sliced_head_is_an_attention_over_its_slice(batch):
    ours = SlicedHeads.draw(D_MODEL, HEADS, generator=generator(1))
    x = random(*batch, QUERIES, D_MODEL, seed=2)
    output, trace = ours(x, causal_mask(QUERIES))
    parts = []
    for h in range(HEADS):
        slice_of_x = x[..., h * D_HEAD : (h + 1) * D_HEAD]
        W_q, W_k, W_v = ours.W_qkv[h].split(D_HEAD, dim=-1)
        parts.append(attend(slice_of_x @ W_q, slice_of_x @ W_k, slice_of_x @ W_v, causal_mask(QUERIES)).output)
    torch.testing.assert_close(trace.concatenated, torch.cat(parts, dim=-1))
    torch.testing.assert_close(output, torch.cat(parts, dim=-1) @ ours.W_o + ours.b_o)


def test_a_sliced_head_never_sees_outside_its_slice_and_a_projecting_one_does():
    x = random(QUERIES, D_MODEL, seed=2)
    changed = x.clone()
    changed[:, :D_HEAD] = random(QUERIES, D_HEAD, seed=3)
    sliced = SlicedHeads.draw(D_MODEL, HEADS, generator=generator(1))
    projected = MultiHeadAttention.draw(D_MODEL, HEADS, generator=generator(1))
    before, after = (sliced(t)[1].heads for t in (x, changed))
    assert torch.equal(before.weights[1:], after.weights[1:]) and torch.equal(before.output[1:], after.output[1:])
    assert not torch.allclose(before.weights[0], after.weights[0])
    before, after = (projected(t)[1].heads for t in (x, changed))
    for h in range(HEADS):
        assert not torch.allclose(before.weights[h], after.weights[h])


# Properties


@pytest.mark.parametrize("kind", [MultiHeadAttention, SlicedHeads])
def test_without_a_mask_permuted_tokens_give_permuted_outputs(kind):
    heads = kind.draw(D_MODEL, HEADS, generator=generator(1))
    x, order = random(KEYS, D_MODEL, seed=2), torch.randperm(KEYS, generator=generator(3))
    torch.testing.assert_close(heads(x[order])[0], heads(x)[0][order])


@pytest.mark.parametrize("kind", [MultiHeadAttention, SlicedHeads])
def test_under_a_causal_mask_the_future_cannot_change_the_past(kind):
    heads = kind.draw(D_MODEL, HEADS, generator=generator(1))
    x = random(KEYS, D_MODEL, seed=2)
    changed = x.clone()
    changed[3:] = random(KEYS - 3, D_MODEL, seed=3)
    before, after = (heads(t, causal_mask(KEYS))[0] for t in (x, changed))
    torch.testing.assert_close(before[:3], after[:3])
    assert not torch.allclose(before[3:], after[3:])


def test_heads_share_keys_and_values_where_both_of_their_maps_are_equal_and_neighbours():
    a, b, c = (torch.randn(5, 2, generator=generator(seed)) for seed in (1, 2, 3))

    def sets(keys, values):
        return sets_of_keys(torch.cat(keys, dim=-1), torch.cat(values, dim=-1), len(keys))

    assert sets([a, a, b, b], [c, c, a, a]) == 2
    assert sets([a, a, a, a], [b, b, b, b]) == 1
    assert sets([a, a, b, b], [a, b, c, c]) == 4  # values of their own
    assert sets([a, b, a, b], [c, c, c, c]) == 4  # equal, but no neighbours
    assert sets([a, a, b], [a, a, b]) == 3  # groups of one size
    assert sets([a], [b]) == 1
