"""ONNX's operator Attention: every test case that is published with it, through `attend`.

`onnx_attention` is all that lies between: the operator's names, its two layouts, and its rules on what is left out.
"""

import numpy as np

# Imported alone: to collect the cases of one operator, ONNX computes those of all, which takes five seconds.
import onnx.backend.test.case.node.attention  # noqa: F401
import pytest
import torch
from onnx.backend.test.case import node
from onnx.helper import get_attribute_value

from attention_core.one_head.attention import attend
from attention_core.one_head.distances import distances, within_window
from attention_core.one_head.heads import merge_heads, share_heads, split_heads

CASES = {case.name: case for case in node._NodeTestCases if "expanded" not in case.name}

INPUTS = ("q", "k", "v", "mask", "past_k", "past_v", "n_real")
HALF = {"float16", "bfloat16"}


def dtypes(case):
    """Of all arrays of a case."""
    return {
        str(array.dtype) for inputs, outputs in case.data_sets for array in (*inputs, *outputs) if array is not None
    }


HALF_PRECISION = sorted(name for name, case in CASES.items() if dtypes(case) & HALF)
REST = sorted(CASES.keys() - set(HALF_PRECISION))


def onnx_attention(
    q,
    k,
    v,
    mask=None,
    past_k=None,
    past_v=None,
    n_real=None,
    *,
    is_causal=0,
    scale=None,
    softcap=0.0,
    q_num_heads=None,
    kv_num_heads=None,
    left_window_size=-1,
    right_window_size=-1,
    qk_matmul_output_mode=0,
    softmax_precision=None,
):
    """Output, the keys and values with those of the past, and the step of the scores that is asked for."""
    flat = q.ndim == 3
    if flat:
        q, k, v = split_heads(q, q_num_heads), split_heads(k, kv_num_heads), split_heads(v, kv_num_heads)
    if past_k is not None:
        k, v = np.concat([past_k, k], axis=-2), np.concat([past_v, v], axis=-2)
    n_batch, n_heads, n_queries, _ = q.shape
    visible = np.stack(
        [
            window(n_queries, k.shape[-2], past, is_causal, left_window_size, right_window_size)
            for past in offsets(n_batch, n_queries, past_k, n_real)
        ]
    )[:, None]
    if n_real is not None:
        visible = visible & (np.arange(k.shape[-2]) < n_real[:, None, None, None])
    trace = attend(
        q,
        share_heads(k, n_heads),
        share_heads(v, n_heads),
        combined(visible, mask, (*q.shape[:-1], k.shape[-2])),
        scale=scale,
        soft_cap=softcap or None,
        sink=-np.inf,
    )
    capped = attend(*(trace.q, trace.k, trace.v), scale=scale, soft_cap=softcap or None).masked
    steps = (trace.scaled, capped, trace.masked, trace.weights)
    return merge_heads(trace.output) if flat else trace.output, k, v, steps[qk_matmul_output_mode]


def offsets(n_batch, n_queries, past_k, n_real):
    """For each entry of the batch, how many keys came before the first query."""
    if n_real is not None:
        return [int(n) - n_queries for n in n_real]
    return [0 if past_k is None else past_k.shape[-2]] * n_batch


def window(n_queries, n_keys, past, is_causal, left, right):
    """Who may see whom by distance alone: −1 says that a side is open."""
    distance = distances(n_queries, n_keys, past)
    causal = within_window(distance, right=0 if is_causal else None)
    return (causal & within_window(distance, *(None if side < 0 else side for side in (left, right)))).numpy()


def combined(visible, mask, shape):
    """One mask of all: what is hidden by one is hidden. A mask that is too short hides the keys at the end."""
    if mask is None:
        return np.broadcast_to(visible, shape)
    missing = [(0, 0)] * (mask.ndim - 1) + [(0, shape[-1] - mask.shape[-1])]
    boolean = mask.dtype == bool
    mask = np.pad(mask, missing, constant_values=False if boolean else -np.inf)
    return np.broadcast_to(visible & mask if boolean else np.where(visible, mask, -np.inf), shape)


def run_case(case):
    """What our wrapper gives for the inputs of a case, next to what is expected, name by name."""
    (node,) = case.model.graph.node
    attributes = {attribute.name: get_attribute_value(attribute) for attribute in node.attribute}
    ((inputs, expected),) = case.data_sets
    given = iter(inputs)  # those that are left out have no name
    arrays = {name: next(given) for name, there in zip(INPUTS, node.input, strict=False) if there}
    ours = onnx_attention(**arrays, **attributes)
    wanted = [array for array, there in zip(ours, node.output, strict=False) if there]
    return wanted, expected


@pytest.mark.parametrize("name", REST)
def test_every_case_of_the_operator_agrees(name):
    ours, expected = run_case(CASES[name])
    assert len(ours) == len(expected) > 0
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_only_half_precision_is_left_out():
    assert {name: dtypes(CASES[name]) & HALF for name in CASES.keys() - set(REST)}.keys() == set(HALF_PRECISION)
    assert len(REST) >= 82 and len(HALF_PRECISION) < 12
    assert all(dtypes(CASES[name]) <= {"float32", "float64", "bool", "int64"} for name in REST)


def test_the_wrapper_agrees_in_double_precision_with_pytorch():
    random = np.random.RandomState(0)
    q, k, v = (random.randn(2, heads, *shape) for heads, shape in ((6, (5, 3)), (2, (7, 3)), (2, (7, 11))))
    output, *_ = onnx_attention(q, k, v)
    expected = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)), enable_gqa=True)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)
