"""Your progress: what is solved, in words; saving it to a file, loading one, and forgetting everything."""

from collections.abc import Collection, Mapping
from functools import partial

import streamlit as st

from attention_ui.page.progress import (
    LESSON_TITLES,
    add_progress,
    forget_everything,
    load_progress,
    progress,
    save_progress,
)
from attention_ui.session import get_state, offer, set_state, show_notes
from lessons.code.exercises.every import EXERCISES
from lessons.one_head.puzzle.levels import LEVELS
from lessons.screen import ListOf, Message, message, plural, reason, render_all, translate

EXERCISE_TITLES = {key: exercise.title for key, exercise in EXERCISES.items()}
LEVEL_TITLES = {key: level.title for key, level in LEVELS.items()}
PROGRESS_FILE, NOTE = "progress_file", "progress_note"
LARGEST_FILE = 1


def progress_panel() -> None:
    """What is solved, and what can be done with it."""
    solved = progress()
    st.text(translate("Lessons with a question solved: {named}", named=all_named(solved.lessons, LESSON_TITLES)))
    st.text(translate("Exercises solved: {named}", named=all_named(solved.exercises, EXERCISE_TITLES)))
    st.text(translate("Heads built: {named}", named=all_named(solved.levels, LEVEL_TITLES)))
    st.caption(
        translate(
            "This browser keeps your progress and your code; the server keeps neither. A file takes your "
            "progress to another browser."
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        offer(
            translate("Save to a file"),
            partial(save_progress, progress()),
            "attention-lab-progress.json",
            "application/json",
        )
        with st.popover(translate("Forget everything")):
            st.text(translate("Your progress and the code you wrote will be gone from this browser."))
            st.button(translate("Forget it"), key="progress_forget", on_click=forget, type="primary")
    st.file_uploader(
        translate("Load a file that was saved here"),
        type=["json"],
        max_upload_size=LARGEST_FILE,
        key=PROGRESS_FILE,
        on_change=take_file,
    )
    show_notes(get_state(NOTE))


def all_named(solved: Collection[str], titles: Mapping[str, str | Message]) -> Message:
    """How many of all, and which, in the order of the lessons."""
    named = tuple(title for key, title in titles.items() if key in solved)
    if not named:
        return message("{count} of {all}", count=0, all=len(titles))
    return message("{count} of {all}: {titles}", count=len(named), all=len(titles), titles=ListOf(named))


def forget() -> None:
    """Forget everything, and say so."""
    forget_everything()
    set_state(NOTE, message("Everything has been deleted, from this visit and from this browser."))


def take_file() -> None:
    """What happens when a file has been chosen, or was taken away again. What was solved before stays solved."""
    file = get_state(PROGRESS_FILE)
    set_state(NOTE, None)
    if file is None:
        return
    try:
        solved, unknown = load_progress(file.getvalue())
    except ValueError as error:
        set_state(NOTE, message("This file cannot be used: {why}", why=reason(error)))
        return
    add_progress(solved)
    said = message(
        "The file says that {lessons}, {exercises} and {levels} are solved.",
        lessons=plural("{count} lesson", "{count} lessons", len(solved.lessons)),
        exercises=plural("{count} exercise", "{count} exercises", len(solved.exercises)),
        levels=plural("{count} level", "{count} levels", len(solved.levels)),
    )
    left_out = plural(
        "{count} unknown name in it was left out.",
        "{count} unknown names in it were left out.",
        unknown,
    )
    set_state(NOTE, render_all([said, left_out] if unknown else [said]))
