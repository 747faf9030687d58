import inspect
import math
from dataclasses import fields

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from torch.nn.functional import scaled_dot_product_attention

from attention_core.base.inputs import check_mask, check_shapes
from attention_core.base.randomness import generator
from attention_core.learning.backward import attend_backward
from attention_core.one_head.attention import (
    AttentionTrace,
    attend,
    cap_scores,
    dot_product_scores,
    mask_scores,
    mix_values,
    scale_scores,
    softmax_rows,
    softmax_with_sink,
)
from attention_core.one_head.masks import causal_mask

# Distinct primes, so that no axis can be mistaken for another.
QUERIES, KEYS, D_K, D_V = 5, 7, 3, 11
BATCHES = [(), (2,), (13, 2)]

# The function without the checks of its annotations, as it runs outside the tests.
unchecked_attend = inspect.unwrap(attend)


def random_qkv(batch=(), seed=0, dtype=torch.float32):
    random = generator(seed)
    shapes = (QUERIES, D_K), (KEYS, D_K), (KEYS, D_V)
    return [torch.randn(*batch, *shape, generator=random, dtype=dtype) for shape in shapes]


def random_mask(batch=(), seed=1):
    """About half of the cells, and in every row the cell of one key at least."""
    random = generator(seed)
    may_attend = torch.rand(*batch, QUERIES, KEYS, generator=random) < 0.5
    kept = torch.randint(KEYS, (*batch, QUERIES, 1), generator=random)
    return may_attend.scatter(-1, kept, True)


def loop_attention(q, k, v, may_attend, scale):
    """The definition, cell by cell, in Python numbers: weights and output."""
    weights, output = [], []
    for i in range(len(q)):
        scores = []
        for j in range(len(k)):
            score = sum(float(q[i, f]) * float(k[j, f]) for f in range(q.shape[1])) * scale
            scores.append(score if may_attend is None or may_attend[i, j] else -math.inf)
        exponentials = [math.exp(s - max(scores)) for s in scores]
        row = [e / sum(exponentials) for e in exponentials]
        weights.append(row)
        output.append([sum(row[j] * float(v[j, f]) for j in range(len(k))) for f in range(v.shape[1])])
    return torch.tensor(weights), torch.tensor(output)


@pytest.mark.parametrize("scale", [None, 1.0, 0.37])
@pytest.mark.parametrize("masked", [False, True])
def test_attend_is_the_definition_cell_by_cell(masked, scale):
    q, k, v = random_qkv()
    may_attend = random_mask() if masked else None
    weights, output = loop_attention(q, k, v, may_attend, 1 / math.sqrt(D_K) if scale is None else scale)
    trace = attend(q, k, v, may_attend, scale=scale)
    torch.testing.assert_close(trace.weights, weights)
    torch.testing.assert_close(trace.output, output)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("scale", [None, 1.0, 0.37, -2.0])
@pytest.mark.parametrize("kind", ["none", "boolean", "float", "shared"])
def test_attend_agrees_with_pytorch(batch, scale, kind):
    q, k, v = random_qkv(batch)
    if kind == "none":
        mask = None
    elif kind == "boolean":
        mask = random_mask(batch)
    elif kind == "float":
        bias = torch.randn(*batch, QUERIES, KEYS, generator=generator(3))
        mask = bias.masked_fill(~random_mask(batch), -math.inf)
    else:
        mask = random_mask()
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    torch.testing.assert_close(attend(q, k, v, mask, scale=scale).output, expected)


def test_each_entry_of_a_batch_is_computed_on_its_own():
    q, k, v = random_qkv((13, 2))
    may_attend = random_mask((13, 2))
    whole = attend(q, k, v, may_attend)
    for b in range(13):
        for h in range(2):
            alone = attend(q[b, h], k[b, h], v[b, h], may_attend[b, h])
            torch.testing.assert_close(whole.select(b).select(h).output, alone.output)
            torch.testing.assert_close(whole.weights[b, h], alone.weights)


def test_the_default_scale_is_one_over_the_root_of_the_features_of_a_key():
    q, k, v = random_qkv()
    default, explicit = attend(q, k, v), attend(q, k, v, scale=1 / math.sqrt(D_K))
    assert torch.equal(default.scaled, explicit.scaled)
    assert not torch.allclose(default.scaled, attend(q, k, v, scale=1 / math.sqrt(D_V)).scaled)


