"""The page of what is taken to class: worksheets with their keys, plans, certificates, questions for a platform."""

import io
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import streamlit as st

from attention_core.base.errors import InputError
from attention_ui.classroom.homework.certificates import certificates_panel
from attention_ui.classroom.homework.homework import open_homework
from attention_ui.classroom.homework.view import homework_view
from attention_ui.classroom.plan.plan_view import plan_panel
from attention_ui.contents import draw_topic
from attention_ui.controls.bound import next_number, number_field, one_in_row, text_field
from attention_ui.export.paper import PAPER_SIZES, file_name_of, key_section, sheet_section, whole_file
from attention_ui.page.drawer import show_drawer
from attention_ui.practice.export_view import offer_export
from attention_ui.practice.platform_view import platform_panel
from attention_ui.session import get_state, link_notes, offer, set_state, show_notes
from lessons.screen import Limit, Number, OneOf, Text, message, plural, reason, render, translate
from lessons.teachers.take_home import sheet
from lessons.teachers.take_home.sheet import (
    LAST_SHEET,
    LONGEST_ON_PAPER,
    LONGEST_SHEET_CODE,
    MOST_SHEETS,
    PAPER_SENTENCE,
    ReadCode,
    SheetChoices,
    read_code,
    sheet_code,
    sheets_of_class,
    words_on_paper,
)
from lessons.teachers.take_home.thread import thread_tasks
from words import cached_by_language

TAKEN_HOME = SheetChoices()
PAPER = OneOf(
    "paper",
    message("Take home"),
    {
        "sheet": message("Print worksheets"),
        "45": message("Plan, 45 minutes"),
        "60": message("Plan, 60 minutes"),
        "90": message("Plan, 90 minutes"),
        "own": message("Your plan"),
        "certificates": message("Certificates"),
        "platform": message("For a learning platform"),
    },
)
PAPER_SIZE = OneOf("paper_size", message("Paper"), PAPER_SIZES, labelled=True)
PAPER_DIGITS = OneOf(
    "paper_digits", message("Round to"), {2: message("2 decimals"), 1: message("1 decimal")}, labelled=True
)
PAPER_SEED = Number(
    "paper_seed", message("Seed of its numbers"), Limit(0, LAST_SHEET), TAKEN_HOME.seed, typed=True, width=160
)
PAPER_SHEETS = Number(
    "paper_sheets", message("Number of different sheets"), Limit(1, MOST_SHEETS), 1, typed=True, width=290
)
PAPER_TEXT = Text("paper_text", message("Sentence of two to five words"), LONGEST_ON_PAPER, PAPER_SENTENCE, width=290)
PAPER_CODE = Text(
    "paper_code",
    message("Code of a printed sheet, for its key"),
    LONGEST_SHEET_CODE,
    width=400,
    placeholder=sheet_code(TAKEN_HOME),
)
KEY_TEXT = Text("paper_key_text", message("Sentence on the sheet"), LONGEST_ON_PAPER, width=290)
HTML, PREVIEW_HEIGHT = "text/html", 900
MUCH = 100_000  # letters that are copied at a time
KEPT_PAGES, KEPT_SENTENCES = 16, 8


def show_take_home() -> None:
    """The whole page; for a student with a homework, that and nothing else."""
    plan = open_homework()
    if plan is not None:
        homework_view(plan)
    else:
        draw_topic(sheet)
        show_notes(*link_notes())
        take_home_panel()
    show_drawer("take_home", None, topic=sheet.TOPIC)


def take_home_panel() -> None:
    """The chosen panel: worksheets, a plan, certificates, or questions for a platform."""
    view = one_in_row(PAPER)
    panels = {"sheet": print_panel, "certificates": certificates_panel, "platform": platform_panel}
    if view in panels:
        panels[view]()
    else:
        plan_panel(view)


def print_panel() -> None:
    """Sheets as they are chosen; or, once a code is typed in, the sheet that has it. Each with its key."""
    code = text_field(PAPER_CODE)
    if not code:
        worksheet_panel()
        return
    try:
        found_panel(read_code(code))
    except InputError as error:
        show_notes(reason(error))


