"""The page of the worksheets: the choices, the sheet, the key that a code finds, and the sheets of a whole class."""

import functools

import streamlit as st

from attention_ui.class_plan.homework import open_homework
from attention_ui.class_plan.plan_view import plan_panel
from attention_ui.controls.bound import next_number, number_field, one_in_row, slider, switch, text_field
from attention_ui.export.paper import PAPER_SIZES, file_name_of, key_section, sheet_section, whole_file
from attention_ui.export.printed import tasks_on_sheet
from attention_ui.export.typeset import can_typeset, has_letters
from attention_ui.page.contents import CONTENTS, draw_topic
from attention_ui.page.drawer import show_drawer
from attention_ui.practice.certificates_view import certificates_panel
from attention_ui.practice.class_sheets import PDF, ZIP, ClassOrder, file_in_place_of_class
from attention_ui.practice.homework_view import homework_view
from attention_ui.practice.platform_view import platform_panel
from attention_ui.server.process import class_sheets, redrawn_picture
from attention_ui.session.chart import offer, show_notes
from attention_ui.session.links import link_notes
from attention_ui.session.state import get_state, set_state, take_state
from lessons.screen.choice import Limit, Number, OneOf, Switch, Text
from lessons.screen.format import render, translate
from lessons.screen.message import message, plural, reason
from lessons.screen.screen import Code
from lessons.take_home import sheet
from lessons.take_home.sheet import (
    LAST_SHEET,
    LONGEST_ON_PAPER,
    LONGEST_SHEET_CODE,
    MOST_SHEETS,
    MOST_TASKS,
    ON_PAPER,
    PAPER_SENTENCE,
    ReadCode,
    SheetChoices,
    read_code,
    sheet_code,
    words_on_paper,
)
from lessons.take_home.tasks import MAKES_SHEETS
from lessons.take_home.thread import MAKES_THREADS
from words import cached_by_language, language

TAKEN_HOME = SheetChoices()
PAPER = OneOf(
    "paper",
    message("Take home"),
    {
        "sheet": message("Worksheet"),
        "key": message("Answer key"),
        "45": message("Plan, 45 minutes"),
        "60": message("Plan, 60 minutes"),
        "90": message("Plan, 90 minutes"),
        "own": message("Your plan"),
        "certificates": message("Certificates"),
        "platform": message("For a learning platform"),
    },
)
PAPER_KIND = OneOf(
    "paper_kind", message("Kind"), {"tasks": message("Single tasks"), "thread": message("Connected tasks")}
)
PAPER_SIZE = OneOf("paper_size", message("Paper"), PAPER_SIZES, labelled=True)
PAPER_DIGITS = OneOf(
    "paper_digits", message("Round to"), {2: message("2 decimals"), 1: message("1 decimal")}, labelled=True
)
PAPER_TASKS = Number("paper_tasks", message("Tasks"), Limit(1, MOST_TASKS), TAKEN_HOME.tasks, width=200)
PAPER_SEED = Number(
    "paper_seed", message("Seed of its numbers"), Limit(0, LAST_SHEET), TAKEN_HOME.seed, typed=True, width=160
)
PAPER_SHEETS = Number(
    "paper_sheets", message("Number of different sheets"), Limit(1, MOST_SHEETS), 1, typed=True, width=290
)
PAPER_TEXT = Text("paper_text", message("Sentence of two to five words"), LONGEST_ON_PAPER, PAPER_SENTENCE, width=290)
PAPER_CODE = Text("paper_code", message("Code of the sheet"), LONGEST_SHEET_CODE, width=400)
KEY_TEXT = Text("paper_key_text", message("Sentence on the sheet"), LONGEST_ON_PAPER, width=290)
ASKED_ON_PAPER = {
    entry.address: Switch(f"on_paper_{entry.address}", entry.title, True)
    for entry in CONTENTS
    if entry.address in ON_PAPER
}
SAVE_PDF = message("Save the PDF")
HTML, PREVIEW_HEIGHT, LOOK_AGAIN_SECONDS = "text/html", 900, 1.0
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
    show_drawer("take_home", code_of_sheets() if plan is None else None, topic=sheet.TOPIC)


def take_home_panel() -> None:
    """The chosen panel: worksheet, key, plan, certificates, or questions for a platform."""
    view = one_in_row(PAPER)
    panels = {
        "sheet": worksheet_panel,
        "key": key_panel,
        "certificates": certificates_panel,
        "platform": platform_panel,
    }
    if view in panels:
        panels[view]()
    else:
        plan_panel(view)


def code_of_sheets() -> Code:
    """What makes the kind of sheet that is chosen."""
    return MAKES_THREADS if get_state(PAPER_KIND.name) == "thread" else MAKES_SHEETS


def worksheet_panel() -> None:
    """The choices of a worksheet and, below them, its first sheet; where there are several, the file with all."""
    paper, sheets, chosen = worksheet_controls()
    try:
        choices = SheetChoices(**chosen)
    except ValueError as error:
        show_notes(reason(error))
        return
    remember_sentence(choices.text)
    code = sheet_code(choices)
    st.text(translate("The code of this sheet. Type it in under Answer key to get the key."))
    st.code(code, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            translate("New numbers"),
            key="paper_other",
            on_click=next_number,
            args=(PAPER_SEED,),
            type="tertiary",
        )
        offer_paper(translate("Save this sheet"), choices, paper, key=False)
        offer_paper(translate("Save its key"), choices, paper, key=True)
        as_pdf = can_typeset() and has_letters()
        if sheets > 1 or as_pdf:
            class_panel(ClassOrder(choices, sheets, paper, language().code, as_pdf))
    if can_typeset() and not as_pdf:
        st.caption(
            translate(
                "There is no PDF of all sheets: the server would need a font for your language, such as Noto CJK."
            )
        )
    st.caption(translate("The file needs nothing else: open it in a browser and print it, on paper or as a PDF."))
    preview(choices, paper, False, translate("The worksheet as it is printed"))


