import math
import re

import pytest
import torch
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st
from strategies import SIZES_CHOSEN

from attention_core.attention import attend
from attention_core.masks import causal_mask, sliding_window_mask
from attention_core.randomness import generator
from lessons.captions import STAGES, name, number, percent, row_caption, stage_caption, weights_caption
from lessons.example import Example, run_example

NUMBER = r"−?\d+\.\d+"
TOKEN = r"“([^”]*)”(?: \((\d+)\))?"


def value(text):
    return float(text.replace("−", "-"))


def numbers(caption):
    return [value(text) for text in re.findall(NUMBER, caption)]


def places(caption, tokens):
    """The place of every token that the caption names; a token that comes twice must say which one it means."""
    found = []
    for shown, place in re.findall(TOKEN, caption):
        token = " " if shown == "␣" else shown
        assert token in tokens
        if tokens.count(token) > 1:
            assert place, f"{caption} does not say which “{token}” it means"
            assert tokens[int(place) - 1] == token
        else:
            assert not place
        found.append(int(place) - 1 if place else tokens.index(token))
    return found


def shown_percent(caption):
    return re.findall(r"(under 1 %|\d+ %)", caption)


def says(shown, share):
    """Whether a percentage as shown is right for the share."""
    if shown == "under 1 %":
        return 0 < share < 0.01
    return abs(float(shown.removesuffix(" %")) / 100 - share) <= 0.005 + 1e-6 and (shown != "0 %" or share == 0)


# Numbers, percentages, names


@pytest.mark.parametrize(
    ("given_value", "text"),
    [(1.234, "1.23"), (-1.239, "−1.24"), (0.0, "0.00"), (-0.0, "0.00"), (-0.001, "0.00"), (1000.0, "1000.00")],
)
def test_numbers_have_a_true_minus_sign_and_no_minus_before_a_zero(given_value, text):
    assert number(given_value) == text


@given(given_value=st.floats(-1e6, 1e6), digits=st.integers(0, 4))
def test_a_shown_number_is_the_number_within_its_rounding(given_value, digits):
    shown = number(given_value, digits)
    assert "-" not in shown
    assert abs(value(shown) - given_value) <= 0.5 * 10**-digits * (1 + 1e-9)


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (1.0, "100 %"), (0.004, "under 1 %"), (0.006, "1 %"), (0.234, "23 %")]
)
def test_percentages_are_whole(share, text):
    assert percent(share) == text


@given(share=st.floats(0, 1))
@also(share=0.005)
@also(share=1e-30)
def test_a_percentage_is_right_within_its_rounding_and_reads_zero_only_for_nothing(share):
    assert says(percent(share), share)


def test_a_token_that_comes_twice_is_named_with_its_place():
    tokens = ("the", "cat", "the")
    assert [name(tokens, i) for i in range(3)] == ["“the” (1)", "“cat”", "“the” (3)"]


# Stages


