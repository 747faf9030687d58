"""Every cell of the figures on order and on PyTorch, computed again from the arithmetic that is shown for it."""

import pytest
import torch
from arithmetic_checks import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from test_many_heads_sheets import heads_examples
from test_sheets import agree

from attention_core.heads import merge_heads
from attention_core.masks import causal_mask
from attention_core.pytorch_parity import compare_with_pytorch
from lessons.heads_example import run_heads
from lessons.parity_sheets import averaged_sheets, output_sheets

few = settings(max_examples=12, deadline=None, derandomize=True)


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
