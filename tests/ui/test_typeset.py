"""All sheets and keys as one PDF: pages, paper, languages, and texts that stay texts."""

import json
from io import BytesIO

import pytest

from attention_ui.export import typeset
from attention_ui.export.printed import printed_sheet, tasks_on_sheet
from attention_ui.export.typeset import TEMPLATE, Typeset, data_of, has_letters, pdf_of, pdf_that_says
from attention_ui.practice.class_sheets import ClassOrder, file_in_place_of_class, written_class
from lessons.take_home.sheet import SheetChoices, read_code, sheets_of_class, words_on_paper
from runs.page_lock import PageLock
from tests.ui.test_paper import HOSTILE
from words import LANGUAGES, speaking

WHY = "no typst here: install requirements-pdf.txt"
typst, PdfReader = pytest.importorskip("typst", reason=WHY), pytest.importorskip("pypdf", reason=WHY).PdfReader
POINTS = {"a4": (595, 842), "letter": (612, 792)}  # of a page
LONGEST = "Unvergessliche Zusammenhänge überraschen Fachleute !"  # words that are too long for their cells


def file_of(choices, paper="a4", sheets=1):
    every = [(one, tasks_on_sheet(one)) for one in sheets_of_class(choices, sheets)]
    keys = [printed_sheet(*one, key=True) for one in every]
    return Typeset([printed_sheet(*one) for one in every], keys, paper)


def boxes(pdf):
    """Width and height of every page, in points."""
    return [(round(page.mediabox.width), round(page.mediabox.height)) for page in PdfReader(BytesIO(pdf)).pages]


@pytest.mark.parametrize("paper", POINTS)
@pytest.mark.parametrize("text", ["the cat sat down", LONGEST])
def test_a_sheet_in_one_thread_has_two_pages_and_its_key_follows(paper, text):
    file = file_of(SheetChoices(in_one_thread=True, text=text, seed=6), paper, sheets=2)
    without_keys = boxes(pdf_of(Typeset(file.sheets, [], paper)))
    assert without_keys == [POINTS[paper]] * 4
    assert 6 <= len(boxes(pdf_of(file))) <= 10


def test_every_sheet_begins_on_a_leaf_of_its_own():
    one, three = (file_of(SheetChoices(tasks=2), sheets=n).sheets for n in (1, 3))
    assert len(boxes(pdf_of(Typeset(one, [], "a4")))) == 1
    assert len(boxes(pdf_of(Typeset(three, [], "a4")))) == 5, "printed on both sides, the back of a short one is empty"


@pytest.mark.parametrize("typed", [*HOSTILE, '#import "x": * $y$', "*b* _i_ `c` @ref <label>", '\\ #{1+1} " #panic()'])
def test_a_text_stays_a_text_and_is_never_markup(typed):
    text, _ = words_on_paper(typed)
    data = data_of(file_of(SheetChoices(in_one_thread=True, text=text)))
    said = typst.query(TEMPLATE, "strong", sys_inputs={"data": data})
    bodies = [strong["body"].get("text") for strong in json.loads(said)]
    assert text in bodies


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_sheet_fits_on_its_two_pages_in_every_language(code):
    with speaking(code):
        if not has_letters():
            pytest.skip(f"no font for {LANGUAGES[code]} here")
        for paper in POINTS:
            file = file_of(SheetChoices(in_one_thread=True, text=LONGEST, seed=6), paper)
            assert len(boxes(pdf_of(Typeset(file.sheets, [], paper)))) == 2


def test_without_a_font_for_a_language_there_are_no_letters(monkeypatch):
    monkeypatch.setattr(typeset, "font_families", lambda: frozenset({"Libertinus Serif"}))
    for code in LANGUAGES:
        with speaking(code):
            assert has_letters() == (code not in ("zh", "ja"))
    monkeypatch.setattr(typeset, "font_families", lambda: frozenset({"Yu Gothic", "SimSun"}))
    assert typeset.font_of("ja") == "Yu Gothic" and typeset.font_of("zh") == "SimSun"


def test_what_is_no_longer_kept_is_told_on_a_page():
    assert len(boxes(file_in_place_of_class(as_pdf=True))) == 1
    assert pdf_that_says("#panic() $x").startswith(b"%PDF")


@pytest.mark.slow
def test_the_process_that_writes_names_every_sheet_and_leaves_a_pdf():
    order = ClassOrder(SheetChoices(in_one_thread=True, seed=7, text="ein Bild < sagt"), 3, "letter", "de", as_pdf=True)
    *codes, pdf = written_class(order, PageLock())
    assert [read_code(code).choices.seed for code in codes] == [7, 8, 9]
    assert 9 <= len(boxes(pdf)) <= 15 and set(boxes(pdf)) == {POINTS["letter"]}


@pytest.mark.slow
def test_a_process_that_cannot_write_is_an_error_and_one_that_nobody_waits_for_ends():
    order = ClassOrder(SheetChoices(in_one_thread=True), 2, "no paper", as_pdf=True)
    with pytest.raises(RuntimeError, match="ended with 1"):
        list(written_class(order, PageLock()))
    pieces = written_class(ClassOrder(SheetChoices(), 200, "a4", as_pdf=True), PageLock())
    assert read_code(next(pieces)).choices == SheetChoices()
    pieces.close()
