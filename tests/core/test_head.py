"""One head from X to its output against plain loops, several at once, and what a trace prints of itself."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core.base.errors import InputError
from attention_core.base.randomness import generator
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.model.weights import named_weights
from attention_core.one_head.attention import attend
from attention_core.one_head.head import one_head, project
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary, rotate

N, D_MODEL, D_K, D_V, HEADS = 5, 7, 2, 3, 11


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def times(x, W):
    """A product by plain loops."""
    return [[sum(row[i] * W[i][j] for i in range(len(W))) for j in range(len(W[0]))] for row in x]


def by_loops(x, W_q, W_k, W_v, scale):
    """The output of a causal head."""
    q, k, v = times(x, W_q), times(x, W_k), times(x, W_v)
    output = []
    for i in range(len(x)):
        powers = [math.exp(scale * sum(a * b for a, b in zip(q[i], k[j], strict=True))) for j in range(i + 1)]
        output.append([sum(p * v[j][c] for j, p in enumerate(powers)) / sum(powers) for c in range(len(v[0]))])
    return output


def test_a_head_is_what_plain_loops_make_of_it():
    x, W_q, W_k, W_v = drawn(N, D_MODEL), drawn(D_MODEL, D_K, seed=1), drawn(D_MODEL, D_K, seed=2), drawn(D_MODEL, D_V)
    head = one_head(x, W_q, W_k, W_v, causal_mask(N))
    expected = by_loops(x.tolist(), W_q.tolist(), W_k.tolist(), W_v.tolist(), 1 / math.sqrt(D_K))
    assert head.output.tolist() == [pytest.approx(row, rel=1e-12) for row in expected]
    assert torch.equal(
        one_head(x, W_q, W_k, W_v, causal_mask(N), 0.0).weights[1, :2], torch.tensor([0.5, 0.5]).double()
    )


def test_maps_of_several_heads_give_each_head_by_itself():
    x, maps = drawn(N, D_MODEL), [drawn(HEADS, D_MODEL, width, seed=width) for width in (D_K, D_K, D_V)]
    positions, turn, turn_v = drawn(N, D_MODEL, seed=9), drawn(HEADS, D_K, D_K), drawn(HEADS, D_V, D_V)
    how = {"positions": positions, "rotary": Rotary()}
    all_at_once = one_head(x, *maps, causal_mask(N), turn=turn, turn_v=turn_v, **how)
    for i in range(HEADS):
        alone = one_head(x, *(W[i] for W in maps), causal_mask(N), turn=turn[i], turn_v=turn_v[i], **how)
        torch.testing.assert_close(all_at_once.select(i).output, alone.output)


def test_positions_reach_queries_and_keys_and_never_values():
    x, positions = drawn(N, D_MODEL), drawn(N, D_MODEL, seed=3)
    maps = drawn(D_MODEL, D_K, seed=4), drawn(D_MODEL, D_K, seed=5), drawn(D_MODEL, D_V, seed=6)
    q, k, v = project(x, *maps, positions)
    assert torch.equal(q, (x + positions) @ maps[0]) and torch.equal(k, (x + positions) @ maps[1])
    assert torch.equal(v, x @ maps[2])
    turned = project(x, *maps, rotary=Rotary())
    assert torch.equal(turned[0], rotate(x @ maps[0])) and torch.equal(turned[2], v)


def test_a_trace_prints_names_and_shapes_and_no_numbers():
    trace = attend(drawn(N, D_K), drawn(N, D_K), drawn(N, D_V))
    lines = repr(trace).splitlines()
    assert lines[0] == "AttentionTrace" and lines[1].split() == ["q", "5", "×", "2"]
    assert [line.split()[0] for line in lines[1:]] == ["q", "k", "v", "scores", "scaled", "masked", "weights", "output"]
    model = draw_model(ModelConfig(vocabulary=13, context=N, d_model=6, n_layers=2, mlp=True), generator(0))
    said = repr(model(torch.arange(N)))
    assert "logits   5 × 13" in said and "2, each as the first: BlockTrace" in said and "tensor" not in said
    assert "present       k 2 × 5 × 3, v 2 × 5 × 3" in said


@pytest.mark.parametrize(
    ("kind", "how", "names"),
    [
        (MultiHeadAttention, {"bias": True}, "W_q b_q W_k b_k W_v b_v sink W_o b_o"),
        (MultiHeadAttention, {}, "W_q W_k W_v sink W_o"),
        (SlicedHeads, {}, "W_qkv sink W_o b_o"),
    ],
)
def test_the_weights_of_heads_come_in_the_order_of_the_computation(kind, how, names):
    heads = replace(kind.draw(6, 2, **how, generator=generator(0)), sink=torch.zeros(2))
    assert [name for name, _ in named_weights(heads)] == names.split()


def test_an_error_of_the_core_is_an_input_error():
    with pytest.raises(InputError, match="at least 2 different tokens"):
        ModelConfig(vocabulary=1, context=3)
