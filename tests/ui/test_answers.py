"""The answers on the training page: each below its token, whatever letters the titles of the rows have."""

from types import SimpleNamespace

import pytest

from attention_ui.figures.sentence.answers import answers_table, column_width
from lessons.learning.train.lesson import answer_rows
from words import LANGUAGES, speaking


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_column_stands_at_one_place_beside_all_titles(code):
    example = SimpleNamespace(tokens=("a", "lamp", "語"), answers=(None, "b", "long"))
    with speaking(code):
        rows = answer_rows(example, ("x", "b", "short"))
    beside, step = column_width(rows, 0), column_width(("lamp", "short"), 0)
    drawn = answers_table(rows, beside, step).to_pylist()
    texts = [one for one in drawn if one["align"] == "center"]
    assert [one["text"] for one in texts] == ["a", "lamp", "語", "·", "b", "long", "·", "b", "short", "", "", "×"]
    assert len({one["x"] for one in texts}) == 3 and len({one["y"] for one in texts}) == 4
    assert min(one["x"] for one in texts) - step / 2 >= beside
    assert [one["text"] for one in drawn if one["align"] == "left"] == list(rows)
