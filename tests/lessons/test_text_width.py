"""How wide texts are, and where lines of Chinese and Japanese end."""

import pytest

from lessons.screen import balanced, letters, wrapped

JAPANESE = "クエリとキーの内積は、トークンがどれだけ似ているかを表します。"
CHINESE = "注意力头 13.8 从“it”出发，把大部分权重给了 cat。"


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("词元", 4), ("e\u0301", 1), ("\u2068שלום\u2069", 4), ("ヘッド8", 7), ("", 0)]
)
def test_marks_have_no_width_and_wide_letters_have_two(text, width):
    assert letters(text) == width


@pytest.mark.parametrize("most", range(10, 40))
@pytest.mark.parametrize("text", [JAPANESE, CHINESE])
def test_lines_of_wide_letters_lose_nothing_and_end_at_no_forbidden_place(text, most):
    lines = wrapped(text, most, 99)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert letters(line.rstrip("。、，”")) <= most and line[0] not in "。、，”ー" and line[-1] not in "“（"


@pytest.mark.parametrize("most", range(18, 40))
def test_a_japanese_line_ends_in_no_word_and_before_no_particle(most):
    lines = wrapped(JAPANESE, most, 99)
    assert not {line[0] for line in lines} & set("はをがのにとでもいるすかきけ")
    assert all(word in "|".join(lines) for word in ("トークン", "内積は", "クエリと", "似ているかを"))


def test_a_word_with_spaces_around_it_stays_whole_among_wide_letters():
    lines = wrapped(CHINESE, 12, 99)
    assert "13.8" in "|".join(lines) and "“it”" in "|".join(lines)


def test_phrases_give_way_before_anything_is_left_out():
    in_one_less = [wrapped(JAPANESE, most, len(wrapped(JAPANESE, most)) - 1) for most in range(10, 40)]
    assert any("".join(lines) == JAPANESE for lines in in_one_less)
    assert wrapped(JAPANESE, 12, 2)[-1].endswith("…")


@pytest.mark.parametrize("most", range(4, 40))
@pytest.mark.parametrize("text", ["aaaa bbbb", "ああああ 。", JAPANESE, CHINESE, "one two three four five"])
def test_balanced_lines_are_as_few_as_they_can_be_and_lose_nothing(text, most):
    lines = balanced(text, most)
    assert len(lines) == len(wrapped(text, most))
    assert "".join("".join(lines).split()) == "".join(text.split())
