"""Your progress: what is solved, in words; saving it to a file, loading one, and forgetting everything."""

from collections.abc import Collection, Mapping
from functools import partial

import streamlit as st

from attention_ui.lesson import offer, show_notes
from attention_ui.progress import LESSON_TITLES, add_progress, forget_everything, load_progress, progress, save_progress
from attention_ui.state import get_state, set_state
from lessons.exercises.every import EXERCISES
from lessons.formatting import spoken

EXERCISE_TITLES = {key: spoken(exercise.title) for key, exercise in EXERCISES.items()}
PROGRESS_FILE, NOTE = "progress_file", "progress_note"
LARGEST_FILE = 1


def progress_panel() -> None:
    """What is solved, and what can be done with it."""
    st.text(f"Lessons with a question solved: {all_named(progress().lessons, LESSON_TITLES)}")
    st.text(f"Exercises solved: {all_named(progress().exercises, EXERCISE_TITLES)}")
    st.caption(
        "This browser keeps it, and the code you write; the server does not. A file takes what is solved elsewhere."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        offer("Save to a file", partial(save_progress, progress()), "attention-lab-progress.json", "application/json")
        with st.popover("Forget everything"):
            st.text("What is solved and the code you wrote will be gone from this browser.")
            st.button("Forget it", key="progress_forget", on_click=forget, type="primary")
    st.file_uploader(
        "Load a file that was saved here",
        type=["json"],
        max_upload_size=LARGEST_FILE,
        key=PROGRESS_FILE,
        on_change=take_file,
    )
    show_notes(get_state(NOTE))


def all_named(solved: Collection[str], titles: Mapping[str, str]) -> str:
    """How many of all, and which, in the order of the lessons."""
    named = ", ".join(title for key, title in titles.items() if key in solved)
    return f"{len(solved)} of {len(titles)}{': ' if named else ''}{named}"


def forget() -> None:
    """Forget everything, and say so."""
    forget_everything()
    set_state(NOTE, "Everything is forgotten, in this visit and in this browser.")


def take_file() -> None:
    """What happens when a file has been chosen, or was taken away again. What was solved before stays solved."""
    file = get_state(PROGRESS_FILE)
    set_state(NOTE, None)
    if file is None:
        return
    try:
        solved, unknown = load_progress(file.getvalue())
    except ValueError as error:
        set_state(NOTE, f"This file cannot be used: {error}")
        return
    add_progress(solved)
    lessons, exercises = (
        plural(len(names), kind) for kind, names in (("lesson", solved.lessons), ("exercise", solved.exercises))
    )
    left_out = f" {plural(unknown, 'name')} in it mean nothing here and were left out." if unknown else ""
    set_state(NOTE, f"The file says that {lessons} and {exercises} are solved.{left_out}")


def plural(count: int, thing: str) -> str:
    """So many of these."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
