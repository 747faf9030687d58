"""Worksheets: what one is made of, the code that finds its key, and numbers as they are written on it."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lessons.screen import format_value
from lessons.teachers.take_home.numbers import on_paper, rounded_number
from lessons.teachers.take_home.sheet import (
    CHARACTERS,
    LAST_SHEET,
    PAPER_SENTENCE,
    SheetChoices,
    mark_of,
    read_code,
    sheet_code,
    sheets_of_class,
    words_on_paper,
)

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

HOSTILE = "<script>x</script> ![a](b) \"c' &amp; {0}"


def any_choices(drawn):
    """Choices of all kinds."""
    text = drawn.choice([PAPER_SENTENCE, "a a", "Ärger über Öl!", "x 👩‍👩‍👧 y", HOSTILE, "1 2 3 4 5"])
    seed = drawn.choice([0, LAST_SHEET, drawn.randint(0, 10**5)])
    return SheetChoices(seed=seed, decimals=drawn.choice([1, 2]), text=words_on_paper(text)[0])


def choices_of_code(code, sentence=PAPER_SENTENCE):
    return read_code(code).with_sentence(sentence)


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
    "code",
    [
        "PSSJE-G80BH",
        "EF7X7-FR031",
        "05Q3C-0007H",
        "PSSJE-H9Z7T",
        "ZV800-0B4SF",
        "M5QM4-FY1ET",
        "ZT800-K9YKB-3RRHY-41X7E-SB941-J74SB-9",
        "zsry4g2w8gc713jcxjq4863qhh6awh0reb6r811",
    ],
)
def test_the_code_of_a_sheet_with_single_tasks_is_told_where_its_key_is_made(code):
    """Of each of the ways in which they were written; a sentence of its own once travelled in the code."""
    with pytest.raises(ValueError, match=r"single tasks; these sheets are gone, and version 0\.1 makes their key\.$"):
        read_code(code)
    with pytest.raises(ValueError, match="No worksheet has this code"):
        read_code(code[:-1] + ("2" if code[-1] != "2" else "3"))


@pytest.mark.parametrize(
    ("code", "choices"),
    [
        ("007M4-G80DS", SheetChoices()),
        ("007M4-FR00S", SheetChoices(seed=LAST_SHEET, decimals=1)),
        ("007M5-3FYC3", SheetChoices(seed=77, text="<b> zwei drei")),
        ("00000-03683", SheetChoices(seed=0, text="Ärger über Öl !", decimals=1)),
    ],
)
def test_a_code_that_was_printed_earlier_finds_its_sheet(code, choices):
    assert sheet_code(choices) == code and choices_of_code(code, choices.text) == choices


@pytest.mark.parametrize(
    "typed", ["?", "ABC", "Ω" * 10, "x" * 10**6, "0" * 11, "<b>", "ZTR00-0CP0\x00", "\ud800" * 12, "Z" * 599]
)
def test_what_is_no_code_is_told_in_a_sentence(typed):
    with pytest.raises(ValueError, match=r"(?s)^(This is not a worksheet code|No worksheet has this code)[^\n]*\.$"):
        choices_of_code(typed)


def test_what_makes_no_sheet_is_told_in_a_sentence():
    for wrong in ({"seed": -1}, {"seed": LAST_SHEET + 1}, {"decimals": 3}, {"decimals": 0}, {"text": "one"}):
        with pytest.raises(ValueError, match=r"goes from|tokens"):
            SheetChoices(**wrong)


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
    choices = SheetChoices(text=words_on_paper(typed)[0])
    assert choices_of_code(sheet_code(choices), typed) == choices
    assert len(sheet_code(choices)) == 11


def test_each_student_has_a_sheet_of_their_own():
    sheets = sheets_of_class(SheetChoices(seed=LAST_SHEET - 1), 200)
    assert len(sheets) == len(set(map(sheet_code, sheets))) == 200
    assert [sheet.seed for sheet in sheets[:3]] == [LAST_SHEET - 1, LAST_SHEET, 0]


def test_numbers_are_rounded_as_at_school():
    assert [rounded_number(x, 1) for x in (0.25, 0.35, 0.05, -0.25, 0.249)] == [0.3, 0.4, 0.1, -0.3, 0.2]
    assert [on_paper(x, 2) for x in (1.0, -0.5, 1 / 3, 0.001, -0.004)] == ["1", "−0.5", "0.33", "0.00", "0.00"]
    assert on_paper(0.5, 2, fixed=True) == "0.50"
