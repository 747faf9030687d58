"""Worksheets: codes that find their key, and keys computed again, in another way, from what the sheet prints."""

import math
import random
import re
from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import pytest
from arithmetic_checks import evaluate, is_right
from hypothesis import example, given
from hypothesis import strategies as st

from lessons.screen.format import format_value, render
from lessons.screen.message import Fixed, ListOf, Message
from lessons.take_home.numbers import on_paper, rounded_number
from lessons.take_home.sheet import (
    CHARACTERS,
    LAST_SHEET,
    MOST_TASKS,
    ON_PAPER,
    PAPER_SENTENCE,
    SheetChoices,
    choices_of_code,
    mark_of,
    read_code,
    sheet_code,
    sheets_of_class,
    words_on_paper,
)
from lessons.take_home.tasks import answers_of, sheet_tasks, what_they_sum_to, written_cell

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

HOSTILE = "<script>x</script> ![a](b) \"c' &amp; {0}"


def any_choices(drawn):
    """Choices of all kinds."""
    text = drawn.choice([PAPER_SENTENCE, "a a", "Ärger über Öl!", "x 👩‍👩‍👧 y", HOSTILE, "1 2 3 4 5"])
    lessons = tuple(lesson for lesson in ON_PAPER if drawn.random() < 0.5) or ("mask",)
    seed = drawn.choice([0, LAST_SHEET, drawn.randint(0, 10**5)])
    tasks, decimals = drawn.randint(1, MOST_TASKS), drawn.choice([1, 2])
    chosen = {"in_one_thread": True} if drawn.random() < 0.2 else {"lessons": lessons, "tasks": tasks}
    return SheetChoices(**chosen, seed=seed, decimals=decimals, text=words_on_paper(text)[0])


# The code


def test_a_code_of_ten_characters_holds_all_choices_but_the_words_of_a_sentence():
    drawn, seen = random.Random(1), {}
    for _ in range(2000):
        choices = any_choices(drawn)
        code = sheet_code(choices)
        assert len(code.replace("-", "")) == 10 and set(code) <= {*CHARACTERS, "-"}
        assert choices_of_code(code, choices.text) == choices and seen.setdefault(code, choices) == choices
        like_it = f"  {code.lower().replace('-', ' ').replace('0', 'o').replace('1', 'l')} "
        assert choices_of_code(like_it, choices.text) == choices
        assert read_code(code).wants_sentence == (choices.text != PAPER_SENTENCE)


def test_a_code_with_one_wrong_character_or_two_in_each_others_place_is_none():
    drawn = random.Random(2)
    for _ in range(20):
        code = sheet_code(any_choices(drawn))
        wrong = [code[:i] + letter + code[i + 1 :] for i in range(11) for letter in CHARACTERS if i != 5]
        places = [i for i in range(11) if i != 5]
        swapped = [
            code[:i] + code[j] + code[i + 1 : j] + code[i] + code[j + 1 :] for i in places for j in places if i < j
        ]
        for typed in {*wrong, *swapped} - {code}:
            with pytest.raises(ValueError, match="No worksheet has this code"):
                read_code(typed)


def test_a_sentence_that_is_not_that_of_the_code_is_told():
    for text in ("a small red cat", "Ärger über Öl!", HOSTILE):
        text, _ = words_on_paper(text)
        code = sheet_code(SheetChoices(text=text, seed=4))
        letters = [place for place, letter in enumerate(text) if letter.isalpha()]
        wrong = [text[:i] + ("x" if text[i] != "x" else "y") + text[i + 1 :] for i in letters]
        for other in ["", PAPER_SENTENCE, f"{text} !"[:60], *wrong]:
            if words_on_paper(other)[0] != text:
                with pytest.raises(ValueError, match="not the sentence of that sheet"):
                    choices_of_code(code, other)


def test_two_sentences_share_a_mark_no_more_often_than_chance():
    marks = [mark_of(f"{one} {other}") for one in range(60) for other in range(60)]
    assert min(marks) >= 1 and max(marks) < 512 and len(set(marks)) > 500


