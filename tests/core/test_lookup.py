"""Words that the table of the example does not know."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.embeddings import with_unknown_row
from attention_core.tokens import Vocabulary
from lessons.example import Example, run_example
from lessons.single_lessons import look_up, lookup_caption


def test_strangers_share_one_row_and_friends_keep_theirs():
    trace = run_example(Example(source="sentence", text="the cat saw the dog", d_model=5))
    lookup = look_up(trace, "the cow saw a cat")
    assert lookup.ids == (0, 4, 2, 4, 1) and lookup.unknown_id == 4
    different = torch.stack([trace.x[place] for place in (0, 1, 2, 4)])
    torch.testing.assert_close(lookup.rows[1], different.mean(dim=0))
    assert torch.equal(lookup.rows[1], lookup.rows[3]) and torch.equal(lookup.rows[4], trace.x[1])
    with pytest.raises(ValueError) as refused:
        Vocabulary.in_order_of_appearance(trace.tokens).encode(lookup.tokens)
    caption = lookup_caption(lookup)
    assert str(refused.value) in caption and "all 2 get that same row" in caption and "number 4" in caption


def test_what_is_known_is_not_refused():
    lookup = look_up(run_example(Example()), "journey journey")
    assert lookup.refusal is None and lookup.ids == (1, 1)
    assert "knows every one" in lookup_caption(lookup)


def test_the_unknown_row_is_the_last_and_the_mean():
    table = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    assert with_unknown_row(table).tolist() == [*table.tolist(), [3.0, 3.0]]


@given(st.text())
def test_any_text_is_looked_up(text):
    trace = run_example(Example())
    lookup = look_up(trace, text)
    assert lookup.rows.shape == (len(lookup.tokens), 3)
    assert lookup_caption(lookup)
