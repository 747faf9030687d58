"""Where lines of text end, in every kind of writing."""

import re
from itertools import pairwise

import pytest

from lessons.screen import balanced, letters, wrapped

JAPANESE = "学習済み：SmolLM2-135Mの第13層、2.5兆個のトークンを読んだ言語モデル（シード42で64問中64問正解）。"
CHINESE = "在“短篇故事”上训练 400 步（种子 42）：64 个新答案中 64 个正确。"


@pytest.mark.parametrize("text", [JAPANESE, CHINESE])
@pytest.mark.parametrize("most", range(16, 60))
def test_a_line_ends_in_no_number_or_name_and_after_no_opening_bracket(text, most):
    lines = wrapped(text, most)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(letters, lines)) <= most + 4  # what may begin no line hangs over the end of one
    for before, after in pairwise(lines):
        assert not re.search(r"[（“]$", before) and not re.match(r"[）”、。：]", after)
        assert not (re.search(r"[0-9A-Za-z.]$", before) and re.match(r"[0-9A-Za-z.]", after))


def test_what_has_no_room_at_all_is_parted_and_what_is_too_much_ends_with_an_ellipsis():
    assert wrapped("a" * 23 + "字", 10) == ["a" * 10, "a" * 10, "aaa字"]
    assert wrapped("学習済み学習済み学習済み", 8, 2) == ["学習済み", "学習済…"]
    assert wrapped("one two three", 7, 1) == ["one …"]


def test_balanced_lines_are_as_few_as_need_be_and_none_is_left_with_a_single_word():
    text = "Point at a cell to see its number and where it comes from there"
    assert wrapped(text, 56)[1] == "from there"
    assert balanced(text, 56) == ["Point at a cell to see its number", "and where it comes from there"]
    assert balanced("short", 56) == ["short"] and balanced("", 56) == []