@given(SIZES_CHOSEN)
def test_every_stage_has_a_sentence(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    for stage in STAGES:
        caption = stage_caption(stage, trace, head)
        assert caption.endswith((".", "%.", "."))
        assert "nan" not in caption and "inf" not in caption and "-" not in re.sub(TOKEN, "", caption)


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_tokens_is_true(chosen):
    trace = run_example(chosen)
    caption = stage_caption("x", trace)
    n, d_model = trace.x.shape
    assert caption.startswith(f"{n} token{'s' * (n > 1)}, each a row of {d_model} number{'s' * (d_model > 1)}.")
    if "at places" in caption:
        shown = re.search("“(.*?)” stands", caption)[1]
        token = " " if shown == "␣" else shown
        stated = [int(p) - 1 for p in re.search("at places (.*):", caption)[1].replace(" and", ",").split(", ")]
        assert stated == [i for i, t in enumerate(trace.tokens) if t == token]
        assert len(stated) > 1
        assert all(torch.equal(trace.x[i], trace.x[stated[0]]) for i in stated)
    else:
        assert len(set(trace.tokens)) == n
        assert len({tuple(row) for row in trace.x.tolist()}) == n


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_projections_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    attention = trace.heads.select(head)
    caption = stage_caption("qkv", trace, head)
    sizes = re.search(r"a key of (\d+) and a value of (\d+)", caption)
    assert (int(sizes[1]), int(sizes[2])) == (attention.q.shape[-1], attention.v.shape[-1])
    lengths = [math.sqrt(sum(f * f for f in row)) for row in attention.k.tolist()]
    (longest,) = places(caption, trace.tokens)
    assert math.isclose(lengths[longest], max(lengths), rel_tol=1e-5)
    assert abs(numbers(caption)[0] - max(lengths)) <= 0.0051


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_scores_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    scores = trace.heads.scores[head]
    caption = stage_caption("scores", trace, head)
    i, j = places(caption, trace.tokens)
    assert scores[i, j] == scores.max()
    assert abs(numbers(caption)[0] - float(scores.max())) <= 0.0051


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_scaling_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    attention = trace.heads.select(head)
    caption = stage_caption("scaled", trace, head)
    found = numbers(caption)
    if "Nothing changes" in caption:
        assert torch.equal(attention.scaled, attention.scores)
        assert ("switched off" in caption) == (not trace.example.scaling)
        expected = [attention.scores.min(), attention.scores.max()]
    else:
        assert f"√{trace.example.d_k} =" in caption
        expected = [math.sqrt(trace.example.d_k), attention.scaled.min(), attention.scaled.max()]
        expected += [attention.scores.min(), attention.scores.max()]
    assert len(found) == len(expected)
    for shown, true in zip(found, expected, strict=True):
        assert abs(shown - float(true)) <= 0.0051


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_mask_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    visible = trace.heads.visible[head]
    n = len(trace.tokens)
    caption = stage_caption("masked", trace, head)
    if visible.all():
        assert f"all {n * n} score" in caption and "hidden" not in caption
        return
    hidden, total = map(int, re.match(r"(\d+) of (\d+) scores are hidden", caption).groups())
    assert (hidden, total) == (int((~visible).sum()), n * n)
    least, most = places(caption, trace.tokens)
    seen = visible.sum(dim=-1).tolist()
    assert seen[least] == min(seen) and seen[most] == max(seen)
    stated = re.findall(r"sees (only itself|all|\d+)", caption)
    assert [{"only itself": 1, "all": n}.get(words) or int(words) for words in stated] == [min(seen), max(seen)]


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_weights_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    attention = trace.heads.select(head)
    caption = stage_caption("weights", trace, head)
    check_weights_caption(caption, trace.tokens, attention)


def check_weights_caption(caption, tokens, attention):
    choices = attention.visible.sum(dim=-1)
    if "nothing else" in caption:
        assert int(choices.max()) == 1
        (query,) = places(caption, tokens)
        assert attention.weights[query, query] == 1
        return
    query = places(caption, tokens)[0]
    with_choice = [i for i in range(len(tokens)) if choices[i] > 1]
    assert query in with_choice
    assert attention.weights[query].max() == attention.weights[with_choice].max()
    check_row_caption(caption, tokens, attention, query)


def check_row_caption(caption, tokens, attention, query):
    row = attention.weights[query].tolist()
    named = places(caption, tokens)
    assert named[0] == query
    assert all(attention.visible[query, j] for j in named[1:]), f"{caption} names a token that is hidden"
    assert [row[j] for j in named[1:]] == sorted(row, reverse=True)[: len(named) - 1]
    shown = shown_percent(caption)
    assert len(shown) == len(named) - 1
    assert all(says(text, row[j]) for text, j in zip(shown, named[1:], strict=True))


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["window", "causal window", "causal", "none"]))
@also(seed=0, kind="narrow")
def test_the_sentence_on_the_weights_is_true_under_other_masks(seed, kind):
    n, tokens = 7, tuple("abacada")
    masks = {
        "window": sliding_window_mask(n, 2),
        "causal window": sliding_window_mask(n, 3) & causal_mask(n),
        "narrow": sliding_window_mask(n, 1),
        "causal": causal_mask(n),
        "none": None,
    }
    x = torch.randn(n, 3, generator=generator(seed))
    attention = attend(x, x, x, masks[kind])
    check_weights_caption(weights_caption(tokens, attention), tokens, attention)


@given(SIZES_CHOSEN)
def test_the_sentence_on_each_row_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    attention = trace.heads.select(head)
    for query in range(len(trace.tokens)):
        check_row_caption(row_caption(trace.tokens, attention, query), trace.tokens, attention, query)


@given(SIZES_CHOSEN)
def test_the_sentence_on_the_output_is_true(chosen):
    trace, head = run_example(chosen), chosen.n_heads - 1
    attention = trace.heads.select(head)
    caption = stage_caption("output", trace, head)
    last = len(trace.tokens) - 1
    row, seen = attention.weights[last], int(attention.visible[last].sum())
    taker, largest = places(caption, trace.tokens)
    assert taker == last
    assert row[largest] == row.max()
    if "unmixed" in caption:
        assert seen == 1
        torch.testing.assert_close(attention.output[last], attention.v[largest])
    else:
        assert f"a mixture of {seen} values" in caption and seen > 1
        (share,) = shown_percent(caption)
        assert says(share, float(row.max()))


def test_a_sentence_follows_the_chosen_head():
    trace = run_example(Example(n_heads=3))
    assert len({stage_caption("weights", trace, head) for head in range(3)}) > 1