def test_scores_are_the_dot_products():
    q, k, _ = random_qkv((2,))
    scores = dot_product_scores(q, k)
    assert scores.shape == (2, QUERIES, KEYS)
    for b in range(2):
        for i in range(QUERIES):
            for j in range(KEYS):
                assert math.isclose(scores[b, i, j], torch.dot(q[b, i], k[b, j]), rel_tol=1e-5, abs_tol=1e-6)


def test_scaling_multiplies_every_score():
    scores = torch.randn(QUERIES, KEYS, generator=generator(0))
    scaled = scale_scores(scores, 0.25)
    assert scaled.tolist() == [[score * 0.25 for score in row] for row in scores.tolist()]


def test_a_boolean_mask_puts_minus_infinity_where_it_is_false_and_leaves_the_rest():
    scaled, may_attend = torch.randn(QUERIES, KEYS, generator=generator(0)), random_mask()
    masked = mask_scores(scaled, may_attend)
    for i in range(QUERIES):
        for j in range(KEYS):
            assert masked[i, j] == (scaled[i, j] if may_attend[i, j] else -math.inf)


def test_a_float_mask_is_added():
    scaled, bias = torch.randn(2, QUERIES, KEYS, generator=generator(0))
    bias[2, 3] = -math.inf
    masked = mask_scores(scaled, bias)
    for i in range(QUERIES):
        for j in range(KEYS):
            assert masked[i, j] == scaled[i, j] + bias[i, j]


def test_without_a_mask_the_scores_stay_as_they_are():
    scaled = torch.randn(QUERIES, KEYS, generator=generator(0))
    assert mask_scores(scaled, None) is scaled


def test_softmax_is_the_exponentials_over_their_sum():
    masked = torch.randn(QUERIES, KEYS, generator=generator(0))
    masked[1, 2] = -math.inf
    weights = softmax_rows(masked)
    for i in range(QUERIES):
        exponentials = [math.exp(s) for s in masked[i].tolist()]
        for j in range(KEYS):
            assert math.isclose(weights[i, j], exponentials[j] / sum(exponentials), rel_tol=1e-5)
    assert weights[1, 2] == 0


def test_mixing_is_the_weighted_sum_of_the_values():
    random = generator(0)
    weights = torch.randn(QUERIES, KEYS, generator=random).softmax(-1)
    v = torch.randn(KEYS, D_V, generator=random)
    output = mix_values(weights, v)
    for i in range(QUERIES):
        torch.testing.assert_close(output[i], sum(weights[i, j] * v[j] for j in range(KEYS)))


def test_the_trace_holds_every_step_of_the_computation():
    q, k, v = random_qkv((2,))
    may_attend = random_mask()
    trace = attend(q, k, v, may_attend, scale=0.37)
    assert trace.q is q and trace.k is k and trace.v is v
    assert torch.equal(trace.scores, dot_product_scores(q, k))
    assert torch.equal(trace.scaled, scale_scores(trace.scores, 0.37))
    assert torch.equal(trace.masked, mask_scores(trace.scaled, may_attend))
    assert torch.equal(trace.weights, softmax_rows(trace.masked))
    assert torch.equal(trace.output, mix_values(trace.weights, v))


def test_visible_is_the_mask_again():
    q, k, v = random_qkv((2,))
    may_attend = random_mask((2,))
    assert torch.equal(attend(q, k, v, may_attend).visible, may_attend)
    bias = torch.randn(QUERIES, KEYS, generator=generator(4)).masked_fill(~may_attend[0], -math.inf)
    assert torch.equal(attend(q, k, v, bias).visible, may_attend[0].expand(2, -1, -1))
    assert attend(q, k, v).visible.all()


def test_visible_does_not_take_a_tiny_weight_for_a_hidden_key():
    q = torch.tensor([[1000.0]])
    k = torch.tensor([[1.0], [-1.0]])
    trace = attend(q, k, k, scale=1.0)
    assert trace.weights.tolist() == [[1, 0]]
    assert trace.visible.all()


