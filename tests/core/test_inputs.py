"""What callers of ONNX, PyTorch and FlashAttention pass: it means what they mean, or one sentence says why not.

Each table has a name for what is passed, and what comes of it: numbers that another implementation computes as well, or
words of the sentence. Nothing comes out silently wrong, and no NaN where none went in.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core.base.errors import InputError
from attention_core.base.randomness import generator
from attention_core.learning.backward import attend_backward
from attention_core.model.cache import present, read_newest
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.one_head.attention import attend, cap_scores, mask_scores, softmax_rows
from attention_core.one_head.distances import alibi_slopes, distances, within_window
from attention_core.one_head.heads import KeyValues, MultiHeadAttention, share_heads, split_heads
from attention_core.one_head.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.one_head.online_softmax import attend_in_blocks
from attention_core.text.embeddings import Rotary, rotate

# As they run outside the tests: without the checks of their annotations.
pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

N, F = 4, 3  # tokens, features


def qkv(*batch, dtype=torch.float32, n_keys=N):
    random = generator(sum(batch))
    return [torch.randn(*batch, n, F, generator=random, dtype=torch.float64).to(dtype) for n in (N, n_keys, n_keys)]


def numpy(*tensors):
    return [tensor.numpy() for tensor in tensors]


SEES = torch.tensor([[1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1]])
ADDED = torch.randn(N, N, generator=generator(7))
REAL = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])[:, None, None]  # of each sentence the tokens that are no padding

# What is passed and meant: our arguments, and those of PyTorch.
MEANT = {
    "a boolean mask": ((SEES == 1,), {}, {"attn_mask": SEES == 1}),
    "a float mask of zeros and ones is added": ((SEES.float(),), {}, {"attn_mask": SEES.float()}),
    "a float mask": ((ADDED,), {}, {"attn_mask": ADDED}),
    "a float mask with −∞": (
        (ADDED.masked_fill(SEES == 0, -math.inf),),
        {},
        {"attn_mask": ADDED.masked_fill(SEES == 0, -math.inf)},
    ),
    "a float mask with the least number": (
        (torch.finfo(torch.float32).min * (1 - SEES.float()),),
        {},
        {"attn_mask": torch.finfo(torch.float32).min * (1 - SEES.float())},
    ),
    "a float mask with −10⁹": ((-1e9 * (1 - SEES.float()),), {}, {"attn_mask": -1e9 * (1 - SEES.float())}),
    "is_causal": ((causal_mask(N),), {}, {"is_causal": True}),
    "a mask for each sentence": (
        (torch.stack([SEES == 1, SEES.T == 1])[:, None],),
        {},
        {"attn_mask": torch.stack([SEES == 1, SEES.T == 1])[:, None]},
    ),
    "a mask for each head": ((torch.stack([SEES == 1] * 3),), {}, {"attn_mask": torch.stack([SEES == 1] * 3)}),
    "a mask of padding for all queries": ((REAL == 1,), {}, {"attn_mask": REAL == 1}),
    "a float mask of padding": (
        (ADDED[0].masked_fill(REAL == 0, -math.inf),),
        {},
        {"attn_mask": ADDED[0].masked_fill(REAL == 0, -math.inf)},
    ),
    "one row for all queries and sentences": ((SEES[:1] == 1,), {}, {"attn_mask": SEES[:1] == 1}),
    "no scale": ((), {"scale": None}, {}),
    "a scale of 0": ((), {"scale": 0.0}, {"scale": 0.0}),
    "a scale below 0": ((), {"scale": -0.7}, {"scale": -0.7}),
    "a whole scale": ((), {"scale": 2}, {"scale": 2.0}),
    "a scale of NumPy": ((), {"scale": np.float32(0.5)}, {"scale": 0.5}),
    "a soft cap of 0 is none": ((), {"soft_cap": 0.0}, {}),
    "a soft cap of whole 0 is none": ((), {"soft_cap": 0}, {}),
    "a sink that collects nothing": ((), {"sink": -math.inf}, {}),
}


@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize("passed", MEANT)
def test_what_is_meant_is_what_pytorch_computes(passed, library):
    mask, ours, theirs = MEANT[passed]
    tensors = [x.requires_grad_() for x in qkv(2, 3)]
    computed = scaled_dot_product_attention(*tensors, **theirs)
    gradients = torch.autograd.grad(computed, tensors, tensors[2].detach())
    tensors, expected = [x.detach() for x in tensors], computed.detach()
    assert expected.isfinite().all()
    if library == "numpy":
        tensors, mask = numpy(*tensors), numpy(*mask)
    for output in (
        attend(*tensors, *mask, **ours).output,
        [*attend_in_blocks(*tensors, *mask, block=3, **ours)][-1].output,
    ):
        np.testing.assert_allclose(np.asarray(output), expected.numpy(), rtol=1e-4, atol=1e-5)
    trace = attend(*tensors, *mask, **ours)
    assert trace.masked.shape == trace.visible.shape == trace.scores.shape
    back = attend_backward(trace, tensors[2], ours.get("scale"), ours.get("soft_cap"))
    for found, gradient in zip((back.d_q, back.d_k, back.d_v), gradients, strict=True):
        np.testing.assert_allclose(np.asarray(found), gradient.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kept", [0, 2])
def test_padding_is_hidden_within_a_window_and_from_what_reads_on(kept):
    """As one mask of all says it, with a row for each query."""
    heads = replace(MultiHeadAttention.draw(6, 3, generator=generator(0)), window=(2, None))
    x, near = torch.randn(2, N, 6, generator=generator(1)), within_window(distances(N, N), 2, None)
    whole, _ = heads(x, (REAL == 1) & near)
    past = heads(x[:, :kept], REAL[..., :kept] == 1)[1].present if kept else None
    torch.testing.assert_close(heads(x[:, kept:], REAL == 1, past=past)[0], whole[:, kept:])


@pytest.mark.parametrize(("dtype", "near"), [(torch.float16, 5e-3), (torch.bfloat16, 4e-2), (torch.float64, 1e-12)])
def test_every_precision_is_meant(dtype, near):
    tensors = qkv(2, dtype=dtype)
    ours, theirs = attend(*tensors, causal_mask(N)).output, scaled_dot_product_attention(*tensors, is_causal=True)
    torch.testing.assert_close(ours, theirs, rtol=near, atol=near)


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_no_number_in_q_k_or_v_goes_where_the_definition_takes_it(which, number):
    q, k, v = tensors = qkv(2, 3)
    tensors[which][1, 2, 1, 0] = number
    ours = attend(q, k, v, SEES == 1).output
    theirs = (q @ k.mT / math.sqrt(F)).masked_fill(SEES != 1, -math.inf).softmax(-1) @ v
    torch.testing.assert_close(ours, theirs, equal_nan=True)
    assert not ours.isfinite().all() and ours[0].isfinite().all() and ours[:, :2].isfinite().all()


@pytest.mark.parametrize(("batch", "n"), [((0,), N), ((2, 0), N), ((2,), 0)])
def test_no_queries_and_no_sentences_give_nothing(batch, n):
    q, k, v = (torch.ones(*batch, size, F) for size in (n, N, N))
    for tensors in ((q, k, v), numpy(q, k, v)):
        assert (*attend(*tensors).output.shape,) == (*batch, n, F)


Q, K, V = qkv()
HEADS = qkv(2, 3)
INT = SEES

# What is passed and refused, and words of the sentence: what is taken, what came, and what to do.
REFUSED = {
    "a mask of whole numbers": (lambda: attend(Q, K, V, INT), "boolean.* added .*int64.*mask == 1"),
    "a mask of bytes": (lambda: attend(Q, K, V, INT.to(torch.uint8)), "boolean.*uint8.*mask == 1"),
    "a mask of NumPy's whole numbers": (lambda: attend(*numpy(Q, K, V, INT)), "boolean.*int64.*mask == 1"),
    "a complex mask": (lambda: attend(Q, K, V, INT.to(torch.complex64)), "boolean.*complex64"),
    "a mask of objects": (lambda: attend(*numpy(Q, K, V), INT.numpy().astype(object)), "boolean.*object"),
    "a mask of texts": (lambda: attend(*numpy(Q, K, V), INT.numpy().astype(str)), "boolean.*<U"),
    "a list as a mask": (lambda: attend(Q, K, V, [[True]]), r"a mask is an array.* \[\[True\]\]; causal_mask"),
    "True as a mask": (lambda: attend(Q, K, V, True), "a mask is an array.* True; causal_mask"),
    "a word as a mask": (lambda: attend(Q, K, V, "causal"), "a mask is an array.*'causal'; causal_mask"),
    "NumPy's mask with torch": (lambda: attend(Q, K, V, INT.numpy() == 1), "torch float32 .* NumPy bool; convert"),
    "torch's mask with NumPy": (lambda: attend(*numpy(Q, K, V), INT == 1), "NumPy float32 .* torch bool; convert"),
    "a mask of another precision": (lambda: attend(Q, K, V, ADDED.double()), "float32 .* float64; convert the mask"),
    "NaN in a mask": (
        lambda: attend(Q, K, V, torch.where(INT == 1, ADDED, math.nan)),
        r"finite numbers, and −∞ to hide.*\(0, 1\) it holds nan",
    ),
    "∞ in a mask": (
        lambda: attend(*numpy(Q, K, V), np.where(INT == 1, 0, np.inf).astype(np.float32)),
        r"finite numbers, and −∞ to hide.*\(0, 1\) it holds inf",
    ),
    "NaN in a mask with a sink": (lambda: attend(Q, K, V, ADDED * math.nan, sink=0.0), "finite numbers.* nan"),
    "a mask that hides all": (lambda: attend(Q, K, V, INT < 0), "at least one key.*query 0$"),
    "a float mask that hides all": (lambda: attend(Q, K, V, ADDED - math.inf), "at least one key.*query 0$"),
    "a mask without the axis of the heads": (
        lambda: attend(*HEADS, torch.ones(2, N, N) == 1),
        r"\(2, 3, 4, 4\).*lacks an axis for the heads; write mask\[:, None\]",
    ),
    "a mask for four heads of three": (lambda: attend(*HEADS, torch.ones(4, N, N) == 1), r"\(2, 3\).*has \(4,\)"),
    "a mask with too many axes": (lambda: attend(Q, K, V, torch.ones(1, N, N) == 1), r"have \(\).*mask has \(1,\)"),
    "a mask of padding without axes for heads and queries": (
        lambda: attend(*HEADS, torch.ones(2, N) == 1),
        r"needs 4 rows.*its shape is \(2, 4\); 1 row",
    ),
    "a mask of no rows": (lambda: attend(Q, K, V, torch.ones(N) == 1), r"needs 4 rows.*its shape is \(4,\); 1 row"),
    "one row for all keys": (lambda: attend(*HEADS, torch.ones(2, 1, N, 1) == 1), "and 4 columns"),
    "padding alone": (lambda: attend(*HEADS, REAL > 1), r"hides all keys .*query 0 of batch entry \(0, 0\)"),
    "a list as q": (lambda: attend(Q.tolist(), K, V), "q is a NumPy array or a torch tensor, but got a list"),
    "None as v": (lambda: attend(Q, K, None), "v is a NumPy array .* NoneType"),
    "whole numbers": (lambda: attend(Q.long(), K, V), "q holds floating-point numbers, but .*int64; convert"),
    "whole numbers of NumPy": (lambda: attend(*numpy(Q, K, V.long())), "v holds floating-point numbers, but .*int64"),
    "booleans": (lambda: attend(Q, K > 0, V), "k holds floating-point numbers, but .*bool"),
    "complex numbers": (lambda: attend(Q, K, V.to(torch.complex64)), "v holds floating-point.*complex64"),
    "objects": (lambda: attend(*(x.astype(object) for x in numpy(Q, K, V))), "q holds floating-point.*object"),
    "two precisions": (lambda: attend(*numpy(Q, K, V.double())), "q is NumPy float32 and v is NumPy float64; convert"),
    "two libraries": (lambda: attend(Q, K.numpy(), V), "q is torch float32 and k is NumPy float32; convert"),
    "one vector": (lambda: attend(Q[0], K, V), r"a row for each token.*\(3,\).*x\[None\]"),
    "features that do not fit": (lambda: attend(Q, K[:, :2], V), "features, but q has 3 and k has 2"),
    "no features": (lambda: attend(Q[:, :0], K[:, :0], V), "at least one feature"),
    "no keys": (lambda: attend(Q, K[:0], V[:0]), "at least one key.* no keys"),
    "a value too few": (lambda: attend(Q, K, V[:-1]), "4 keys and 3 values"),
    "fewer heads of keys": (
        lambda: attend(*HEADS[:1], *(x[:, :1] for x in HEADS[1:])),
        r"\(2, 3\), \(2, 1\) and \(2, 1\).*share_heads",
    ),
    "keys for no head": (lambda: attend(HEADS[0], K, V), r"\(2, 3\), \(\) and \(\)"),
    "a scale that is no number": (lambda: attend(Q, K, V, scale=math.nan), "finite number.*or None.*nan"),
    "an infinite scale": (lambda: attend(Q, K, V, scale=math.inf), "finite number.*inf"),
    "a word as a scale": (lambda: attend(Q, K, V, scale="auto"), "finite number.*'auto'"),
    "True as a scale": (lambda: attend(Q, K, V, scale=True), "finite number.*True"),
    "a scale for each feature": (lambda: attend(Q, K, V, scale=torch.ones(F)), "finite number.*tensor"),
    "a soft cap below 0": (lambda: attend(Q, K, V, soft_cap=-1.0), "above 0.* 0 or None .*-1.0"),
    "a soft cap that is no number": (lambda: attend(Q, K, V, soft_cap=math.nan), "above 0.*nan"),
    "an infinite soft cap": (lambda: attend(Q, K, V, soft_cap=math.inf), "above 0.*inf"),
    "a sink that is no number": (lambda: attend(Q, K, V, sink=math.nan), "a sink is a score.*nan"),
    "an infinite sink": (lambda: attend(Q, K, V, sink=math.inf), "a sink is a score.*inf"),
    "a list of sinks": (lambda: attend(*HEADS, sink=[0.0] * 3), "one for each head"),
    "sinks for two heads of three": (lambda: attend(*HEADS, sink=torch.zeros(2)), r"\(2,\).*\(2, 3\)"),
    "sinks for no heads": (lambda: attend(Q, K, V, sink=torch.zeros(3)), r"\(3,\).*\(\)"),
    "sinks of whole numbers": (lambda: attend(*HEADS, sink=torch.zeros(3).long()), "type of q.*int64; convert"),
    "is_causal as PyTorch has it": (lambda: attend(Q, K, V, is_causal=True), "is_causal"),
    "blocks of a mask of whole numbers": (lambda: next(attend_in_blocks(Q, K, V, INT, block=2)), "boolean.*int64"),
    "blocks without keys": (lambda: next(attend_in_blocks(Q, K, V, block=0)), "at least 1, but got 0"),
    "whole numbers that mask scores": (lambda: mask_scores(Q @ K.T, INT), "boolean.*int64"),
    "another gradient": (lambda: attend_backward(attend(Q, K, V), V[0]), r"\(4, 3\) has its shape, but got \(3,\)"),
    "a gradient with a soft cap below 0": (lambda: attend_backward(attend(Q, K, V), V, None, -1.0), "above 0"),
    "a gradient with an infinite scale": (lambda: attend_backward(attend(Q, K, V), V, math.inf), "finite number"),
    "a window that reaches −2 back": (lambda: within_window(distances(N, N), -2), "left is a whole number.*-2"),
    "half a window": (lambda: within_window(distances(N, N), 1, 0.5), "right is a whole number.*0.5"),
    "a window of no width": (lambda: sliding_window_mask(N, 0), "width of at least 1, but got 0; .*full_mask"),
    "a window of width −1": (lambda: sliding_window_mask(N, -1), "width of at least 1, but got -1"),
    "a mask of −1 tokens": (lambda: causal_mask(-1), "n_tokens is a whole number of at least 0, but got -1"),
    "a mask of a text": (lambda: full_mask("4"), "n_tokens is a whole number.*'4'"),
    "more real tokens than there are": (lambda: padding_mask(N, 5), "at most 4, its whole length, but got 5"),
    "−1 queries": (lambda: distances(-1, N), "n_queries is a whole number of at least 0, but got -1"),
    "slopes of no head": (lambda: alibi_slopes(0), "n_heads is a whole number of at least 1"),
    "an odd number of features to turn": (lambda: rotate(Q), "even, but it is 3"),
    "whole numbers to turn": (lambda: rotate(INT), "floating-point.*int64"),
    "a position below 0": (lambda: rotate(Q[:, :2], -1), "first is a whole number of at least 0, but got -1"),
    "more features than there are": (lambda: rotate(Q[:, :2], how=Rotary(features=4)), "d_k = 2, but got 4"),
    "no stretch": (lambda: rotate(Q[:, :2], how=Rotary(stretch=0.0)), "above 0.* 0.0"),
    "heads that do not divide": (lambda: split_heads(Q, 2), "2 heads cannot share 3"),
    "no heads": (lambda: split_heads(Q, 0), "n_heads is a whole number of at least 1, but got 0"),
    "keys of two heads for three": (lambda: share_heads(torch.ones(2, N, F), 3), "3 heads cannot share.*2 evenly"),
    "keys of no heads": (lambda: share_heads(torch.ones(0, N, F), 3), "3 heads cannot share.*0 evenly"),
}


@pytest.mark.parametrize("passed", REFUSED)
def test_what_is_read_in_different_ways_or_in_none_is_refused_in_one_sentence(passed):
    call, words = REFUSED[passed]
    with pytest.raises((InputError, TypeError), match=words) as refused:
        call()
    assert isinstance(refused.value, InputError) or passed == "is_causal as PyTorch has it"
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_an_open_side_of_a_window_is_written_as_in_onnx_and_flash_attention():
    distance = distances(N, N)
    assert within_window(distance, -1, -1).all() and torch.equal(within_window(distance, -1, 0), causal_mask(N))
    assert torch.equal(within_window(distance, 0, 0), torch.eye(N) == 1) and torch.equal(
        within_window(distance, None, 1), distance < 2
    )


def test_a_cap_of_0_is_none_wherever_it_is_given():
    scores = Q @ K.T
    assert torch.equal(cap_scores(scores, 0.0), scores) and torch.equal(cap_scores(scores, None), scores)
    trace = attend(Q, K, V)
    torch.testing.assert_close(attend_backward(trace, V, None, 0.0).d_q, attend_backward(trace, V).d_q)


def test_a_mask_drawn_with_zeros_and_ones_is_boolean():
    assert torch.equal(drawn_mask([[1, 0], [1, 1]]), causal_mask(2))


def heads_with_past(k_tokens, v_tokens, features=3):
    heads = MultiHeadAttention.draw(6, 2, generator=generator(0))
    return heads(torch.ones(1, 6), past=KeyValues(torch.ones(2, k_tokens, features), torch.ones(2, v_tokens, 3)))


@pytest.mark.parametrize("wrong", [(2, 3), (2, 2, 4)])
def test_a_past_that_does_not_fit_is_refused(wrong):
    heads_with_past(2, 2)
    with pytest.raises(InputError, match=r"kept keys and values.*\(2, 2, "):
        heads_with_past(*wrong)


@pytest.mark.parametrize(("tokens", "layers"), [(2, 2), (4, 2), (3, 1)])
def test_a_past_of_other_tokens_or_layers_is_refused(tokens, layers):
    config = ModelConfig(vocabulary=5, context=8, d_model=6, n_heads=2, n_layers=2, positions="none")
    model, ids = draw_model(config, generator(0)), torch.tensor([1, 2, 3, 4])
    past = present(read_newest(model, ids[:3]))
    torch.testing.assert_close(read_newest(model, ids, past).logits[-1], model(ids).logits[-1])
    text = torch.tensor([1, 2, 3, 4, 0])[: tokens + 1] if layers == 2 else ids
    with pytest.raises(InputError, match=r"all 2 layers and of the . tokens.*keep what present gives"):
        read_newest(model, text, past[:layers])


def test_softmax_of_whole_numbers_is_that_of_the_numbers():
    rows = np.array([[1, 2, 4], [0, 0, 0]])
    np.testing.assert_allclose(softmax_rows(rows), torch.tensor(rows).double().softmax(-1).numpy())
