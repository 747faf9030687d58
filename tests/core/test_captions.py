import re

import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from lessons.captions import name
from lessons.formatting import number, percent

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