def test_select_takes_one_entry_of_every_tensor():
    trace = attend(*random_qkv((13, 2)), random_mask())
    selected = trace.select(11)
    for field in fields(AttentionTrace):
        assert torch.equal(getattr(selected, field.name), getattr(trace, field.name)[11]), field.name
    assert torch.equal(selected.visible, trace.visible[11])


# Properties


@given(seed=st.integers(0, 10_000), masked=st.booleans(), size=st.sampled_from([0.1, 1.0, 100.0]))
def test_every_row_of_weights_is_a_distribution(seed, masked, size):
    q, k, v = random_qkv((2,), seed)
    weights = attend(q * size, k, v, random_mask((2,), seed) if masked else None).weights
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, QUERIES))


@given(seed=st.integers(0, 10_000), constant=st.floats(-30, 30))
def test_adding_a_constant_to_a_row_of_scores_changes_no_weight(seed, constant):
    masked = torch.randn(QUERIES, KEYS, generator=generator(seed), dtype=torch.float64)
    torch.testing.assert_close(softmax_rows(masked + constant), softmax_rows(masked))


@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_keys_does_not_matter(seed):
    q, k, v = random_qkv((), seed)
    may_attend = random_mask((), seed)
    order = torch.randperm(KEYS, generator=generator(seed))
    there = attend(q, k, v, may_attend)
    shuffled = attend(q, k[order], v[order], may_attend[:, order])
    torch.testing.assert_close(shuffled.output, there.output)
    torch.testing.assert_close(shuffled.weights, there.weights[:, order])


@given(seed=st.integers(0, 10_000))
def test_without_a_mask_permuted_tokens_give_permuted_outputs(seed):
    x = torch.randn(KEYS, D_K, generator=generator(seed))
    order = torch.randperm(KEYS, generator=generator(seed))
    torch.testing.assert_close(attend(x[order], x[order], x[order]).output, attend(x, x, x).output[order])


@given(seed=st.integers(0, 10_000), changed=st.integers(1, KEYS - 1))
def test_under_a_causal_mask_the_future_cannot_change_the_past(seed, changed):
    x = torch.randn(KEYS, D_K, generator=generator(seed))
    other = x.clone()
    other[changed:] = torch.randn(KEYS - changed, D_K, generator=generator(seed, "future"))
    before, after = (attend(t, t, t, causal_mask(KEYS)) for t in (x, other))
    torch.testing.assert_close(before.output[:changed], after.output[:changed])
    assert not torch.allclose(before.output[changed:], after.output[changed:])


def test_a_hidden_value_cannot_leak_even_when_it_is_huge():
    q, k, v = random_qkv()
    may_attend = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    may_attend[:, 4] = False
    expected = attend(q, k, v, may_attend).output
    v[4] = 1e30
    assert torch.equal(attend(q, k, v, may_attend).output, expected)


def test_scores_far_beyond_what_exp_can_hold_still_give_a_distribution():
    q, k, v = random_qkv()
    trace = attend(q * 1e4, k * 1e4, v)
    assert trace.scaled.abs().max() > 1e6
    torch.testing.assert_close(trace.weights.sum(dim=-1), torch.ones(QUERIES))
    assert trace.output.isfinite().all()


def test_autograd_goes_through_attend():
    q, k, v = (t.requires_grad_() for t in random_qkv((2,), dtype=torch.float64))
    may_attend = random_mask((2,))
    assert torch.autograd.gradcheck(lambda *qkv: attend(*qkv, may_attend, scale=0.37).output, (q, k, v))


def test_autograd_through_attend_agrees_with_pytorch():
    tensors = [t.requires_grad_() for t in random_qkv((2,), dtype=torch.float64)]
    may_attend = random_mask((2,))
    direction = torch.randn(2, QUERIES, D_V, generator=generator(9), dtype=torch.float64)
    ours = torch.autograd.grad((attend(*tensors, may_attend).output * direction).sum(), tensors)
    expected = scaled_dot_product_attention(*tensors, attn_mask=may_attend)
    theirs = torch.autograd.grad((expected * direction).sum(), tensors)
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, reference)


# Soft cap and sinks


