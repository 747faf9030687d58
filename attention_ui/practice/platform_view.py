"""The panel with which a teacher takes questions to a learning platform: which ones, how many versions, what file.

The questions are listed and written in the language that is chosen here, whatever the page is in.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import BinaryIO

import pyarrow as pa
import streamlit as st

from attention_core.text.tokens import clean_text
from attention_ui.contents import CONTENTS
from attention_ui.controls.bound import number_field, one_in_list, one_in_row, several_in_list, slider, text_field
from attention_ui.page.drawing import picture_of
from attention_ui.practice.export_view import offer_export
from attention_ui.session import get_state, show_notes
from lessons.screen import Limit, Number, OneOf, Text, message, plural, render, translate
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.platform.gift import write_gift
from lessons.teachers.platform.items import (
    LAST_SEED,
    LONGEST_SENTENCE,
    MOST_QUESTIONS,
    MOST_VERSIONS,
    ON_PLATFORM,
    Draw,
    Item,
    PlatformChoices,
    items_of,
    own_items,
    undrawn,
)
from lessons.teachers.platform.qti import write_qti
from words import LANGUAGES, cached_by_language, language, speaking, tag_of

WriteItems = Callable[[Iterable[Item], BinaryIO], Iterator[None]]
AT_FIRST = PlatformChoices()
PLATFORM_FILE = OneOf(
    "platform_file", message("File"), {"gift": message("GIFT, for Moodle"), "qti": "QTI 2.1"}, labelled=True
)
PLATFORM_LESSONS = Text("platform_lessons", message("Lessons"), 60, placeholder=message("all lessons"))
PLATFORM_QUESTIONS = Number(
    "platform_questions", message("Questions per lesson"), Limit(1, MOST_QUESTIONS), AT_FIRST.questions, width=240
)
PLATFORM_VERSIONS = Number(
    "platform_versions", message("Versions per question"), Limit(1, MOST_VERSIONS), AT_FIRST.versions, width=240
)
PLATFORM_SEED = Number(
    "platform_seed", message("Seed of its numbers"), Limit(0, LAST_SEED), AT_FIRST.seed, typed=True, width=160
)
PLATFORM_TEXT = Text("platform_text", message("Sentence"), LONGEST_SENTENCE, AT_FIRST.text, width=280)
CODES = {tag_of(code): code for code in LANGUAGES}
PLATFORM_LANGUAGE = OneOf(
    "platform_lang",
    message("Language"),
    {"own": message("that of this page")} | {tag: LANGUAGES[code] for tag, code in CODES.items()},
    width=220,
)
PLATFORM_FIGURES = OneOf(
    "platform_figures",
    message("Figures"),
    {"pictures": message("as pictures"), "tables": message("as tables of their numbers")},
    width=220,
)
FILES: dict[str, tuple[str, WriteItems]] = {"gift": ("questions.gift", write_gift), "qti": ("questions.zip", write_qti)}
WHAT_IT_IS = message(
    "Feedback on a wrong answer says what is wrong with it; feedback on the question says why the "
    "right answer is right. Formulas become TeX. Figures become tables of their numbers; QTI can have pictures "
    "instead, with the numbers as alternative text."
)
TICK = message("Tick the questions that you want. If none is ticked, the file holds all of them.")
VERSIONS_SAY = message(
    "Each version has weights of its own. The title of a question says its number and its seed: put one version of "
    "each into your quiz."
)
KEPT_LISTS, TABLE_HEIGHT = 16, 420


def platform_panel() -> None:
    """The choices, the questions that there are, and the file."""
    st.text(render(WHAT_IT_IS))
    choices, code, file, draw = platform_controls()
    own = own_questions()
    with speaking(code):
        items = (*listed_items(choices), *own_items(own))
    save = st.container()
    st.caption(render(TICK))
    wanted = ticked(items, key=f"platform_rows_{'_'.join(choices.lessons)}_{len(items)}")
    versions = choices.versions if any(item.seed is not None for item in wanted or items) else 1
    name, write = FILES[file]
    label = plural("Save {count} question", "Save {count} questions", len(wanted or items))
    keys = frozenset(item.key for item in wanted)
    with save:
        st.caption(render(VERSIONS_SAY)) if versions > 1 else None
        content = (choices, own, keys, draw)
        offer_export(
            render(label),
            name,
            content,
            partial(write_questions, write, *content),
            versions * len(wanted or items),
            code,
        )


def platform_controls() -> tuple[PlatformChoices, str, str, Draw]:
    """What the file is made of, the code of its language, its kind, and how figures come into it."""
    titles = {entry.address: entry.name for entry in CONTENTS}
    named = {place: titles[lesson] for place, lesson in enumerate(ON_PLATFORM, start=1)}
    places = several_in_list(PLATFORM_LESSONS, named)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        questions, versions, seed = slider(PLATFORM_QUESTIONS), slider(PLATFORM_VERSIONS), number_field(PLATFORM_SEED)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        typed, tag = text_field(PLATFORM_TEXT), one_in_list(PLATFORM_LANGUAGE)
        file = one_in_row(PLATFORM_FILE)
        figures = one_in_list(PLATFORM_FIGURES) if file == "qti" else "tables"
    clean = clean_text(typed, LONGEST_SENTENCE)
    show_notes(*clean.notes)
    choices = PlatformChoices(
        lessons=tuple(ON_PLATFORM[place - 1] for place in places) or ON_PLATFORM,
        questions=PLATFORM_QUESTIONS.limit.clamp(questions),
        versions=PLATFORM_VERSIONS.limit.clamp(versions),
        seed=seed,
        text=clean.text or AT_FIRST.text,
    )
    return choices, CODES.get(tag, language().code), file, picture_of if figures == "pictures" else undrawn


def own_questions() -> tuple[OwnQuestion, ...]:
    """The questions of the teacher's own in the plan that this visit has made."""
    plan = get_state("plan_own")
    return () if plan is None else tuple(stop.own for stop in plan.stops if stop.own is not None)


@cached_by_language(maxsize=KEPT_LISTS)
def listed_items(choices: PlatformChoices) -> tuple[Item, ...]:
    """The first version of each question."""
    return tuple(items_of(replace(choices, versions=1)))


def ticked(items: Sequence[Item], key: str) -> list[Item]:
    """The questions with their right answers, as a table; those that are ticked."""
    columns = {
        translate("lesson"): [item.about for item in items],
        translate("question"): [item.prompt for item in items],
        translate("right answer"): [right_answer(item) for item in items],
    }
    chosen = st.dataframe(
        pa.table(columns),
        hide_index=True,
        height=TABLE_HEIGHT,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
    )
    return [items[row] for row in picked_rows(chosen) if isinstance(row, int) and 0 <= row < len(items)]


def picked_rows(state: object) -> list:
    """The rows that the browser says are ticked, if it says so in the way tables do."""
    selection = state.get("selection") if isinstance(state, dict) else None
    rows = selection.get("rows") if isinstance(selection, dict) else None
    return rows if isinstance(rows, list) else []


def right_answer(item: Item) -> str:
    """What is right, in one line."""
    return item.options[item.right].text if item.options else f"{item.number:g} ± {item.tolerance:g}"


def write_questions(
    write: WriteItems,
    choices: PlatformChoices,
    own: Sequence[OwnQuestion],
    wanted: frozenset[str],
    draw: Draw,
    file: BinaryIO,
) -> Iterator[None]:
    """Write a file with all versions of the questions that are wanted, one at each step; without any, of all."""
    mine = (item for item in own_items(own) if not wanted or item.key in wanted)
    return write(chain(items_of(choices, wanted, draw), mine), file)
