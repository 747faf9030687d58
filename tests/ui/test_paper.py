"""Worksheets and keys as files: blanks where something is asked, in the key its answers; and a text stays a text."""

from html.parser import HTMLParser

import pytest

from attention_ui.export.paper import ALLOWED, file_name_of, key_section, sheet_section, whole_file
from attention_ui.practice.take_home_view import file_of_sheets
from lessons.screen import translate
from lessons.teachers.take_home.sheet import SheetChoices, read_code, sheet_code, words_on_paper
from lessons.teachers.take_home.tasks import sum_on_paper, written_cell
from lessons.teachers.take_home.thread import thread_tasks
from words import speaking

HOSTILE = [
    "<script>alert(1)</script> x",
    '"><img src=x onerror=alert(1)> y',
    "</table></main><h1>caught</h1> &lt;b&gt;",
    "<style>*{display:none}</style> a",
    "javascript:alert(1) <a href=//x>y</a>",
    "\u202e<b>\x00</b> z",
    "-->< <!-- b",
]
WRITTEN = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "section",
    "h1",
    "h2",
    "p",
    "div",
    "span",
    "table",
    "caption",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "b",
}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "scope", "aria-label"}


class Read(HTMLParser):
    """The elements of a file, and its tables as lists of (class, text)."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.tables, self.words, self.inside = set(), set(), [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.inside = tag
        if tag == "table":
            self.tables.append([])
        if tag == "td":
            self.tables[-1].append([dict(attributes).get("class", "given"), ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        self.words.append(data)
        if self.inside == "td":
            self.tables[-1][-1][1] += data


def sheet_and_key(choices):
    tasks = thread_tasks(choices)
    return sheet_section(choices, tasks), key_section(choices, tasks)


def both(choices):
    return [Read(text) for text in sheet_and_key(choices)]


def solved(blanks, decimals):
    """The cells of a table as the key has them: the answers, what is crossed out, and the sums of the rows."""
    columns, cells = range(len(blanks.matrix.columns.labels)), []
    for row in range(len(blanks.matrix.rows.labels)):
        for column in columns:
            look = "crossed" if blanks.left and not blanks.left[row][column] else "answer"
            seen = blanks.matrix.sees(row, column)
            cells.append((look, written_cell(blanks.matrix, row, column, decimals)) if seen else ("unasked", "·"))
        cells.append(("answer" if blanks.sums == "asked" else "sum", sum_on_paper(blanks, row, decimals)))
    return cells


def as_number(text):
    return float(text.replace("−", "-"))


@pytest.mark.part(2)
@pytest.mark.parametrize(("seed", "text"), [(0, "the cat sat down"), (3, "a b c d e"), (2, "a b"), (5, "a b a b")])
def test_the_sheet_has_blanks_where_the_key_has_answers_and_all_else_is_the_same(seed, text):
    choices = SheetChoices(seed=seed, decimals=1 + seed % 2, text=text)
    sheet, key = both(choices)
    given, found = [], []
    for task in thread_tasks(choices):
        given += [None] * len(task.given)
        for blanks in task.blanks:
            expected, table = solved(blanks, choices.decimals), key.tables[len(given) + len(found)][1:]
            found.append(table)
            assert [look for look, _ in table] == [look for look, _ in expected]
            for (_, told), (_, value) in zip(table, expected, strict=True):
                assert told == value if isinstance(value, str) else as_number(told) == pytest.approx(value)
    assert len(sheet.tables) == len(key.tables) == len(given) + len(found) == 14
    for blank, answered in zip(sheet.tables, key.tables, strict=True):
        hidden, counted = [], 0
        for look, told in answered:
            counted += look == "answer"
            if look == "sum":  # of one number alone it would be that number
                hidden.append([look, told] if counted > 1 else ["unasked", "·"])
                counted = 0
            else:
                hidden.append(["blank", ""] if look in ("answer", "crossed") else [look, told])
        assert blank == hidden
    assert sheet_code(choices) in "".join(sheet.words) and sheet_code(choices) in "".join(key.words)


def test_the_sheet_gives_no_answer_away():
    sheet, key = both(SheetChoices(seed=8))
    assert not {look for table in sheet.tables for look, _ in table} & {"answer", "crossed"}
    assert "for “down”" in "".join(key.words) and "for “down”" not in "".join(sheet.words)


@pytest.mark.part(2)
@pytest.mark.parametrize("typed", HOSTILE)
def test_a_text_stays_a_text(typed):
    text, _ = words_on_paper(typed)
    choices = SheetChoices(text=text)
    for section in sheet_and_key(choices):
        assert " ".join(text.split()) in "".join(Read(section).words), "the sentence is to be typed once more"
        read = Read("".join(whole_file(f"Sheet {typed}", [section], "a4")))
        assert read.elements <= WRITTEN and read.attributes <= ATTRIBUTES
        assert any(token in "".join(read.words) for token in text.split())
    assert file_name_of(choices).removesuffix(".html").replace("_", "").isalnum()


@pytest.mark.parametrize(("paper", "size"), [("a4", "A4"), ("letter", "Letter")])
def test_a_file_prints_on_its_paper_and_needs_nothing_else(paper, size):
    written = "".join(whole_file("Sheet", sheet_and_key(SheetChoices()), paper))
    assert f"@page {{ size: {size}; margin: 15mm; }}" in written and ALLOWED in written
    assert not any(part in written for part in ("http:", "https:", "<script", "src=", "@import", "url("))


def test_the_file_of_a_class_holds_all_sheets_and_then_all_keys_and_every_code_finds_its_key():
    first = SheetChoices(seed=7, text="ein Bild < sagt")
    file = file_of_sheets(first, 9, "letter").decode()
    sheets, keys = zip(
        *(sheet_and_key(SheetChoices(seed=7 + place, text=first.text)) for place in range(9)), strict=True
    )
    places = [file.index(section) for section in (*sheets, *keys)]
    assert places == sorted(places) and file.count("<section") == 18
    for place, section in enumerate(keys):
        code = Read(section).words[Read(section).words.index("Key to sheet ") + 1]
        assert read_code(code).with_sentence(first.text) == SheetChoices(seed=7 + place, text=first.text)


def test_the_sheets_of_a_class_are_in_the_language_of_whoever_asks_for_them():
    with speaking("de"):
        sheets = file_of_sheets(SheetChoices(), 2, "a4").decode()
        assert sheets.count(f"<h1>{translate('Attention on paper')}</h1>") == 2
    assert '<html lang="de">' in sheets and translate("Attention on paper") not in sheets