def worksheet_controls() -> tuple[str, int, dict[str, object]]:
    """The paper, how many sheets, and what they are made of."""
    made_of: dict[str, object] = {"in_one_thread": one_in_row(PAPER_KIND) == "thread"}
    if not made_of["in_one_thread"]:
        made_of |= {"lessons": lessons_picked()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if not made_of["in_one_thread"]:
            made_of |= {"tasks": PAPER_TASKS.limit.clamp(slider(PAPER_TASKS))}
        seed, sheets = number_field(PAPER_SEED), number_field(PAPER_SHEETS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        typed, digits, paper = text_field(PAPER_TEXT), one_in_row(PAPER_DIGITS), one_in_row(PAPER_SIZE)
    text, notes = words_on_paper(typed)
    show_notes(*notes)
    return paper, sheets, made_of | {"seed": seed, "decimals": digits, "text": text}


def lessons_picked() -> tuple[str, ...]:
    """The lessons that single tasks come from."""
    st.text(translate("Tasks from these lessons"))
    with st.container(horizontal=True, key="on_paper"):
        picked = {lesson: switch(ASKED_ON_PAPER[lesson], width="content") for lesson in ON_PAPER}
    return tuple(lesson for lesson in ON_PAPER if picked[lesson])


def key_panel() -> None:
    """The key of the sheet that has this code, and its sentence where that is one of its own."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        code, paper = text_field(PAPER_CODE, placeholder=sheet_code(TAKEN_HOME)), one_in_row(PAPER_SIZE)
    if not code:
        st.text(translate("You find it at the top of every worksheet."))
        return
    try:
        found = read_code(code)
        typed = sentence_of_sheet(found) if found.wants_sentence else PAPER_SENTENCE
        if not typed:
            st.text(translate("This sheet has a sentence of its own: type it as it is printed below the name."))
            return
        choices = found.with_sentence(typed) if found.wants_sentence else found.choices
    except ValueError as error:
        show_notes(reason(error))
        return
    with st.container(horizontal=True):
        offer_paper(translate("Save this key"), choices, paper, key=True)
        offer_paper(translate("Save its sheet"), choices, paper, key=False)
    preview(choices, paper, True, translate("The key as it is printed"))


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


def offer_paper(label: str, choices: SheetChoices, paper: str, *, key: bool) -> None:
    """A button that saves one sheet, or its key."""
    file = file_name_of("key" if key else "sheet", choices)
    offer(label, functools.partial(file_of_sheet, choices, paper, key), file, HTML)


def preview(choices: SheetChoices, paper: str, key: bool, name: str) -> None:
    """The file as it looks, in a frame. It holds texts only as texts, and forbids itself every script."""
    with st.container(key="paper_preview"):
        st.iframe(file_of_sheet(choices, paper, key).decode(), height=PREVIEW_HEIGHT, alt=name)


@cached_by_language(maxsize=KEPT_PAGES)
def file_of_sheet(choices: SheetChoices, paper: str, key: bool) -> bytes:
    """One sheet, or its key, as a file."""
    section = (key_section if key else sheet_section)(choices, tasks_on_sheet(choices))
    code = sheet_code(choices)
    title = translate("Key {code}", code=code) if key else translate("Worksheet {code}", code=code)
    return "".join(whole_file(title, [section], paper)).encode()


def class_panel(order: ClassOrder) -> None:
    """The sheets of a class in one file, written in the background when somebody asks for it."""
    if class_sheets().done(order) is not None:
        st.fragment(functools.partial(draw_sheets_written, order), run_every=LOOK_AGAIN_SECONDS)()
    elif class_sheets().file(order) is not None:
        save = SAVE_PDF if order.as_pdf else message("Save all {count} sheets and keys", count=order.sheets)
        file, kind = ("worksheets.pdf", PDF) if order.as_pdf else ("worksheets.zip", ZIP)
        offer(render(save), functools.partial(file_of_class, order), file, kind)
    else:
        write = message("Write the {count} sheets and their keys", count=order.sheets)
        if order.as_pdf:
            write = plural(
                "Write the sheet and its key as one PDF", "Write {count} sheets and all keys as one PDF", order.sheets
            )
        st.button(render(write), key="paper_write", on_click=order_sheets, args=(order,), type="primary")
        if take_state("paper_busy"):
            show_notes(translate("The sheets of another class are being written. Try again in a few seconds."))
        elif problem := class_sheets().problem(order):
            show_notes(message("The sheets were not finished: {why}. Ask for them again, or for fewer.", why=problem))


def order_sheets(order: ClassOrder) -> None:
    """Begin to write them, unless others are being written."""
    set_state("paper_busy", not class_sheets().place(order))


def draw_sheets_written(order: ClassOrder) -> None:
    """One look at how far it is; at its end the page is drawn anew."""
    with redrawn_picture(small=True):
        done = class_sheets().done(order)
        if done is not None:
            st.progress(
                min(1.0, done / order.sheets),
                text=translate("{done} of {count} sheets written", done=min(done, order.sheets), count=order.sheets),
            )
    if done is None:
        st.rerun()


def file_of_class(order: ClassOrder) -> bytes:
    """The file with all sheets; where it is no longer kept, a line that says so in its place."""
    return class_sheets().file(order) or file_in_place_of_class(order.as_pdf)
