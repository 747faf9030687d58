"""Printed numbers are compared as intervals: the two roundings of 1.735 are the same number."""

import ast
from pathlib import Path

import pytest
from screens import Case, check_question

from lessons.screen import Card, Fixed, Question, message, percent
from tests.printed import as_printed, lead, read_alike, readings, some_may_differ

TESTS = Path(__file__).parents[1]
WRITERS = {"number", "percent", "magnitude", "in_percent", "with_point"}


@pytest.mark.parametrize("value", [1.735, 1.735 - 3e-7, 1.735 + 3e-7])
def test_what_lies_on_the_border_of_two_roundings_reads_as_either(value):
    assert readings(value) == {"1.73", "1.74"}
    assert readings(value + 1e-4) == {"1.74"} and 1.73 == as_printed(value, 2) == 1.74 != 1.75


@pytest.mark.parametrize(("said", "holds"), [(1.7349998, True), (1.7350002, True), (1.7452, False), (1.7248, False)])
def test_the_card_of_a_question_holds_whatever_its_last_binary_digit(said, holds):
    wrong = Card(message("{number}", number=Fixed(9.0)), message("Wrong."))
    question = Question(message("?"), (Card(message("{number}", number=Fixed(said)), message("Right.")), wrong), 0)
    answers = {"?": lambda case, prompt: {"Right.": 1.735, "Wrong.": 9.0}}
    if holds:
        check_question(Case(None, 0, None, None), question, answers)
    else:
        with pytest.raises(AssertionError):
            check_question(Case(None, 0, None, None), question, answers)


def test_what_ties_by_a_rounding_may_be_named_or_not_and_nothing_else_may():
    values = [0.2, 0.4150001, 0.4149999, 0.41]
    assert lead([1], values, percent) and lead([1, 2], values, percent) and not lead([2], [0.2, 0.5, 0.3], percent)
    assert not lead([1, 2], [0.2, 0.42, 0.41], percent) and not lead([0], [0.3, 0.3, 0.2], percent)
    assert read_alike((0.4149999, 0.4150001), percent) and some_may_differ((0.4149999, 0.4150001), percent)


def written_and_compared(tree):
    """Comparisons in which numbers are written on both sides, or in a set that counts how many read differently."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            writers = [side for side in (node.left, *node.comparators) if writes(side)]
            if len(writers) > 1 or any(isinstance(part, ast.SetComp) and writes(part.elt) for part in ast.walk(node)):
                yield node.lineno


def writes(node):
    called = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return any(isinstance(function, ast.Name) and function.id in WRITERS for function in called)


def test_no_test_compares_what_two_computations_print():
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for line in written_and_compared(ast.parse(path.read_text(encoding="utf-8")))
        if path.name not in ("test_formatting.py", "test_worksheet.py")  # which round what is printed, not computed
    ]
    assert not found, f"compare them with tests.printed: {found}"
