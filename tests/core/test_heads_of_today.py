"""What today's models change in multi-head attention, in double precision, against plain loops and PyTorch."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention

from attention_core.base.randomness import generator
from attention_core.learning.backward import heads_backward
from attention_core.model.weights import count_weights, named_weights
from attention_core.one_head.heads import MultiHeadAttention, merge_heads, split_heads, unit_rms
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary, rotate

N, D_MODEL, D_K, D_V = 7, 12, 6, 5


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def drawn(n_heads=6, kv_heads=None, **options):
    heads = MultiHeadAttention.draw(D_MODEL, n_heads, kv_heads=kv_heads, d_k=D_K, d_v=D_V, generator=generator(1))
    return replace(heads, **{name: weight.double() for name, weight in named_weights(heads)} | options)


def projected(heads, x):
    q, k, v = split_heads(x @ heads.W_q, heads.n_heads), x @ heads.W_k, x @ heads.W_v
    return q, split_heads(k, heads.kv_heads), split_heads(v, heads.kv_heads)


def close(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def loop(q, k, v, see, score=lambda s, h, i, j: s, sink=None):
    """Every head, query and key in turn; heads in groups share keys and values."""
    group, output = len(q) // len(k), torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for h in range(len(q)):
        for i in range(len(q[h])):
            powers = {}
            for j in range(len(k[0])):
                if see(i, j):
                    dot = sum(float(a) * float(b) for a, b in zip(q[h, i], k[h // group, j], strict=True))
                    powers[j] = math.exp(score(dot / math.sqrt(q.shape[-1]), h, i, j))
            total = sum(powers.values()) + (0 if sink is None else math.exp(sink[h]))
            for j, power in powers.items():
                output[h, i] += power / total * v[h // group, j]
    return output


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_few_heads_of_keys_are_the_grouped_queries_of_pytorch(kv_heads, batch):
    heads, x = drawn(kv_heads=kv_heads), random(*batch, N, D_MODEL)
    output, trace = heads(x, causal_mask(N))
    q, k, v = projected(heads, x)
    assert heads.kv_heads == kv_heads and trace.present.k.shape[-3] == kv_heads
    expected = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    close(trace.heads.output, expected)
    close(output, merge_heads(expected) @ heads.W_o)


def test_few_heads_of_keys_are_those_of_a_plain_loop_and_fewer_weights():
    heads, x = drawn(kv_heads=2), random(N, D_MODEL)
    close(heads(x)[1].heads.output, loop(*projected(heads, x), lambda i, j: True))
    assert count_weights(heads) == 6 * D_MODEL * (D_K + D_V) + 2 * D_MODEL * (D_K + D_V)
    with pytest.raises(ValueError, match="6 heads cannot share the keys and values of 4 evenly"):
        drawn(kv_heads=4)


@given(st.sampled_from([None, 0.7, 3.0]), st.booleans(), st.sampled_from([None, (2, 0), (1, 3), (None, 0)]))
def test_cap_sink_and_window_are_those_of_a_plain_loop(cap, sinks, window):
    sink = random(6, seed=3) if sinks else None
    heads, x = drawn(kv_heads=3, soft_cap=cap, sink=sink, window=window), random(N, D_MODEL)
    left, right = window or (None, None)
    expected = loop(
        *projected(heads, x),
        lambda i, j: (left is None or i - j <= left) and (right is None or j - i <= right),
        lambda s, h, i, j: s if cap is None else cap * math.tanh(s / cap),
        None if sink is None else sink.tolist(),
    )
    close(heads(x)[1].heads.output, expected)


def test_cap_and_window_are_those_of_flex_attention():
    heads, x = drawn(kv_heads=2, soft_cap=0.9, window=(2, 0)), random(1, N, D_MODEL)

    def capped_in_window(score, b, h, i, j):
        score = 0.9 * torch.tanh(score / 0.9)
        return torch.where((j <= i) & (i - j <= 2), score, -math.inf)

    expected = flex_attention(*projected(heads, x), score_mod=capped_in_window, enable_gqa=True)
    torch.testing.assert_close(heads(x)[1].heads.output, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("mask", ["none", "boolean", "bias"])
def test_a_window_hides_beside_what_is_hidden_already(mask):
    heads, x = drawn(window=(1, None)), random(N, D_MODEL)
    given_mask = {"none": None, "boolean": causal_mask(N), "bias": random(N, N, seed=4)}[mask]
    near = torch.ones(N, N, dtype=torch.bool).triu(-1)
    both = {
        "none": near,
        "boolean": near & causal_mask(N),
        "bias": random(N, N, seed=4).masked_fill(~near, -math.inf),
    }[mask]
    close(heads(x, given_mask)[0], drawn()(x, both)[0])


def test_the_cache_of_few_heads_holds_few_heads_and_gives_the_same_numbers():
    options = {"rotary": Rotary(features=4), "q_gain": random(D_K, seed=5), "k_gain": random(D_K, seed=6)}
    heads, x = drawn(kv_heads=2, sink=random(6, seed=3), window=(3, 0), soft_cap=2.0, **options), random(N, D_MODEL)
    whole, _ = heads(x)
    _, trace = heads(x[:4])
    for end in range(5, N + 1):
        output, trace = heads(x[end - 1 : end], past=trace.present)
        close(output[0], whole[end - 1])
    assert trace.present.k.shape == (2, N, D_K) and trace.present.v.shape == (2, N, D_V)


def test_a_qk_norm_gives_each_query_and_key_one_length():
    x = random(3, N, D_K)
    norm = torch.nn.RMSNorm(D_K, eps=1e-6, dtype=torch.float64)
    close(unit_rms(x), norm(x).detach())
    gains = {"q_gain": random(D_K, seed=5), "k_gain": random(D_K, seed=6)}
    heads, tokens = drawn(kv_heads=3, **gains), 100 * random(N, D_MODEL)
    q, k, v = projected(heads, tokens)
    normed = (norm(q) * gains["q_gain"], norm(k) * gains["k_gain"])
    close(heads(tokens)[1].heads.output, scaled_dot_product_attention(*normed, v, enable_gqa=True).detach())
    bound = math.sqrt(D_K) * float((gains["q_gain"] * gains["k_gain"]).abs().max())
    assert float(heads(tokens)[1].heads.scaled.abs().max()) <= bound


@given(st.sampled_from([100.0, 10000.0]), st.sampled_from([None, 2, 4]), st.sampled_from([1.0, 2.5]), st.integers(0, 5))
def test_rotary_turns_as_complex_numbers_do(base, features, stretch, first):
    x, how = random(2, N, D_K), Rotary(base, features, stretch)
    turned, width = rotate(x, first, how=how), features or D_K
    for t in range(N):
        for pair in range(width // 2):
            angle = (first + t) / stretch * base ** (-2 * pair / width)
            for h in range(2):
                number = complex(x[h, t, 2 * pair], x[h, t, 2 * pair + 1]) * complex(math.cos(angle), math.sin(angle))
                assert complex(turned[h, t, 2 * pair], turned[h, t, 2 * pair + 1]) == pytest.approx(number, abs=2e-6)
    assert torch.equal(turned[..., width:], x[..., width:])
    torch.testing.assert_close(rotate(turned, first, how=how, back=True), x, rtol=0, atol=1e-12)


def test_what_rotary_cannot_turn_is_an_error():
    for features, why in ((3, "must be even, but it is 3"), (8, "d_k = 6, but got 8")):
        with pytest.raises(ValueError, match=why):
            rotate(random(N, D_K), how=Rotary(features=features))


@pytest.mark.parametrize("kv_heads", [1, 3, 6])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sink": random(6, seed=3)},
        {"soft_cap": 0.8, "window": (2, 0), "sink": random(6, seed=3)},
        {"rotary": Rotary(base=50.0, features=4, stretch=2.0)},
    ],
    ids=["plain", "sink", "cap, window, sink", "rotary"],
)
def test_gradients_by_hand_are_those_of_autograd(kv_heads, options):
    heads, x = drawn(kv_heads=kv_heads, **options), random(2, N, D_MODEL, seed=8).requires_grad_()
    weights = [weight.requires_grad_() for _, weight in named_weights(heads)]
    output, trace = heads(x, causal_mask(N))
    d_output = random(*output.shape, seed=9)
    expected = torch.autograd.grad((output * d_output).sum(), [x, *weights])
    with torch.no_grad():
        d_x, _, d_heads = heads_backward(heads, x, trace, d_output)
    ours = [d_x, *(gradient for _, gradient in named_weights(d_heads))]
    assert len(ours) == len(expected)
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def test_a_qk_norm_says_that_it_is_not_trained_by_hand():
    heads, x = drawn(q_gain=torch.ones(D_K).double(), k_gain=torch.ones(D_K).double()), random(N, D_MODEL)
    output, trace = heads(x)
    with pytest.raises(ValueError, match="without a QK norm; use autograd"):
        heads_backward(heads, x, trace, output)
