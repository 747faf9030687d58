"""The page of the worksheets: choices, the sheets of a class with their keys, and the key that a code finds."""

import threading
import time
from functools import partial
from urllib.parse import quote

import pytest
from visiting import in_drawer, open_page, texts

from attention_ui.export.line import Export, Line
from attention_ui.practice.take_home_view import file_of_sheets, first_sheet
from attention_ui.process.turns import page_turn
from lessons.teachers.take_home.sheet import MOST_SHEETS, SheetChoices, sheet_code
from runs.page_lock import Priority

PAGE = "teachers/take_home"
LESSONS = ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output")


def saved(at):
    return {element.proto.label for element in at.get("download_button")}


def previewed(at):
    (frame,) = at.get("iframe")
    return frame.proto.srcdoc


def test_the_sheet_that_is_chosen_is_shown_with_its_code_and_its_key():
    at = open_page(PAGE, paper_seed=12, paper_digits="1", paper_text="a b c", paper_size="letter")
    choices = SheetChoices(seed=12, decimals=1, text="a b c")
    assert previewed(at) == first_sheet(choices, "letter") and previewed(at).count(sheet_code(choices)) > 1
    assert saved(at) == {"Save the sheet and its key"} and not texts(at)
    at.button(key="paper_other").click().run()
    assert previewed(at) == first_sheet(SheetChoices(seed=13, decimals=1, text="a b c"), "letter")


@pytest.mark.parametrize("view", [{}, {"paper": "key"}])
def test_a_code_finds_its_sheet_and_its_key(view):
    choices = SheetChoices(seed=77, decimals=1)
    at = open_page(PAGE, **view, paper_code=sheet_code(choices).lower(), paper_size="letter")
    assert previewed(at) == first_sheet(choices, "letter")
    assert saved(at) == {"Save the sheet and its key"} and not texts(at)
    at.text_input(key="paper_code").set_value("").run()
    assert previewed(at) == first_sheet(SheetChoices(), "letter")


def test_a_sentence_of_its_own_is_typed_once_more_and_what_does_not_fit_is_told():
    choices = SheetChoices(seed=77, text="<b> zwei drei")
    at = open_page(PAGE, paper="key", paper_code=sheet_code(choices))
    assert any("a sentence of its own" in line for line in texts(at)) and not at.get("iframe")
    at.text_input(key="paper_key_text").set_value("<b> zwei vier").run()
    assert any("not the sentence of that sheet" in line for line in texts(at)) and not at.get("iframe")
    at.text_input(key="paper_key_text").set_value("<b>  zwei drei").run()
    assert previewed(at) == first_sheet(choices, "a4")


def test_the_sentence_of_a_sheet_that_was_made_in_this_visit_stands_there_already():
    choices = SheetChoices(text="eins zwei drei")
    at = open_page(PAGE, paper_text="eins zwei drei")
    assert previewed(at) == first_sheet(choices, "a4")
    at.text_input(key="paper_text").set_value("noch ein Satz").run()
    at.text_input(key="paper_code").set_value(sheet_code(choices)).run()
    assert at.text_input(key="paper_key_text").value == "eins zwei drei"
    assert previewed(at) == first_sheet(choices, "a4")


@pytest.mark.parametrize("code", ["nonsense", "007M4-G80D5", "x" * 599, "<script>", "![a](b)", "‮12345678901"])
def test_a_code_of_no_sheet_is_told(code):
    at = open_page(PAGE, paper="key", paper_code=code)
    assert any(line.startswith(("This is not a worksheet code", "No worksheet has this code")) for line in texts(at))
    assert not at.get("iframe")


@pytest.mark.parametrize("code", ["PSSJE-G80BH", "ZT800-K9YKB-3RRHY-41X7E-SB941-J74SB-9"])
def test_the_code_of_a_sheet_with_single_tasks_is_told(code):
    at = open_page(PAGE, paper="key", paper_code=code)
    assert any("these sheets are gone, and version 0.1 makes their key" in line for line in texts(at))
    assert not at.get("iframe")


@pytest.mark.parametrize(
    "link",
    [
        {"paper_kind": "tasks"},
        {"paper_tasks": 4},
        *({f"on_paper_{lesson}": "false"} for lesson in LESSONS),
        {"paper_kind": "tasks", "paper_tasks": 2, "on_paper_mask": "true", "on_paper_scores": "false"},
    ],
)
def test_a_link_to_single_tasks_opens_the_connected_worksheet_and_says_so_once(link):
    at = open_page(PAGE, **link, paper_seed=9)
    gone = "The link asks for a worksheet of single tasks; these are gone, and only connected ones are left."
    assert texts(at).count(gone) == 1
    assert previewed(at) == first_sheet(SheetChoices(seed=9), "a4") and not set(link) & at.query_params.keys()


