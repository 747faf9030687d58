"""Worksheets: whole numbers without zeros or twins, and every number of the key computed by hand."""

import math
from decimal import ROUND_HALF_UP, Decimal

import pytest
from arithmetic_checks import is_right

from lessons.screen import render
from lessons.teachers.take_home import thread
from lessons.teachers.take_home.numbers import rounded_number
from lessons.teachers.take_home.sheet import SheetChoices
from lessons.teachers.take_home.tasks import derivations, lines_of_answer, sum_on_paper, written_cell
from lessons.teachers.take_home.thread import thread_tasks

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

SENTENCES = ["the cat sat down", "dogs bark", "one small step", "machines learn ever faster .", "a b c d e"]
KINDS_OF_TABLES = ("x", "W_q", "W_k", "W_v", "q", "k", "v", "scores")


def some_threads(count):
    """Sheets of different words, with both ways to round."""
    for seed in range(count):
        text = SENTENCES[0] if seed % 2 else SENTENCES[seed // 2 % len(SENTENCES)]
        yield SheetChoices(seed=seed, decimals=1 + seed // 3 % 2, text=text)


def tables_of(tasks):
    """All tables of a sheet by their keys: what is given, and what is filled in."""
    given = {matrix.key: matrix for task in tasks for matrix in task.given}
    return given | {blanks.matrix.key: blanks.matrix for task in tasks for blanks in task.blanks}


def written(matrix, decimals):
    """The numbers of a table as the key has them; None where a mask hides."""
    return [
        [
            Decimal(written_cell(matrix, i, j, decimals).replace("−", "-")) if matrix.sees(i, j) else None
            for j in range(len(matrix.columns.labels))
        ]
        for i in range(len(matrix.rows.labels))
    ]


def at_school(value, decimals):
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def product(a, b):
    """Row times column, with nothing but loops."""
    result = []
    for row in a:
        result.append([])
        for column in range(len(b[0])):
            total = Decimal(0)
            for place in range(len(b)):
                total += (row[place] or 0) * b[place][column]
            result[-1].append(total)
    return result


def by_hand(given, decimals):
    """Every table that follows from X and W, rounded where the sheet says so."""
    q, k, v = (product(given["x"], given[f"W_{role}"]) for role in "qkv")
    scores = product(q, [list(column) for column in zip(*k, strict=True)])
    scaled = [[score / 2 for score in row] for row in scores]
    shifted, powers, weights = [], [], []
    for query, row in enumerate(scaled):
        left = row[: query + 1]
        hidden = [None] * (len(row) - len(left))
        shifted.append([score - max(left) for score in left] + hidden)
        looked_up = [at_school(math.exp(score - max(left)), decimals + 1) for score in left]
        powers.append(looked_up + hidden)
        weights.append([at_school(power / sum(looked_up), decimals) for power in looked_up] + hidden)
    found = {"q": q, "k": k, "v": v, "scores": scores, "scaled": scaled, "shifted": shifted}
    return found | {"exponentials": powers, "weights": weights, "output": product(weights, v)}


def assert_no_zeros_or_twins(table):
    for rows in (table, [list(column) for column in zip(*table, strict=True)]):
        assert all(any(row) for row in rows) and len({tuple(row) for row in rows}) == len(rows)


@pytest.fixture(scope="module")
def sheets(request):
    """Each with its tasks: a thousand, or at every change some."""
    count = 1000 if request.config.getoption("--all") else 60
    return [(choices, thread_tasks(choices)) for choices in some_threads(count)]


def test_up_to_the_scores_all_is_whole_without_zeros_or_twins_and_small(sheets):
    for choices, tasks in sheets:
        tables = {key: matrix.values.tolist() for key, matrix in tables_of(tasks).items() if key in KINDS_OF_TABLES}
        assert set(tables) == set(KINDS_OF_TABLES)
        for key, table in tables.items():
            assert all(number == int(number) for row in table for number in row), (choices, key)
            assert_no_zeros_or_twins(table)
        assert max(abs(number) for row in tables["scores"] for number in row) <= thread.LARGEST_SCORE


def test_no_row_is_saturated_or_has_equal_weights_only(sheets):
    for choices, tasks in sheets:
        for query, row in enumerate(written(tables_of(tasks)["weights"], choices.decimals)):
            seen = [weight for weight in row if weight is not None]
            assert len(seen) == query + 1 and (query == 0 or max(seen) < Decimal("0.9"))
        for row in written(tables_of(tasks)["shifted"], 1)[1:]:
            assert len({score for score in row if score is not None}) > 1 and min(filter(None, row)) >= -4


def test_every_number_of_the_key_is_what_the_hand_computes(sheets):
    for choices, tasks in sheets:
        tables = tables_of(tasks)
        given = {key: written(tables[key], 0) for key in ("x", "W_q", "W_k", "W_v")}
        expected = by_hand(given, choices.decimals)
        for task in tasks:
            for blanks in task.blanks:
                key = blanks.matrix.key
                assert written(blanks.matrix, choices.decimals) == expected[key], (choices, key)
                counted = [[n for n in row if n is not None] for row in expected[key]]
                if key == "scaled":
                    counted = [row[: query + 1] for query, row in enumerate(expected[key])]
                sums = [Decimal(str(sum_on_paper(blanks, row, choices.decimals))) for row in range(len(counted))]
                assert sums == [sum(row) for row in counted], (choices, key)


def test_the_table_has_every_power_that_is_looked_up_and_the_total_of_the_sums_is_told(sheets):
    for choices, tasks in sheets:
        tables = tables_of(tasks)
        (row,) = written(tables["e_to_x"], choices.decimals)
        (lookup,) = (task for task in tasks if any(matrix.key == "e_to_x" for matrix in task.given))
        names = [Decimal(render(label).replace("−", "-")) for label in tables["e_to_x"].columns.labels]
        table = dict(zip(names, row, strict=True))
        shifted, powers = (written(tables[key], choices.decimals) for key in ("shifted", "exponentials"))
        pairs = [pair for one, other in zip(shifted, powers, strict=True) for pair in zip(one, other, strict=True)]
        assert all(table[x] == power for x, power in pairs if x is not None)
        assert min(x for x, _ in pairs if x is not None) == min(names)
        total = sum(power for _, power in pairs if power is not None)
        assert Decimal(str(lookup.asks.arguments["total"].value)) == total, choices


def test_every_line_of_a_key_can_be_computed_again():
    for choices in some_threads(6):
        for task in thread_tasks(choices):
            for blanks in task.blanks:
                matrix, row = blanks.matrix, len(blanks.matrix.rows.labels) - 1
                every = []
                for column in range(len(matrix.columns.labels)):  # of the last row, which sees them all
                    lines = lines_of_answer(blanks, row, column, choices.decimals)
                    every += lines
                    written = written_cell(matrix, row, column, choices.decimals)
                    told, text = (said.replace("−", "-") for said in (lines[-1].rpartition(" ")[2], written))
                    assert Decimal(told) == Decimal(text), (choices, lines)
                    for line in lines:
                        arithmetic, *results = line.rpartition(": ")[2].replace(" ≈ ", " = ").split(" = ")
                        assert not results or is_right(f"{arithmetic} ≈ {results[0]}"), line
                assert derivations(blanks, choices.decimals) == list(dict.fromkeys(every))


@pytest.mark.parametrize("text", ["a a", "a b a b c", "x x x x x", "<b> </b> < b"])
def test_words_that_come_twice_have_the_same_row_and_a_sheet_as_well(text):
    choices = SheetChoices(text=text, seed=3)
    tables = tables_of(thread_tasks(choices))
    x, tokens = tables["x"].values.tolist(), text.split()
    pairs = [(i, j) for i in range(len(tokens)) for j in range(i)]
    assert all((x[i] == x[j]) == (tokens[i] == tokens[j]) for i, j in pairs)
    expected = by_hand({key: written(tables[key], 0) for key in ("x", "W_q", "W_k", "W_v")}, 2)
    assert written(tables["output"], 2) == expected["output"]


def test_two_seeds_give_two_sheets_and_one_seed_gives_one():
    def numbers(seed):
        tables = tables_of(thread_tasks(SheetChoices(seed=seed)))
        return [tables[key].values.tolist() for key in ("x", "W_q", "W_k", "W_v", "output")]

    assert numbers(5) == numbers(5)
    assert len({str(numbers(seed)[:4]) for seed in range(20)}) == 20


def test_numbers_that_cannot_be_without_fault_are_those_with_the_fewest(monkeypatch):
    monkeypatch.setattr(thread, "TRIES_AT_THREADS", 3)
    monkeypatch.setattr(thread, "LARGEST_SCORE", -1)
    tables = tables_of(thread_tasks(SheetChoices()))
    assert_no_zeros_or_twins(tables["scores"].values.tolist())


def test_what_lies_close_to_a_half_is_rounded_once():
    assert [rounded_number(x, 2) for x in (0.1249996, 0.125, 0.1250004)] == [0.12, 0.13, 0.13]
