import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_ui.session.mask_codes import mask_code, mask_from_code

SIZES = st.integers(1, 13)


def cells(n, may_look):
    """The mask of a rule, asked cell by cell."""
    return [[may_look(i, j) for j in range(n)] for i in range(n)]


@given(n=SIZES)
def test_the_full_mask_hides_nothing(n):
    assert full_mask(n).tolist() == cells(n, lambda i, j: True)


@given(n=SIZES)
def test_the_causal_mask_shows_each_query_itself_and_what_came_before(n):
    assert causal_mask(n).tolist() == cells(n, lambda i, j: j <= i)


@given(n=SIZES, width=st.integers(1, 17))
def test_a_window_shows_what_is_less_than_its_width_away(n, width):
    assert sliding_window_mask(n, width).tolist() == cells(n, lambda i, j: abs(i - j) < width)


@given(n=SIZES, width=st.integers(1, 17))
def test_a_causal_window_shows_the_last_few_tokens(n, width):
    both = sliding_window_mask(n, width) & causal_mask(n)
    assert both.tolist() == cells(n, lambda i, j: i - width < j <= i)
    assert both.sum(dim=-1).tolist() == [min(i + 1, width) for i in range(n)]


@given(st.data())
def test_padding_is_hidden_from_everybody(data):
    n = data.draw(SIZES)
    n_real = data.draw(st.integers(1, n))
    assert padding_mask(n, n_real).tolist() == cells(n, lambda i, j: j < n_real)


@given(st.data())
def test_padding_combines_with_a_causal_mask(data):
    n = data.draw(SIZES)
    n_real = data.draw(st.integers(1, n))
    both = causal_mask(n) & padding_mask(n, n_real)
    assert both.tolist() == cells(n, lambda i, j: j <= i and j < n_real)


def test_padding_changes_nothing_for_the_real_tokens():
    x = torch.randn(7, 3, generator=generator(0))
    padded = attend(x, x, x, padding_mask(7, 5)).output[:5]
    torch.testing.assert_close(padded, attend(x[:5], x[:5], x[:5]).output)


@pytest.mark.parametrize("mask", [full_mask(5), causal_mask(5), sliding_window_mask(5, 2), padding_mask(5, 3)])
def test_masks_are_boolean_and_leave_every_query_something(mask):
    assert mask.dtype == torch.bool
    assert mask.shape == (5, 5)
    assert mask.any(dim=-1).all()


@pytest.mark.parametrize("width", [0, -1])
def test_a_window_without_width_is_an_error(width):
    with pytest.raises(ValueError, match=f"width of at least 1, but got {width}"):
        sliding_window_mask(5, width)


@pytest.mark.parametrize("n_real", [0, -1, 8])
def test_an_impossible_number_of_real_tokens_is_an_error(n_real):
    with pytest.raises(ValueError, match=f"at most 7, its whole length, but got {n_real}"):
        padding_mask(7, n_real)


def test_sizes_are_whole_numbers():
    with pytest.raises(TypeCheckError):
        causal_mask(2.5)


@given(st.integers(1, 12), st.data())
def test_a_drawn_mask_and_its_code_are_the_same_thing(n_tokens, data):
    rows = st.lists(st.booleans(), min_size=n_tokens, max_size=n_tokens).filter(any)
    drawn = drawn_mask(data.draw(st.lists(rows, min_size=n_tokens, max_size=n_tokens)))
    code = mask_code(drawn.tolist())
    assert torch.equal(mask_from_code(code, n_tokens), drawn)
    assert code == code.lower() and len(code) <= n_tokens * 4
    with pytest.raises(ValueError, match=f"{n_tokens + 1} in all, but the code describes {n_tokens}"):
        mask_from_code(code, n_tokens + 1)


def test_codes_as_they_are_written():
    assert mask_code(causal_mask(3).tolist()) == "4-6-7"
    assert torch.equal(mask_from_code(" 4-6-7 ", 3), causal_mask(3))
    assert torch.equal(mask_from_code("20-30-38-3C-3E-3F", 6), causal_mask(6))


@given(st.text())
def test_any_text_is_a_code_or_gets_a_sentence(text):
    try:
        mask = mask_from_code(text, 3)
    except ValueError as error:
        assert str(error)
    else:
        assert mask.shape == (3, 3) and mask.any(dim=-1).all()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("", "digits"),
        ("4-6-x", "digits"),
        ("4-6--7", "digits"),
        ("4-6", "3 in all, but the code describes 2"),
        ("8-6-7", "more keys than there are tokens, 3"),
        ("4-0-7", "query 2 has no key to look at"),
        ("٤-6-7", "digits"),
        ("123456789-1-1", "digits"),
    ],
)
def test_a_bad_code_is_refused_with_a_sentence(code, says):
    with pytest.raises(ValueError, match=says):
        mask_from_code(code, 3)
