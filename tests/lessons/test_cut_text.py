"""A long text is cut between words, or at least between characters, before anything is computed of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.example.real_model import MOST_GIVEN_UP, CutText, cut_text
from lessons.model.generate.real_writer import MOST_READ, real_beginning
from lessons.screen import render_all

COSTLY = ("🏳️‍🌈" * 50, "👨‍👩‍👧‍👦" * 28, "字" * 200, "é̂̃" * 60, "à́̂̃̄" * 33, "word " * 40)
PIECES = st.sampled_from([" the", " cat", "s", "ly", "字", "", " a", "-", "é"])


@given(st.lists(PIECES, min_size=1, max_size=40), st.integers(1, 20))
def test_what_is_left_is_the_beginning_or_the_end_and_ends_with_whole_words(tokens, most):
    whole = CutText(tuple(range(len(tokens))), tuple(tokens))
    first, last = whole.first(most), whole.last(most)
    n_first, n_last = len(first.ids), len(last.ids)
    assert first.ids == whole.ids[:n_first] and last.ids == whole.ids[len(tokens) - n_last :]
    assert len(first.tokens) == n_first and len(last.tokens) == n_last
    if len(tokens) <= most:
        assert first is whole and last is whole
        return
    assert max(1, most - MOST_GIVEN_UP) <= max(n_first, 1) <= most and most - MOST_GIVEN_UP <= n_last <= most
    near = [place for place in range(max(1, most - MOST_GIVEN_UP), most + 1)]
    if any(tokens[place].startswith(" ") for place in near):
        assert tokens[n_first].startswith(" ") and not any(
            tokens[p].startswith(" ") for p in range(n_first + 1, most + 1)
        )
    elif any(tokens[place] for place in near):
        assert tokens[n_first], "a character has tokens on both sides"


@pytest.mark.parametrize("text", COSTLY)
def test_a_costly_text_is_read_as_far_as_generate_shows_it(smollm2, text):
    whole, begun = cut_text(smollm2, text), real_beginning(smollm2, text)
    assert 1 <= len(begun.ids) <= MOST_READ and begun.ids == whole.ids[-len(begun.ids) :]
    said = render_all(begun.notes)
    assert (f"reads only the last {len(begun.ids)}." in said) == (len(whole.ids) > MOST_READ)


def test_only_the_last_position_of_a_beginning_is_scored(smollm2, monkeypatch):
    made = []
    unembed = type(smollm2.kept).unembed
    monkeypatch.setattr(type(smollm2.kept), "unembed", lambda self, x: made.append(x.shape) or unembed(self, x))
    smollm2.newest_token(real_beginning(smollm2, "one two three " * 9).ids)
    assert sum(shape[-2] for shape in made) == 1
