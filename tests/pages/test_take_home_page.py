"""The page of the worksheets: choices, the code, the key that it finds, and the sheets of a whole class."""

import io
import time
import zipfile
from urllib.parse import quote

import pytest
from visiting import open_page, texts

from attention_ui.practice import take_home_view
from attention_ui.practice.class_sheets import ClassOrder
from attention_ui.practice.take_home_view import file_of_class, file_of_sheet
from attention_ui.server.process import class_sheets
from lessons.take_home.sheet import MOST_SHEETS, ON_PAPER, SheetChoices, choices_of_code, read_code, sheet_code

PAGE = "practice/take_home"


def code_shown(at):
    return next(code.value for code in at.code)


def saved(at):
    return {element.proto.label for element in at.get("download_button")}


def previewed(at):
    (frame,) = at.get("iframe")
    return frame.proto.srcdoc


def test_the_sheet_that_is_chosen_is_shown_with_its_code():
    at = open_page(PAGE, on_paper_mask="false", paper_tasks=4, paper_seed=12, paper_digits="1", paper_text="a b c")
    lessons = tuple(lesson for lesson in ON_PAPER if lesson != "mask")
    choices = SheetChoices(lessons=lessons, tasks=4, seed=12, decimals=1, text="a b c")
    assert code_shown(at) == sheet_code(choices)
    assert previewed(at) == file_of_sheet(choices, "a4", False).decode()
    assert saved(at) >= {"Save this sheet", "Save its key"}
    at.button(key="paper_other").click().run()
    assert read_code(code_shown(at)).choices.seed == 13


def test_its_code_finds_its_key():
    choices = SheetChoices(tasks=5, seed=77)
    at = open_page(PAGE, paper="key", paper_code=sheet_code(choices).lower(), paper_size="letter")
    assert previewed(at) == file_of_sheet(choices, "letter", True).decode()
    assert "Save this key" in saved(at)


def test_a_sentence_of_its_own_is_typed_once_more_and_what_does_not_fit_is_told():
    choices = SheetChoices(in_one_thread=True, seed=77, text="<b> zwei drei")
    at = open_page(PAGE, paper="key", paper_code=sheet_code(choices))
    assert any("a sentence of its own" in line for line in texts(at)) and not at.get("iframe")
    at.text_input(key="paper_key_text").set_value("<b> zwei vier").run()
    assert any("not the sentence of that sheet" in line for line in texts(at)) and not at.get("iframe")
    at.text_input(key="paper_key_text").set_value("<b>  zwei drei").run()
    assert previewed(at) == file_of_sheet(choices, "a4", True).decode()


def test_the_sentence_of_a_sheet_that_was_made_in_this_visit_stands_there_already():
    choices = SheetChoices(in_one_thread=True, text="eins zwei drei")
    at = open_page(PAGE, paper_kind="thread", paper_text="eins zwei drei")
    assert code_shown(at) == sheet_code(choices)
    at.text_input(key="paper_text").set_value("noch ein Satz").run()
    at.segmented_control(key="paper").set_value("key").run()
    at.text_input(key="paper_code").set_value(sheet_code(choices)).run()
    assert at.text_input(key="paper_key_text").value == "eins zwei drei"
    assert previewed(at) == file_of_sheet(choices, "a4", True).decode()


def test_a_sheet_in_one_thread_has_no_tasks_or_lessons_to_choose():
    at = open_page(PAGE, paper_kind="thread", paper_seed=5, paper_digits="1")
    choices = SheetChoices(in_one_thread=True, seed=5, decimals=1)
    assert code_shown(at) == sheet_code(choices) and previewed(at) == file_of_sheet(choices, "a4", False).decode()
    assert not {widget.key for widget in (*at.toggle, *at.slider)} & {"paper_tasks", "on_paper_mask"}
    at.session_state["drawer"] = "code"
    assert "def thread_tasks(" in at.run().code[-1].value


@pytest.mark.parametrize("code", ["nonsense", "ZTR00-0CP0E", "x" * 599, "<script>", "![a](b)", "‮12345678901"])
def test_a_code_of_no_sheet_is_told(code):
    at = open_page(PAGE, paper="key", paper_code=code)
    assert any(line.startswith(("This is not a worksheet code", "No worksheet has this code")) for line in texts(at))
    assert not at.get("iframe")


