"""Worksheets and keys as files: blanks where something is asked, in the key its answers; and a text stays a text."""

import io
import zipfile
from html.parser import HTMLParser

import pytest

from attention_ui.export.paper import ALLOWED, file_name_of, key_section, sheet_section, whole_file
from attention_ui.export.printed import tasks_on_sheet
from attention_ui.practice.class_sheets import ClassOrder, file_in_place_of_class, written_class
from lessons.screen.format import render, translate
from lessons.take_home.sheet import SheetChoices, choices_of_code, sheet_code, words_on_paper
from lessons.take_home.tasks import answers_of, sheet_tasks, written_cell
from runs.page_lock import PageLock
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
    "ol",
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
    tasks = tasks_on_sheet(choices)
    return sheet_section(choices, tasks), key_section(choices, tasks)


def both(choices):
    return [Read(text) for text in sheet_and_key(choices)]


def cells(matrix, decimals):
    return [
        written_cell(matrix, i, j, decimals)
        for i in range(len(matrix.rows.labels))
        for j in range(len(matrix.columns.labels))
    ]


@pytest.mark.part(2)
@pytest.mark.parametrize("seed", (0, 2, 1, 3, 4, 5))
def test_the_sheet_has_blanks_where_the_key_has_answers_and_all_else_is_the_same(seed):
    choices = SheetChoices(tasks=12, seed=seed, decimals=1 + seed % 2)
    sheet, key = both(choices)
    expected = []
    for task in sheet_tasks(choices):
        expected += [[["given", text] for text in cells(matrix, choices.decimals)] for matrix in task.given]
        for blanks in task.blanks:
            answers = {(a.row, a.column): a.text for a in answers_of(blanks, choices.decimals)}
            rows, columns = len(blanks.matrix.rows.labels), len(blanks.matrix.columns.labels)
            expected.append(
                [
                    ["answer", answers[i, j]] if (i, j) in answers else ["unasked", "·"]
                    for i in range(rows)
                    for j in range(columns)
                ]
            )
    assert [table[1:] for table in key.tables] == expected
    asked = [[["blank", ""] if what == "answer" else [what, text] for what, text in table] for table in expected]
    assert [table[1:] for table in sheet.tables] == asked
    assert sheet_code(choices) in "".join(sheet.words) and sheet_code(choices) in "".join(key.words)


def answered(table):
    """The cells of a table in which the key has an answer."""
    return [text for look, text in table if look in ("answer", "crossed")]


@pytest.mark.parametrize("text", ["the cat sat down", "a b c d e"])
def test_a_sheet_in_one_thread_has_blanks_where_its_key_has_answers_and_small_beside_them_what_to_go_on_with(text):
    sheet, key = both(SheetChoices(in_one_thread=True, seed=8, text=text))
    *to_do, scores, weights = sheet.tables
    assert len(to_do) == len(key.tables) == 14
    for blank, solved in zip(to_do, key.tables, strict=True):
        hidden = [("blank", "") if look in ("answer", "crossed") else (look, said) for look, said in solved]
        assert [tuple(cell) for cell in blank] == hidden
    by_length = [answered(table) for table in key.tables if answered(table)]
    n = len(text.split())
    q, k, v, all_scores, scaled, shifted, powers, shares, output = by_length
    assert list(map(len, (q, k, v))) == [4 * n, 4 * n, 2 * n] and len(all_scores) == len(scaled) == n * n
    assert len(shifted) == len(shares) == n * (n + 1) // 2 == len(powers) - n and len(output) == 2 * n
    assert [said for look, said in scores[1:] if look == "given"] == all_scores
    assert [said for look, said in weights[1:] if look == "given"] == shares
    crossed = [[look for look, _ in table].count("crossed") for table in key.tables]
    assert sum(crossed) == max(crossed) == n * (n - 1) // 2


def test_the_sheet_gives_no_answer_away():
    choices = SheetChoices(tasks=12)
    sheet, key = ("".join(read.words) for read in both(choices))
    for task in sheet_tasks(choices):
        if task.question:
            assert all(render(card.reply) in key and render(card.reply) not in sheet for card in task.question.cards)
    assert "✓" in key and "✓" not in sheet and "is right" not in sheet


@pytest.mark.part(2)
@pytest.mark.parametrize("typed", HOSTILE)
def test_a_text_stays_a_text(typed):
    text, _ = words_on_paper(typed)
    choices = SheetChoices(tasks=12, text=text)
    thread = SheetChoices(in_one_thread=True, text=text)
    for section in (*sheet_and_key(choices), *sheet_and_key(thread)):
        assert " ".join(text.split()) in "".join(Read(section).words), "the sentence is to be typed once more"
        read = Read("".join(whole_file(f"Sheet {typed}", [section], "a4")))
        assert read.elements <= WRITTEN and read.attributes <= ATTRIBUTES
        assert any(token in "".join(read.words) for token in text.split())
    assert file_name_of("sheet", choices).removesuffix(".html").replace("_", "").isalnum()


@pytest.mark.parametrize(("paper", "size"), [("a4", "A4"), ("letter", "Letter")])
def test_a_file_prints_on_its_paper_and_needs_nothing_else(paper, size):
    written = "".join(whole_file("Sheet", sheet_and_key(SheetChoices()), paper))
    assert f"@page {{ size: {size}; margin: 15mm; }}" in written and ALLOWED in written
    assert not any(part in written for part in ("http:", "https:", "<script", "src=", "@import", "url("))


def test_the_file_of_a_class_holds_a_sheet_and_a_key_for_each_student_and_every_code_finds_its_key():
    order = ClassOrder(SheetChoices(seed=7, tasks=3, text="ein Bild < sagt"), 9, "letter")
    *pieces, whole = written_class(order, PageLock())
    codes = [code for code in pieces if code is not None]
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist()}
    lines = files["codes.csv"].split()
    assert lines[0] == "student,code" and [line.split(",")[1] for line in lines[1:]] == codes
    for place, code in enumerate(codes):
        choices = choices_of_code(code, order.choices.text)
        assert choices.seed == 7 + place
        sheet, key = sheet_and_key(choices)
        assert sheet in files["sheets.html"] and key in files["keys.html"]
    assert files["sheets.html"].count("<section") == files["keys.html"].count("<section") == len(codes) == 9


def test_what_is_no_longer_kept_is_told_in_the_file():
    with zipfile.ZipFile(io.BytesIO(file_in_place_of_class())) as packed:
        assert b"no longer has this file" in packed.read("read me.txt")


def test_the_sheets_of_a_class_are_in_the_language_of_whoever_ordered_them():
    order = ClassOrder(SheetChoices(), 2, "a4", "de")
    *_, held = written_class(order, PageLock())
    with zipfile.ZipFile(io.BytesIO(held)) as packed:
        sheets = packed.read("sheets.html").decode()
    with speaking("de"):
        assert f"<h1>{translate('Attention on paper')}</h1>" in sheets
    assert '<html lang="de">' in sheets and translate("Attention on paper") not in sheets