@pytest.mark.parametrize(
    ("code", "choices"),
    [
        ("ZV800-0B4SF", SheetChoices()),
        ("M5QM4-FY1ET", SheetChoices(tasks=12, seed=LAST_SHEET, decimals=1, lessons=("mask", "output"))),
        ("ZT800-K9YKB-3RRHY-41X7E-SB941-J74SB-9", SheetChoices(tasks=5, seed=77, text="<b> zwei drei")),
        ("zsry4g2w8gc713jcxjq4863qhh6awh0reb6r811", SheetChoices(tasks=4, seed=123456, text="Ärger über Öl !")),
    ],
)
def test_a_code_that_was_printed_when_sentences_travelled_in_codes_still_finds_its_key(code, choices):
    assert choices_of_code(code) == choices
    with pytest.raises(ValueError, match="No worksheet has this code"):
        read_code(code[:-1] + ("2" if code[-1] != "2" else "3"))


@pytest.mark.parametrize(
    "typed", ["?", "ABC", "Ω" * 10, "x" * 10**6, "0" * 11, "<b>", "ZTR00-0CP0\x00", "\ud800" * 12, "Z" * 599]
)
def test_what_is_no_code_is_told_in_a_sentence(typed):
    with pytest.raises(ValueError, match=r"(?s)^(This is not a worksheet code|No worksheet has this code)[^\n]*\.$"):
        choices_of_code(typed)


def test_what_makes_no_sheet_is_told_in_a_sentence():
    with pytest.raises(ValueError, match=r"No lesson is chosen\. A worksheet needs at least one"):
        SheetChoices(lessons=())
    for wrong in ({"tasks": 0}, {"tasks": 13}, {"seed": -1}, {"decimals": 3}, {"text": "one"}, {"lessons": ("heads",)}):
        with pytest.raises(ValueError, match=r"goes from|tokens|in this order"):
            SheetChoices(**wrong)
    with pytest.raises(ValueError, match="no tasks to choose"):
        SheetChoices(in_one_thread=True, tasks=3)


@pytest.mark.parametrize(
    ("typed", "text", "notes"),
    [
        ("", PAPER_SENTENCE, 1),
        ("one", PAPER_SENTENCE, 1),
        ("a b", "a b", 0),
        ("Hi, you!", "Hi , you !", 0),
        ("a b c d e f", "a b c d e", 1),
        ("x" * 500, PAPER_SENTENCE, 1),
        ("\u202e\x00 \n", PAPER_SENTENCE, 2),
    ],
)
def test_a_sentence_is_cut_to_what_a_sheet_has_room_for_and_that_is_told(typed, text, notes):
    words, said = words_on_paper(typed)
    assert words == text and len(said) == notes and all(map(format_value, said))


@given(st.text(max_size=120))
@example("<img src=http://127.0.0.1:9/long.png>xxxx <img src=http://127.0.0.1:9")
def test_whatever_is_typed_makes_a_sheet_whose_code_finds_it(typed):
    choices = SheetChoices(tasks=1, text=words_on_paper(typed)[0])
    assert choices_of_code(sheet_code(choices), typed) == choices
    assert len(sheet_code(choices)) == 11


def test_each_student_has_a_sheet_of_their_own():
    sheets = sheets_of_class(SheetChoices(seed=LAST_SHEET - 1), 200)
    assert len(sheets) == len(set(map(sheet_code, sheets))) == 200
    assert [sheet.seed for sheet in sheets[:3]] == [LAST_SHEET - 1, LAST_SHEET, 0]


# The tasks


def printed(task, decimals):
    """What a task prints of its matrices: their cells as numbers, None where it says masked."""
    return {
        m.key: [
            [number(written_cell(m, i, j, decimals)) for j, _ in enumerate(m.columns.labels)]
            for i, _ in enumerate(m.rows.labels)
        ]
        for m in task.given
    }