@pytest.mark.parametrize("cap", [0.3, 2.0, 50.0])
def test_a_cap_bends_every_score_between_its_negative_and_itself(cap):
    q, k, v = random_qkv((2,), dtype=torch.float64)
    may_attend = random_mask((2,))
    trace = attend(q, k, v, may_attend, soft_cap=cap)
    assert torch.equal(trace.scaled, attend(q, k, v).scaled)
    for cell in torch.cartesian_prod(torch.arange(2), torch.arange(QUERIES), torch.arange(KEYS)).tolist():
        capped = cap * math.tanh(float(trace.scaled[*cell]) / cap)
        assert math.isclose(trace.masked[*cell], capped if may_attend[*cell] else -math.inf)
    assert torch.equal(trace.weights, softmax_rows(trace.masked))


def test_a_cap_keeps_small_scores_order_and_bounds():
    scaled = torch.linspace(-90, 90, 181, dtype=torch.float64)[None]
    capped = cap_scores(scaled, 30.0)
    assert (capped.diff() > 0).all() and capped.abs().max() < 30
    torch.testing.assert_close(capped[:, 89:92], scaled[:, 89:92], rtol=1e-3, atol=0)


@pytest.mark.parametrize("sink", [-3.0, 0.0, 40.0])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_sink_is_a_key_more_whose_value_is_zero(sink, library):
    q, k, v = random_qkv((2,), dtype=torch.float64)
    may_attend = random_mask((2,))
    masked = torch.cat([attend(q, k, v, may_attend).masked, torch.full((2, QUERIES, 1), sink).double()], dim=-1)
    expected = masked.softmax(dim=-1)[..., :-1]
    arrays = [array.numpy() if library == "numpy" else array for array in (q, k, v, may_attend)]
    trace = attend(*arrays, sink=sink)
    torch.testing.assert_close(torch.as_tensor(trace.weights), expected)
    torch.testing.assert_close(torch.as_tensor(trace.output), expected @ v)


def test_each_head_has_its_own_sink_and_the_lower_one_collects_less():
    q, k, v = random_qkv((13, 2), dtype=torch.float64)
    sink = torch.tensor([2.0, -1.0], dtype=torch.float64)
    trace = attend(q, k, v, sink=sink)
    for head in range(2):
        alone = attend(q[:, head], k[:, head], v[:, head], sink=float(sink[head]))
        torch.testing.assert_close(trace.weights[:, head], alone.weights)
    more = attend(q, k, v, sink=sink + 1).weights
    assert (more < trace.weights).all()


@pytest.mark.parametrize("sink", [-math.inf, 0.5])
def test_with_a_sink_a_query_that_sees_nothing_receives_zeros(sink):
    q, k, v = (t.requires_grad_() for t in random_qkv((2,), dtype=torch.float64))
    may_attend = random_mask((2,))
    may_attend[1, 3] = False
    trace = attend(q, k, v, may_attend, sink=sink)
    assert not trace.weights[1, 3].any() and not trace.output[1, 3].any()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(trace.output.sum(), (q, k, v)))


def test_a_sink_of_minus_infinity_changes_no_row_that_sees_something():
    q, k, v = random_qkv((2,), dtype=torch.float64)
    may_attend = random_mask((2,))
    torch.testing.assert_close(attend(q, k, v, may_attend, sink=-math.inf).output, attend(q, k, v, may_attend).output)
    with pytest.raises(ValueError, match="5 rows"):
        unchecked_attend(q, k, v, may_attend[:, :-1], sink=0.0)


