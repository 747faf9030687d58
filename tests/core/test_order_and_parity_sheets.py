"""Every cell of the figures on order and on PyTorch, computed again from the arithmetic that is shown for it."""

import math
import re

import pytest
import torch
from arithmetic_checks import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SIZES_CHOSEN
from test_many_heads_sheets import heads_examples
from test_sheets import agree

from attention_core.embeddings import rotate, rotation_angles
from attention_core.heads import merge_heads
from attention_core.masks import causal_mask
from attention_core.permutation import added_positions, kinds_for, random_permutation, shuffle
from attention_core.pytorch_parity import compare_with_pytorch
from lessons.example import Example, run_example
from lessons.heads_example import run_heads
from lessons.old_arithmetic import divisor_of
from lessons.order_sheets import PlacedHead, position_sheets, shuffle_sheets
from lessons.parity_sheets import averaged_sheets, output_sheets
from lessons.single_lessons import head_projections

few = settings(max_examples=12, deadline=None, derandomize=True)


@given(SIZES_CHOSEN, st.booleans(), st.data())
@few
def test_both_orders_are_followed_each_in_its_own_run(example, causal, data):
    trace = run_example(example)
    n, seed = len(trace.tokens), trace.example.seed
    head = data.draw(st.integers(0, trace.example.n_heads - 1))
    maps, order = head_projections(trace, head), random_permutation(n, seed)
    for kind in kinds_for(trace.example.d_k):
        shuffled = shuffle(trace.x, maps, order, kind, seed, causal_mask(n) if causal else None)
        placed = PlacedHead(trace.tokens, trace.x, maps, kind, seed)
        rows = list(order)
        for what, first in (("output", shuffled.shuffled.output), ("weights", shuffled.shuffled.weights)):
            sheets = shuffle_sheets(placed, shuffled, what, divisor_of(trace))
            own = getattr(shuffled.plain, what)
            moved = own[rows][:, rows] if what == "weights" else own[rows]
            tensors = {"own": own, "then": moved, "first": first}
            tensors |= {} if what == "weights" else {"gap": first - moved}
            assert list(sheets) == list(tensors)
            for key, tensor in tensors.items():
                agree(sheets[key], tensor, data)


@given(SIZES_CHOSEN, st.data())
@few
def test_what_is_added_or_turned(example, data):
    trace = run_example(example)
    maps, seed, x = head_projections(trace, 0), trace.example.seed, trace.x
    q, k = x @ maps.W_q, x @ maps.W_k
    for kind in kinds_for(trace.example.d_k):
        tensors = {"x": x}
        if kind == "rotary":
            angles = rotation_angles(len(x), trace.example.d_k)
            tensors = {"q": q, "angle": angles, "q_turned": rotate(q), "k": k, "k_turned": rotate(k)}
        elif kind != "none":
            added = added_positions(kind, *x.shape, seed)
            tensors |= {"p": added, "sum": x + added}
        sheets = position_sheets(PlacedHead(trace.tokens, x, maps, kind, seed))
        assert list(sheets) == list(tensors)
        for key, tensor in tensors.items():
            agree(sheets[key], tensor, data)


def test_a_sinusoidal_position_is_the_wave_that_is_named():
    trace = run_example(Example(d_model=5))
    sheet = position_sheets(PlacedHead(trace.tokens, trace.x, head_projections(trace, 0), "sinusoidal", 1))["p"]
    for j, wave in enumerate((math.sin, math.cos, math.sin)):
        (line,) = sheet.lines(3, j)
        angle = float(re.search(r"of ([\d.]+) radians", line.says)[1])
        assert f"the {'cosine' if wave is math.cos else 'sine'} of" in line.says
        assert line.value == pytest.approx(wave(angle), abs=1e-4)


@given(heads_examples(), st.data())
@few
def test_ours_theirs_and_the_difference(example, data):
    trace, n = run_heads(example), len(example.tokens)
    mask = causal_mask(n) if example.causal else torch.ones(n, n, dtype=torch.bool)
    parity = compare_with_pytorch(trace.tokens, trace.x, mask, trace.module)
    every = tuple(range(example.d_model))
    ways = {
        "module": (parity.trace.output, parity.module),
        "fused": (parity.trace.concatenated, merge_heads(parity.fused)),
    }
    for way, (ours, theirs) in ways.items():
        sheets = output_sheets(parity, way, "PyTorch", every)
        for key, tensor in {"ours": ours, "theirs": theirs, "gap": theirs - ours}.items():
            agree(sheets[key], tensor, data)
        i, j = (data.draw(st.integers(0, size - 1)) for size in ours.shape)
        assert evaluate(list(sheets["gap"].lines(i, j))[-1].text) == pytest.approx(
            float(theirs[i, j] - ours[i, j]), abs=1e-11
        )
    sheets = averaged_sheets(parity, 1)
    agree(sheets["map0"], parity.per_head[0], data)
    agree(sheets["map1"], parity.averaged, data)