def test_without_a_code_nothing_is_wrong():
    at = open_page(PAGE, paper="key")
    assert "You find it at the top of every worksheet." in texts(at) and not at.get("iframe")


def test_without_a_lesson_there_is_no_sheet_and_that_is_told():
    at = open_page(PAGE, **{f"on_paper_{lesson}": "false" for lesson in ON_PAPER})
    assert "No lesson is chosen. A worksheet needs at least one." in texts(at)
    assert not at.get("iframe") and not at.code


def test_a_sentence_that_is_too_short_or_too_long_is_told():
    assert any("at least 2 tokens, but this one has 1." in line for line in texts(open_page(PAGE, paper_text="one")))
    assert any("There is room for only 5 tokens" in line for line in texts(open_page(PAGE, paper_text="a b c d e f")))


def wait_for(order):
    for _ in range(3000):
        if class_sheets().done(order) is None:
            return
        time.sleep(0.02)
    raise AssertionError("the sheets were never finished")


@pytest.mark.slow
def test_the_sheets_of_200_students_are_written_beside_the_pages_and_saved_as_one_file(monkeypatch):
    monkeypatch.setattr(take_home_view, "can_typeset", lambda: False)
    at = open_page(PAGE, paper_sheets=999, paper_tasks=2, paper_seed=3)
    assert any(f"paper_sheets goes from 1 to {MOST_SHEETS}" in line for line in texts(at))
    order = ClassOrder(SheetChoices(tasks=2, seed=3), MOST_SHEETS, "a4")
    at.button(key="paper_write").click().run()
    assert not at.exception
    assert class_sheets().done(order) is not None or class_sheets().file(order) is not None
    wait_for(order)
    assert f"Save all {MOST_SHEETS} sheets and keys" in saved(at.run())
    with zipfile.ZipFile(io.BytesIO(file_of_class(order))) as packed:
        codes = [line.split(",")[1] for line in packed.read("codes.csv").decode().split()[1:]]
        assert packed.read("keys.html").decode().count("Key to sheet") == MOST_SHEETS
    assert len(set(codes)) == MOST_SHEETS and {choices_of_code(code).seed for code in codes} == set(range(3, 203))


@pytest.mark.parametrize(
    ("sheets", "label"), [(1, "Write the sheet and its key"), (30, "Write 30 sheets and all keys")]
)
def test_where_typst_is_here_one_pdf_is_ordered_in_the_language_of_the_page(monkeypatch, sheets, label):
    placed = []
    monkeypatch.setattr(take_home_view, "can_typeset", lambda: True)
    monkeypatch.setattr(class_sheets(), "place", lambda order: placed.append(order) or True)
    at = open_page(PAGE, paper_sheets=sheets, paper_kind="thread", paper_seed=9)
    assert at.button(key="paper_write").label == f"{label} as one PDF"
    at.button(key="paper_write").click().run()
    assert placed == [ClassOrder(SheetChoices(in_one_thread=True, seed=9), sheets, "a4", "en", as_pdf=True)]
    monkeypatch.setattr(class_sheets(), "file", lambda order: b"%PDF")
    assert "Save the PDF" in saved(at.run())


def test_without_typst_or_a_font_for_the_language_the_sheets_are_files_of_html(monkeypatch):
    for here, letters in ((False, True), (True, False)):
        monkeypatch.setattr(take_home_view, "can_typeset", lambda here=here: here)
        monkeypatch.setattr(take_home_view, "has_letters", lambda letters=letters: letters)
        at = open_page(PAGE, paper_sheets=2)
        assert at.button(key="paper_write").label == "Write the 2 sheets and their keys"
        assert any("would need a font" in caption.value for caption in at.caption) == here
        assert "paper_write" not in {button.key for button in open_page(PAGE).button}


def test_another_class_waits_and_is_told(monkeypatch):
    monkeypatch.setattr(class_sheets(), "place", lambda order: False)
    at = open_page(PAGE, paper_sheets=5, paper_seed=4)
    at.button(key="paper_write").click().run()
    assert "The sheets of another class are being written. Try again in a few seconds." in texts(at)


def test_a_text_in_the_link_stands_in_the_sheet_as_a_text():
    at = open_page(PAGE, paper_text="<img src=x onerror=1> b")
    assert "<img" not in previewed(at) and "&lt;img" in previewed(at)
    assert quote("<img") not in previewed(at)