def test_scores_and_sinks_beyond_what_exp_can_hold_still_give_weights():
    masked = torch.tensor([[1e6, -1e6, 0.0], [-1e6, -1e6, -math.inf]])
    assert softmax_with_sink(masked, 0.0).tolist() == [[1, 0, 0], [0, 0, 0]]
    assert softmax_with_sink(masked, 1e6).tolist() == [[0.5, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("soft_cap", [None, 1.3])
@pytest.mark.parametrize("sink", [None, 0.7])
def test_gradients_by_hand_hold_with_a_cap_and_a_sink(soft_cap, sink):
    q, k, v = tensors = [t.requires_grad_() for t in random_qkv((2,), dtype=torch.float64)]
    direction = torch.randn(2, QUERIES, D_V, generator=generator(9), dtype=torch.float64)
    trace = attend(q, k, v, random_mask((2,)), scale=0.8, soft_cap=soft_cap, sink=sink)
    ours = attend_backward(trace, direction, 0.8, soft_cap)
    expected = torch.autograd.grad((trace.output * direction).sum(), tensors)
    for mine, theirs in zip((ours.d_q, ours.d_k, ours.d_v), expected, strict=True):
        torch.testing.assert_close(mine, theirs)


# Errors


def test_a_query_that_may_look_at_nothing_is_named():
    q, k, v = random_qkv()
    may_attend = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    may_attend[3] = False
    with pytest.raises(ValueError, match=r"at least one key.* query 3$"):
        attend(q, k, v, may_attend)


def test_a_blind_query_of_a_batch_is_named_with_its_place_in_the_batch():
    q, k, v = random_qkv((13, 2))
    may_attend = torch.ones(13, 2, QUERIES, KEYS, dtype=torch.bool)
    may_attend[11, 1, 4] = False
    with pytest.raises(ValueError, match=r"query 4 of batch entry \(11, 1\)"):
        attend(q, k, v, may_attend)


def test_the_place_in_a_batch_with_one_axis_reads_like_a_number():
    may_attend = torch.ones(13, QUERIES, KEYS, dtype=torch.bool)
    may_attend[7, 2] = False
    with pytest.raises(ValueError, match=r"query 2 of batch entry \(?7\)?$"):
        check_mask(may_attend, *random_qkv((13,))[:2])


def test_a_float_mask_of_minus_infinity_makes_a_query_blind_too():
    q, k, v = random_qkv()
    bias = torch.zeros(QUERIES, KEYS)
    bias[1] = -math.inf
    with pytest.raises(ValueError, match=r"at least one key.* query 1$"):
        attend(q, k, v, bias)


def test_queries_and_keys_of_different_sizes_are_an_error_that_names_both_sizes():
    q, _, v = random_qkv()
    wrong = torch.zeros(KEYS, 2)
    with pytest.raises(ValueError, match="same number of features, but q has 3 and k has 2"):
        check_shapes(q.shape, wrong.shape, v.shape)
    with pytest.raises(ValueError, match="same number of features"):
        unchecked_attend(q, wrong, v)


def test_a_key_without_a_value_is_an_error_that_names_both_numbers():
    q, k, v = random_qkv()
    with pytest.raises(ValueError, match="7 keys and 6 values"):
        check_shapes(q.shape, k.shape, v[:-1].shape)
    with pytest.raises(ValueError, match="every key needs one value"):
        unchecked_attend(q, k, v[:-1])


@pytest.mark.parametrize("shape", [(QUERIES, 6), (4, KEYS), (KEYS, QUERIES), (2, 4, KEYS)], ids=str)
def test_a_mask_that_does_not_fit_is_an_error_that_names_the_shapes(shape):
    q, k, v = random_qkv((2,))
    may_attend = torch.ones(shape, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"5 rows \(queries\) and 7 columns \(keys\), but its shape is \("):
        unchecked_attend(q, k, v, may_attend)


@pytest.mark.parametrize("batch", [(3,), (3, 2)], ids=str)
def test_a_mask_whose_batch_does_not_fit_is_an_error_like_any_other_shape(batch):
    q, k, v = random_qkv((2,))
    with pytest.raises(ValueError, match="mask"):
        attend(q, k, v, torch.ones(*batch, QUERIES, KEYS, dtype=torch.bool))


def test_queries_without_any_keys_may_look_at_nothing():
    q, k, v = random_qkv()
    with pytest.raises(ValueError, match="at least one key"):
        attend(q, k[:0], v[:0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda q, k, v: attend(q, k[:, :2], v),
        lambda q, k, v: attend(q, k, v[:-1]),
        lambda q, k, v: attend(q, k, v, torch.ones(KEYS, QUERIES, dtype=torch.bool)),
        lambda q, k, v: attend(q, k, v, torch.ones(QUERIES, KEYS, dtype=torch.int64)),
        lambda q, k, v: attend(q.long(), k, v),
        lambda q, k, v: attend(q, k, v, scale="large"),
        lambda q, k, v: dot_product_scores(q, k.mT),
        lambda q, k, v: mix_values(q, v),
        lambda q, k, v: AttentionTrace(q, k, v, k, k, k, k, v),
    ],
)
def test_wrong_shapes_and_types_are_caught_by_the_annotations(wrong):
    with pytest.raises(TypeCheckError):
        wrong(*random_qkv())
