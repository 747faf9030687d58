import unicodedata

import pytest
import torch
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from lessons.screen import (
    Fixed,
    ListOf,
    Percent,
    Token,
    argmax_ties,
    distinguishable,
    format_value,
    magnitude,
    message,
    names,
    number,
    percent,
    plural,
    render,
    render_all,
    visible_text,
)


def value(text):
    return float(text.replace("−", "-"))


def test_small_sizes_are_written_out_and_tiny_ones_as_a_power_of_ten():
    written = {0: "0", 12.345: "12.35", 0.01: "0.01", 0.00932: "0.0093", -0.000456: "−0.00046", 2.94e-7: "2.9e−7"}
    assert {size: magnitude(size) for size in written} == written


def says(shown, share):
    """Whether a percentage as shown is right for the share."""
    if shown == "under 1%":
        return 0 < share < 0.01
    if shown == "over 99%":
        return 0.99 < share < 1
    return abs(float(shown.removesuffix("%")) / 100 - share) <= 0.005 + 1e-6 and (shown != "0%" or share == 0)


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
    ("share", "text"),
    [(0.0, "0%"), (1.0, "100%"), (0.004, "under 1%"), (0.006, "1%"), (0.234, "23%"), (0.998, "over 99%")],
)
def test_percentages_are_whole(share, text):
    assert percent(share) == text


@given(share=st.floats(0, 1))
@also(share=0.005)
@also(share=1e-30)
def test_a_percentage_is_right_within_its_rounding_and_reads_zero_only_for_nothing(share):
    assert says(percent(share), share)


def test_a_token_that_comes_twice_is_named_with_its_position():
    assert [format_value(token) for token in names(("the", "cat", "the"))] == ["“the” (1)", "“cat”", "“the” (3)"]
    assert format_value(Token(" ", 0)) == "“␣”"


def test_a_learners_text_is_never_read_as_a_template():
    sentence = message("{token} and {other}", token=Token("{other}", 0), other="{0} {token}")
    assert render(sentence) == "“{other}” and {0} {token}"
    assert render(message("no arguments")) == "no arguments"


def test_one_thing_and_several():
    sentences = [plural("{count} token", "{count} tokens", count) for count in (0, 1, 2)]
    assert render_all(sentences) == "0 tokens 1 token 2 tokens"
    assert render(message("{a}", a=ListOf(("x", Percent(0.5), Fixed(1.25, 1))))) == "x, 50% and 1.2"


def test_all_that_read_like_the_largest_lead():
    assert argmax_ties(torch.tensor([0.1, 0.304, 0.301]), percent) == [(1,), (2,)]
    assert argmax_ties(torch.tensor([[0.1, 0.9], [0.2, float("nan")]]), percent) == [(0, 1)]
    assert argmax_ties(torch.tensor([-float("inf"), -2.0]), number) == [(1,)]
    assert argmax_ties(torch.tensor([float("nan")]), number) == []


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_numbers_that_differ_are_written_apart(one, other):
    shown = [format_value(n) for n in distinguishable(one, other)]
    assert shown[0] != shown[1] or abs(one - other) < 1e-8
    assert abs(one - other) < 0.02 or all(n.decimals == 2 for n in distinguishable(one, other))


def test_three_numbers_are_told_apart_even_where_two_of_them_part_sooner():
    assert [format_value(n) for n in distinguishable(0.1449, 0.1451, 0.14512)] == ["0.14490", "0.14510", "0.14512"]
    assert [n.decimals for n in distinguishable(0.1, 0.2, 0.3, least=4)] == [4, 4, 4]


# Tokens of any script


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("a b", "a␣b"),
        ("\u0301", "◌\u0301"),
        ("\u0947\u092e", "◌\u0947\u092e"),
        ("e\u0301", "e\u0301"),
        ("\u200d", "U+200D"),
        ("\ufe0f₁", "U+FE0F₁"),
        ("\u200f₂", "U+200F₂"),
        ("שלום", "\u2068שלום\u2069"),
        (" مر", "\u2068␣مر\u2069"),
        ("日本", "日本"),
    ],
)
def test_a_token_of_any_script_can_be_seen_and_keeps_to_itself(token, text):
    assert visible_text(token) == text == visible_text(text)


def test_words_from_right_to_left_change_no_order_around_them():
    """By the rules for both directions a word that is isolated is as one sign of no direction to all around it."""
    one, other = names(["שלום", "עולם"])
    said = render(
        message("{one} gives {other} more than {several}.", one=one, other=other, several=ListOf((one, other)))
    )
    outside, depth = [], 0
    for sign in said:
        depth += (sign == "\u2068") - (sign == "\u2069")
        outside += [] if depth or sign == "\u2069" else [unicodedata.bidirectional(sign)]
    assert depth == 0 and not {"R", "AL", "AN"} & set(outside)
    assert said.count("\u2068") == 4