def test_a_link_to_the_connected_worksheet_opens_it_without_a_word():
    at = open_page(PAGE, paper_kind="thread", paper_seed=9)
    assert previewed(at) == first_sheet(SheetChoices(seed=9), "a4") and not texts(at)


def test_a_sentence_that_is_too_short_or_too_long_is_told():
    assert any("at least 2 tokens, but this one has 1." in line for line in texts(open_page(PAGE, paper_text="one")))
    assert any("There is room for only 5 tokens" in line for line in texts(open_page(PAGE, paper_text="a b c d e f")))


def test_the_sheets_of_200_students_are_saved_as_one_file():
    at = open_page(PAGE, paper_sheets=999, paper_seed=3)
    assert any(f"paper_sheets goes from 1 to {MOST_SHEETS}" in line for line in texts(at))
    assert at.button(key="export_make").label == f"Save {MOST_SHEETS} sheets and all keys"
    assert previewed(at) == first_sheet(SheetChoices(seed=3), "a4")


@pytest.mark.slow
def test_while_200_sheets_are_written_a_page_waits_for_no_more_than_one_of_them(line):
    file_of_sheets(SheetChoices(), 1, "a4")  # what the first one imports and reads is not measured
    at = open_page(PAGE, paper_sheets=MOST_SHEETS)
    at.button(key="export_make").click().run()
    (export,) = line._waiting()
    waited = []
    while export.ended is None:
        line.of(export.session)
        begin = time.monotonic()
        with page_turn():
            waited.append(time.monotonic() - begin)
        time.sleep(0.05)
    assert len(waited) > 10 and sorted(waited)[-2] < 0.3, "the last page may wait for a slow machine"
    assert read(export) == file_of_sheets(SheetChoices(), MOST_SHEETS, "a4")


def read(export):
    return b"".join(export.parts())


@pytest.fixture
def line(monkeypatch):
    """A line of its own, for visits that no server knows."""
    line = Line(partial(page_turn, Priority.NOBODY_WAITS), lambda session: True)
    monkeypatch.setattr("attention_ui.practice.export_view.exports", lambda: line)
    yield line
    line.stop()


def made(at, line):
    """The page once its file has been made, or could not be."""
    while line._waiting():
        time.sleep(0.01)
    return at.run()


def links(at):
    return [element.proto for element in at.get("link_button")]


def test_the_sheets_of_a_class_are_made_on_demand_and_their_link_takes_the_place_of_the_button(line):
    at = open_page(PAGE, paper_sheets=3, paper_seed=8)
    at.button(key="export_make").click().run()
    assert "export_make" not in {button.key for button in at.button}
    made(at, line)
    (link,) = links(at)
    export = line.found(link.url.removeprefix("./file/"))
    assert read(export) == file_of_sheets(SheetChoices(seed=8), 3, "a4") and export.name in link.label
    assert any("ten minutes" in caption.value for caption in at.caption)
    at.number_input(key="paper_sheets").set_value(4).run()
    assert at.button(key="export_make").label == "Save 4 sheets and all keys" and not links(at), "another file"
    at.number_input(key="paper_sheets").set_value(3).run()
    assert links(at)


def test_whoever_waits_sees_how_many_are_before_and_may_cancel(line):
    go_on = threading.Event()

    def held(file):
        yield go_on.wait(10)

    line.join(Export("somebody else", "a file", "a.txt", held, 1, "en"))
    at = open_page(PAGE, paper="platform", platform_lessons="5")
    at.button(key="export_make").click().run()
    said = [bar.proto.text for bar in at.get("progress")]
    assert said == ["1 other file is made before yours."] and not at.exception
    at.button(key="export_cancel").click().run()
    assert at.button(key="export_make").label.startswith("Save ")
    go_on.set()


def test_a_file_that_cannot_be_made_is_told_and_may_be_tried_again(line, monkeypatch, caplog):
    def fails(*how):
        yield
        raise OSError("no space left on <b>this</b> disk")

    at = open_page(PAGE, paper_sheets=2)
    monkeypatch.setattr("attention_ui.practice.take_home_view.write_sheets", fails)
    at.run()
    at.button(key="export_make").click().run()
    made(at, line)
    assert [warning.value for warning in at.warning] == ["The file could not be made. Try again."] and not links(at)
    monkeypatch.undo()
    monkeypatch.setattr("attention_ui.practice.export_view.exports", lambda: line)
    at.run()
    at.button(key="export_make").click().run()
    made(at, line)
    assert links(at) and not at.warning


@pytest.mark.parametrize("page", [PAGE, "teachers/class_vote"])
def test_the_drawer_holds_no_code(page):
    assert in_drawer(open_page(page)) == []


def test_a_text_in_the_link_stands_in_the_sheet_as_a_text():
    at = open_page(PAGE, paper_text="<img src=x onerror=1> b")
    assert "<img" not in previewed(at) and "&lt;img" in previewed(at)
    assert quote("<img") not in previewed(at)