def number(text):
    return None if text == "masked" else float(text.replace("−", "-"))


def school(value, decimals):
    """Rounded as at school, from the exact value of the float."""
    return float(Decimal(round(value, 9)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def shares(row):
    powers = [math.exp(score) for score in row]
    return [power / sum(powers) for power in powers]


def filled_in(task, row, decimals):
    """The rows that a task asks for, from what it prints, with nothing but lists."""
    given = printed(task, decimals)
    if task.lesson == "dot_product":
        return [[dot(given["x"][row], other) for other in given["x"]]]
    if task.lesson == "projections":
        (weights,) = (matrix for key, matrix in given.items() if key.startswith("W_"))
        return [[dot(given["x"][row], column) for column in zip(*weights, strict=True)]]
    if task.lesson == "scores":
        return [[dot(given["q"][row], key) / math.sqrt(len(key)) for key in given["k"]]]
    if task.lesson == "mask":
        seen = given["scaled"][row][: row + 1]
        hidden = len(given["scaled"]) - len(seen)
        return [seen + [None] * hidden, shares(seen) + [0.0] * hidden]
    if task.lesson == "softmax":
        (scores,) = given["scores"]
        shifted = [score - max(scores) for score in scores]
        return [shifted, [math.exp(score) for score in shifted], shares(scores)]
    return [[dot([w or 0 for w in given["weights"][row]], values) for values in zip(*given["v"], strict=True)]]


EVERY = [
    SheetChoices(tasks=12, seed=seed, decimals=1 + seed % 2, text=text, lessons=ON_PAPER[1:])
    for seed, text in enumerate([PAPER_SENTENCE, "a b", "one two three", "a b a b c", "1 2 3 4 5"] * 5)
]


@pytest.mark.part(3)
@pytest.mark.parametrize("choices", EVERY, ids=range(len(EVERY)))
def test_every_row_to_fill_in_follows_from_what_the_sheet_prints(choices):
    tasks = [task for task in sheet_tasks(choices) if task.blanks]
    assert {task.lesson for task in tasks} == set(ON_PAPER[1:])
    for task in tasks:
        expected = filled_in(task, task.blanks[0].row, choices.decimals)
        for blanks, row in zip(task.blanks, expected, strict=True):
            found = [number(answer.text) for answer in answers_of(blanks, choices.decimals)]
            assert found == [None if value is None else school(value, choices.decimals) for value in row], task.lesson


def can_be_computed_again(line, decimals=None):
    """The digits that are printed give the result; and that, rounded as at school, what stands in the table."""
    arithmetic, *results = re.split(r" (?=[=≈] )", line.rpartition(": ")[2])
    if len(results) == 2:
        exact, rounded = (evaluate(result[2:]) for result in results)
        if decimals is not None and school(exact, decimals) != rounded:
            return False
    return not results or is_right(f"{arithmetic} {results[0]}")


@pytest.mark.parametrize("choices", EVERY[:10], ids=range(10))
def test_every_line_of_a_key_can_be_computed_again(choices):
    for task in sheet_tasks(choices):
        for blanks in task.blanks:
            for answer in answers_of(blanks, choices.decimals):
                for line in answer.lines:
                    assert can_be_computed_again(line, choices.decimals), line
                assert answer.text == "masked" or number(answer.text) == number(answer.lines[-1].rpartition(" ")[2])


@pytest.mark.part(3)
@pytest.mark.parametrize("choices", EVERY, ids=range(len(EVERY)))
def test_what_rounded_weights_sum_to_is_told_where_it_is_not_1(choices):
    for task in sheet_tasks(choices):
        for blanks in task.blanks:
            total = (
                sum(Decimal(answer.text) for answer in answers_of(blanks, choices.decimals))
                if (blanks.matrix.scale == "weight")
                else 1
            )
            said = what_they_sum_to(blanks, choices.decimals)
            assert (said is None) == (total == 1)
            assert said is None or said.arguments["total"].value == float(total)


def place(prompt, name):
    return prompt.arguments[name].position


def masked_row(given, i):
    return given["scaled"][i][: i + 1]


# From what is printed and the words of a question to the right number.
RIGHT = {
    "What is the dot product of the rows of {query} and {key} in X?": lambda p, g: dot(
        g["x"][place(p, "query")], g["x"][place(p, "key")]
    ),
    "The dot product of the query of {one} and the key of {other} is {score}. What is that of the query of {other} and "
    "the key of {one}?": lambda p, g: dot(g["q"][place(p, "other")], g["k"][place(p, "one")]),
    "The query of {query} and the key of {key} have the score {score}, and d_k is {d_k}. What "
    "is the scaled score?": lambda p, g: (
        g["scores"][place(p, "query")][place(p, "key")] / math.sqrt(p.arguments["d_k"])
    ),
    "With unscaled scores, the largest weight of {query} is {weight}. How large is its largest weight once the "
    "scores are divided by √{d_k}?": lambda p, g: max(
        shares([s / 2 for s in g["scores"][place(p, "query")] if s is not None])
    ),
    "Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is this weight "
    "with the mask?": lambda p, g: shares(masked_row(g, place(p, "query")))[place(p, "key")],
    "Someone takes the softmax over all {n} keys first and only then writes 0 wherever the mask "
    "hides a key. What does the row of {query} sum to?": lambda p, g: sum(
        shares(g["scaled"][place(p, "query")])[: place(p, "query") + 1]
    ),
    "What weight does {query} put on {key} at temperature {temperature}?": lambda p, g: shares(
        [s for s in g["masked"][place(p, "query")] if s is not None]
    )[place(p, "key")],
    "What is feature {feature} of the output of {query}?": lambda p, g: dot(
        [w or 0 for w in g["weights"][place(p, "query")]], [value[p.arguments["feature"] - 1] for value in g["v"]]
    ),
}


def is_derived(task, right):
    """The lines begin with what is printed, each can be computed again, and the last ends with the right card."""
    if not all(can_be_computed_again(line) for line in task.derived):
        return False
    return bool(task.derived) and number(task.derived[-1].rpartition(" ")[2]) == number(right)


def test_the_right_card_follows_from_what_the_sheet_prints(whole):
    met = set()
    for seed in range(60 if whole else 30):
        choices = SheetChoices(tasks=12, seed=seed, decimals=1 + seed % 2, lessons=ON_PAPER[1:])
        for task in sheet_tasks(choices):
            if task.question and (oracle := RIGHT.get(task.question.prompt.template)):
                right = task.question.cards[task.question.right].text.arguments["number"]
                value = oracle(task.question.prompt, printed(task, choices.decimals))
                assert render(task.question.cards[task.question.right].text) == (
                    on_paper(school(value, right.decimals), right.decimals, fixed=True)
                ), task.question.prompt
                assert is_derived(task, render(task.question.cards[task.question.right].text)), task.derived
                met.add(task.question.prompt.template)
    assert met == set(RIGHT)


def test_a_question_of_a_sheet_has_one_right_card_and_all_read_differently(whole):
    for seed in range(30 if whole else 10):
        for task in sheet_tasks(SheetChoices(tasks=12, seed=seed)):
            if task.question:
                texts = [render(card.text) for card in task.question.cards]
                assert len(texts) == len(set(texts)) >= 2 and 0 <= task.question.right < len(texts)
                assert task.given and task.asks == task.question.prompt


def test_rows_of_different_tokens_differ_in_every_feature_and_all_numbers_are_whole(whole):
    for seed in range(40 if whole else 10):
        for task in sheet_tasks(SheetChoices(tasks=12, seed=seed, text="a b a c d")):
            for matrix in task.given:
                if matrix.key == "x":
                    columns = list(zip(*matrix.values.tolist(), strict=True))
                    assert all(column[0] == column[2] and len(set(column)) == 4 for column in columns)
                    assert all(value == round(value) for column in columns for value in column)


def some_sheets(count):
    """Sheets of distinct tokens: half of them of all lessons, the others of some."""
    drawn = random.Random(7)
    for seed in range(count):
        some = tuple(lesson for lesson in ON_PAPER if drawn.random() < 0.4) or ("tokens",)
        text = drawn.choice([PAPER_SENTENCE, "dogs chase red balls", "one two three four five"])
        yield SheetChoices(
            lessons=drawn.choice([ON_PAPER, some]),
            tasks=drawn.randint(2, 8),
            seed=seed,
            text=text,
            decimals=1 + seed % 2,
        )


def numbers_in(argument):
    """All numbers that a sentence writes."""
    if isinstance(argument, Fixed):
        return [argument]
    inner = {Message: lambda it: it.arguments.values(), ListOf: lambda it: it.items}.get(type(argument), lambda it: ())
    return [found for part in inner(argument) for found in numbers_in(part)]


def is_tidy(matrix, rows):
    """No row is mostly zeros, and no map has two columns of them."""
    cells = [[written_cell(matrix, i, j, 2) for j, _ in enumerate(matrix.columns.labels)] for i in rows]
    columns = [*zip(*cells, strict=True)] if matrix.key.startswith("W_") else []
    return max(row.count("0") for row in cells) < 3 and sum(set(column) == {"0"} for column in columns) < 2


def test_no_sheet_asks_the_same_twice_is_mostly_zeros_or_writes_one_number_in_two_ways(whole):
    for choices in some_sheets(300 if whole else 30):
        tasks = sheet_tasks(choices)
        asked = Counter((task.lesson, task.asks.template) for task in tasks if task.question)
        rows = Counter(render(task.asks) for task in tasks if not task.question)
        assert max([*asked.values(), *rows.values()]) == 1 or len(choices.lessons) < 3, (choices, asked, rows)
        for task in tasks:
            shown = [(m, range(len(m.rows.labels))) for m in task.given]
            shown += [(blanks.matrix, [blanks.row]) for blanks in task.blanks]
            assert all(is_tidy(*one) for one in shown if one[0].scale != "weight"), (choices, task.lesson)
            if task.question:
                cards = task.question.cards
                said = numbers_in(task.asks) + [n for card in cards for n in numbers_in(card.reply)]
                assert all(format_value(n) == on_paper(n.value, n.decimals) for n in said), (choices, task.asks)


@pytest.mark.parametrize("lessons", [("tokens",), ("mask",), ("dot_product", "output")])
def test_a_sheet_of_few_lessons_asks_everything_once_before_anything_twice(lessons):
    for seed in range(8):
        tasks = sheet_tasks(SheetChoices(lessons=lessons, seed=seed, tasks=2 * 2 * len(lessons)))
        for lesson in lessons:
            asked = [task.asks.template for task in tasks if task.question and task.lesson == lesson]
            assert len(asked) >= 2 and len(set(asked)) >= len(asked) - 1, "four questions, or all three that there are"


def said_of(choices):
    return [
        (
            render(task.asks),
            printed(task, choices.decimals),
            [answer for blanks in task.blanks for answer in answers_of(blanks, choices.decimals)],
        )
        for task in sheet_tasks(choices)
    ]


def test_two_seeds_give_two_sheets_and_a_code_gives_its_own():
    first = SheetChoices(seed=5)
    assert said_of(first) == said_of(choices_of_code(sheet_code(first)))
    second = said_of(replace(first, seed=6))
    assert all(one[1] != other[1] for one, other in zip(said_of(first), second, strict=True))


def test_numbers_are_rounded_as_at_school():
    assert [rounded_number(x, 1) for x in (0.25, 0.35, 0.05, -0.25, 0.249)] == [0.3, 0.4, 0.1, -0.3, 0.2]
    assert [on_paper(x, 2) for x in (1.0, -0.5, 1 / 3, 0.001, -0.004)] == ["1", "−0.5", "0.33", "0.00", "0.00"]
    assert on_paper(0.5, 2, fixed=True) == "0.50"
