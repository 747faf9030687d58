"""The record tells what has changed from what another processor computes otherwise, and every change wants a reason."""

import copy
import math

import pytest

from tests.truths import reasons
from tests.truths.compare import Change, changes_of, reads_alike

LINK = "softmax?example=stories"
ENTRY = {
    "page": "softmax",
    "said": "example=stories&seed=3",
    "numbers": {"figure/weights": [[1.0, 0.0], [0.25, 0.75]], "figure/scores": [[120.5, -3.25]]},
    "sentences": ["“it” puts 75% of its weight on “cat”.", "3 tokens, d_k = 2."],
    "questions": ["Which key?\n✓ “cat” → 0.75.\n✗ “mat” → 0.25."],
}


def changed(**parts):
    """What differs between the entry and one in which these parts are others."""
    return changes_of("screens", LINK, ENTRY, copy.deepcopy(ENTRY) | parts)


def test_an_entry_that_is_as_it_was_has_not_changed():
    assert changed() == ([], 0)


def test_a_weight_that_changes_in_the_fourth_decimal_is_told():
    (change,) = changed(numbers=ENTRY["numbers"] | {"figure/weights": [[1.0, 0.0], [0.2501, 0.7499]]}).changes
    assert change[:4] == ("screens", "softmax", LINK, "figure/weights")
    assert (change.before, change.now) == ("0.25 at (1, 0)", "0.2501")


@pytest.mark.parametrize(("score", "told"), [(120.501, False), (120.502, True), (math.nan, True)])
def test_numbers_agree_in_proportion_to_the_largest_beside_them(score, told):
    found = changed(numbers=ENTRY["numbers"] | {"figure/scores": [[score, -3.25]]})
    assert bool(found.changes) == told


@pytest.mark.parametrize(("score", "told"), [(-math.inf, False), (1e-7, True), (math.nan, True)])
def test_what_is_infinite_stays_so(score, told):
    before = ENTRY | {"numbers": {"figure/masked": [[-math.inf, 0.5], [-math.inf, 0.5]]}}
    now = ENTRY | {"numbers": {"figure/masked": [[-math.inf, 0.5], [score, 0.5]]}}
    found = changes_of("screens", LINK, before, now).changes
    assert [change.before for change in found] == (["-inf at (1, 0)"] if told else [])


def test_a_matrix_that_is_gone_or_of_another_shape_is_told():
    weights = {"figure/weights": ENTRY["numbers"]["figure/weights"]}
    (gone,) = changed(numbers=weights).changes
    assert (gone.what, gone.before, gone.now) == ("figure/scores", "numbers", "")
    (turned,) = changed(numbers=weights | {"figure/scores": [[120.5], [-3.25]]}).changes
    assert turned.now == "shape (2, 1)"


@pytest.mark.parametrize(
    "sentence",
    [
        "“it” puts 75% of its weight on “mat”.",
        "“it” puts 73% of its weight on “cat”.",
        "“it” puts 75.0% of its weight on “cat”.",
        "2 tokens, d_k = 2.",
    ],
)
def test_a_sentence_that_changes_by_a_word_a_count_or_two_percent_is_told(sentence):
    found = changed(sentences=[sentence, ENTRY["sentences"][sentence[0].isdigit() - 1]])
    assert sentence in {change.now for change in found.changes}


def test_a_last_digit_that_flips_is_counted_and_not_told():
    assert changed(sentences=["“it” puts 76% of its weight on “cat”.", ENTRY["sentences"][1]]) == ([], 1)


def test_another_right_card_and_another_address_are_told():
    (gone, new) = changed(questions=["Which key?\n✗ “cat” → 0.75.\n✓ “mat” → 0.25."]).changes
    assert gone.now == new.before == ""
    (change,) = changed(said="example=stories&seed=4").changes
    assert (change.what, change.now) == ("said", "example=stories&seed=4")


def test_what_another_processor_finds_stands_in_the_entry_and_nothing_else_is_taken():
    before = ENTRY | {"or": [{"sentences": ["It copies.", ENTRY["sentences"][1]]}]}
    for sentence, told in (("It copies.", False), (ENTRY["sentences"][0], False), ("It sorts.", True)):
        now = copy.deepcopy(ENTRY) | {"sentences": [sentence, ENTRY["sentences"][1]]}
        assert bool(changes_of("screens", LINK, before, now).changes) == told


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("0.12 of 73%", "0.13 of 72%", True),
        ("0.12", "0.14", False),
        ("3 heads", "4 heads", False),
        ("1,234.56", "1,234.57", True),
        ("0.9999", "1.000", True),
        ("differ by 3.0e−7", "differ by 1.2e−7", True),
        ("differ by 3.0e−3", "differ by 1.2e−3", False),
        ("≈ 2.135·10^(−14)", "≈ 2.130·10^(−14)", True),
    ],
)
def test_texts_read_alike_where_only_rounding_differs(one, other, alike):
    assert reads_alike(one, other) == alike


CHANGE = Change("screens", "cost", "cost?cost_of=gpt2", "sentences", "It takes 3 steps.", "")


@pytest.mark.parametrize(
    ("line", "covers"),
    [
        ("screens cost: times are gone", True),
        ('screens cost "cost_of=gpt2": gone', True),
        ('screens cost "takes {count} steps": gone', True),
        ('screens cost "It takes 4 steps.": gone', False),
        ("screens softmax: another lesson", False),
        ("links cost: another kind", False),
    ],
)
def test_a_reason_covers_its_kind_its_place_and_its_words(line, covers):
    assert bool([*reasons.not_covered([reasons.reason_of(line)], [CHANGE])]) != covers


@pytest.mark.parametrize(
    "line", ["all: everything", "screens: no place", "screens cost", "screens cost:", "any cost: x"]
)
def test_a_reason_names_what_it_covers_and_says_why(line):
    with pytest.raises(ValueError, match="expected a line like"):
        reasons.reason_of(line)


def test_a_line_that_covers_nothing_or_too_much_is_told():
    lines = [reasons.reason_of(line) for line in ("screens cost: one", "screens mask: two")]
    changes = [CHANGE._replace(key=f"cost?seed={seed}") for seed in range(reasons.MOST_COVERED + 1)]
    assert [*reasons.not_covered(lines, [*changes, *changes])] == []
    too_much, nothing = reasons.unfit(lines, many=False)
    assert "covers 201 entries" in too_much and "covers nothing" in nothing
    assert len([*reasons.unfit(lines, many=True)]) == 1


def test_accepted_lines_stand_below_the_others_with_what_they_covered(tmp_path, monkeypatch):
    file = tmp_path / "reasons.txt"
    file.write_text("# Head.\nscreens cost: new\n\n# Accepted:\nlinks mask: old [3]\n", encoding="utf-8")
    monkeypatch.setattr(reasons, "FILE", file)
    (line,) = reasons.read_reasons()
    assert [*reasons.not_covered([line], [CHANGE])] == []
    reasons.accept([line])
    assert reasons.read_reasons() == []
    assert file.read_text(encoding="utf-8") == "# Head.\n\n# Accepted:\nlinks mask: old [3]\nscreens cost: new [1]\n"