def worksheet_panel() -> None:
    """The choices of a worksheet, what saves all sheets with their keys, and the first sheet."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        typed, seed, sheets = text_field(PAPER_TEXT), number_field(PAPER_SEED), number_field(PAPER_SHEETS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        digits, paper = one_in_row(PAPER_DIGITS), one_in_row(PAPER_SIZE)
    text, notes = words_on_paper(typed)
    show_notes(*notes)
    remember_sentence(text)
    choices = SheetChoices(seed=seed, decimals=digits, text=text)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            translate("New numbers"), key="paper_other", on_click=next_number, args=(PAPER_SEED,), type="tertiary"
        )
        offer_sheets(choices, sheets, paper)
    preview(choices, paper)


def found_panel(found: ReadCode) -> None:
    """The sheet that has a code, and its key, once its sentence is there. Raises InputError for another sentence."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        typed = sentence_of_sheet(found) if found.wants_sentence else PAPER_SENTENCE
        paper = one_in_row(PAPER_SIZE)
    if not typed:
        st.text(translate("This sheet has a sentence of its own: type it as it is printed below the name."))
        return
    choices = found.with_sentence(typed)
    offer_sheets(choices, 1, paper)
    preview(choices, paper)


def sentence_of_sheet(found: ReadCode) -> str:
    """What is typed as the sentence of a sheet; it stands there already if this visitor has used it before."""
    if not found.fits(words_on_paper(str(get_state(KEY_TEXT.name) or ""))[0]):
        used = next(filter(found.fits, sentences_used()), None)
        if used:
            set_state(KEY_TEXT.name, used)
    return text_field(KEY_TEXT)


def sentences_used() -> list[str]:
    """The sentences of this visitor's last sheets, as far as they were not the usual one."""
    kept = get_state("paper_sentences")
    return kept if isinstance(kept, list) else []


def remember_sentence(text: str) -> None:
    """Keep the sentence of a sheet, for its key."""
    if text != PAPER_SENTENCE:
        others = [used for used in sentences_used() if used != text]
        set_state("paper_sentences", [text, *others][:KEPT_SENTENCES])


def offer_sheets(choices: SheetChoices, sheets: int, paper: str) -> None:
    """A button that saves so many sheets with their keys."""
    label, name = (
        render(plural("Save the sheet and its key", "Save {count} sheets and all keys", sheets)),
        file_name_of(choices),
    )
    if sheets == 1:  # it has been made, to be shown
        offer(label, partial(file_of_sheets, choices, sheets, paper), name, HTML)
    else:
        write = partial(write_sheets, choices, sheets, paper)
        offer_export(label, name, (choices, sheets, paper), write, sheets)


def preview(choices: SheetChoices, paper: str) -> None:
    """How the file is printed, and one sheet and its key as they look."""
    st.caption(translate("The file needs nothing else: open it in a browser and print it, on paper or as a PDF."))
    with st.container(key="paper_preview"):
        alt = translate("The sheet and its key as they are printed")
        st.iframe(first_sheet(choices, paper), height=PREVIEW_HEIGHT, alt=alt)


@cached_by_language(maxsize=KEPT_PAGES)
def first_sheet(choices: SheetChoices, paper: str) -> str:
    """One sheet and its key, for a frame: it holds texts only as texts, and forbids itself every script."""
    return file_of_sheets(choices, 1, paper).decode()


def file_of_sheets(choices: SheetChoices, sheets: int, paper: str) -> bytes:
    """A sheet for each student, then all keys, in one file."""
    file = io.BytesIO()
    for _ in write_sheets(choices, sheets, paper, file):
        pass
    return file.getvalue()


def write_sheets(choices: SheetChoices, sheets: int, paper: str, file: BinaryIO) -> Iterator[None]:
    """Write that file, a sheet at each step."""
    title = translate("Worksheet {code}", code=sheet_code(choices))
    for part in whole_file(title, sections_of_class(choices, sheets), paper):
        file.write(part.encode())
        yield


def sections_of_class(choices: SheetChoices, sheets: int) -> Iterator[str]:
    """All sheets, and then their keys, which are made with them and meanwhile wait in a file."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as keys:
        for one in sheets_of_class(choices, sheets):
            tasks = thread_tasks(one)
            keys.write(key_section(one, tasks))
            yield sheet_section(one, tasks)
        keys.seek(0)
        while part := keys.read(MUCH):
            yield part
