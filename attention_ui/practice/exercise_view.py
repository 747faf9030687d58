"""The page of the exercises: what is asked, the editor, and what there is to say of the last answer.

A learner's code is kept as a text, for when the page is opened again. It runs in the learner's browser alone.
"""

import secrets

import streamlit as st

from attention_ui.contents import CONTENTS, open_entry
from attention_ui.controls.bound import one_in_list
from attention_ui.page.drawing import draw_figure
from attention_ui.page.progress import (
    Progress,
    add_progress,
    draw_keeper,
    forgotten,
    known_by,
    progress,
    take_progress,
    told_by,
)
from attention_ui.practice.progress_view import EXERCISE_TITLES
from attention_ui.server.runner import MOST_CODE, runner_version
from attention_ui.session import get_state, is_projected, set_state
from attention_ui.streamlit_insides import IN_BROWSER, part_of_page
from lessons.code.exercises.base import Exercise, written_job
from lessons.code.exercises.every import EXERCISES
from lessons.code.exercises.verdict import SECONDS, Verdict, verdict_of
from lessons.screen import ListOf, OneOf, message, plural, render, translate
from words import language, tag_of

EDITOR, CODE_KEEPER = "exercise_editor", "exercise_keeper"
EDITOR_WORDS = {  # of the page in the frame, which fills in the names in braces
    "code": message("Your code"),
    "run": message("Run and check"),
    "reset": message("Start again"),
    "loading": message("Python is loading …"),
    "ready": message("ready"),
    "running": message("running …"),
    "ran": message("ran in your browser"),
    "stopped": message("stopped"),
    "broken": message("Python could not start: {why}"),
    "long": message("Your code has {count} characters; at most {most} can be run."),
    "unseen": message("Line {line} contains an invisible character ({code}). Delete it, then run again."),
    "keys": message("{ctrl} {enter} runs the code. {tab} indents; {esc}, then {tab} leaves the editor."),
    "ctrl": message("Ctrl"),
    "enter": message("Enter"),
    "tab": message("Tab"),
    "esc": message("Esc"),
}
LIST_WIDE = 330  # pixels
TRIES = 3  # after so many the solution can be seen
SEEDS = 10**6


def chosen_exercise() -> Exercise:
    """Which exercise; the first at first. A tick stands before those that are solved."""
    solved = progress().exercises
    titles = {
        key: message("✓ {title}", title=title) if key in solved else title for key, title in EXERCISE_TITLES.items()
    }
    return EXERCISES[one_in_list(OneOf("exercise", message("Exercise"), titles), width=LIST_WIDE)]


def exercise_panel(exercise: Exercise) -> None:
    """What is asked; the editor, and beside it the verdict."""
    take_what_was_kept()
    take_answer()
    st.markdown(render(exercise.asks))
    st.caption(translate("The inputs are PyTorch tensors; you can use `torch`, `nn`, `F` and `math`."))
    large = is_projected()
    editor, beside = st.columns([1, 1] if large else [3, 2], gap="medium")
    with editor, st.container(key="exercise_place"):
        draw_editor(exercise, large)
    with beside:
        verdict = of_exercise("verdict", exercise.key)
        if isinstance(verdict, Verdict):
            draw_verdict(verdict, of_exercise("verdict_seed", exercise.key) if exercise.drawn else None)
        offer_help(exercise)
    for figure in verdict.figures[1:] if isinstance(verdict, Verdict) else ():
        draw_figure(None, figure)
    draw_keeper(CODE_KEEPER, what="code", word=word_of_visit())  # to which the editor hands what is written


def draw_editor(exercise: Exercise, large: bool) -> None:
    """The page that runs the code, in a frame, and the cases of its next run: as text, for there 1.0 is 1."""
    job, aside = written_job(exercise, exercise.cases(next_seed()))
    given = {
        "exercise": exercise.key,
        "seed": next_seed(),
        "job": job,
        "aside": aside,
        "starter": exercise.starter,
        "code": of_exercise("code", exercise.key) or exercise.starter,
        "limit": 1000 * SECONDS,
        "forget": forgotten(),
        "word": word_of_visit(),
        "large": large,
        "dark": st.context.theme.type == "dark",
        "lang": tag_of(language().code),
        "words": {name: render(said) for name, said in EDITOR_WORDS.items()},
    }
    page = {"page": f"./runner?v={runner_version()}", "title": translate("Your code"), "given": given}
    part_of_page(IN_BROWSER / "frame", "frame.js")(key=EDITOR, data=page, on_sent_change=take_answer)


def word_of_visit() -> str:
    """By this word the keeper of code knows the editor; no other site is told it."""
    if get_state("exercise_word") is None:
        set_state("exercise_word", secrets.token_hex(16))
    return get_state("exercise_word")


def next_seed() -> int:
    """The seed of the cases of the next run; the page shows it with the verdict."""
    if get_state("exercise_seed") is None:
        set_state("exercise_seed", secrets.randbelow(SEEDS))
    return get_state("exercise_seed")


def take_answer() -> None:
    """What the browser sent last: the code that ran, to keep it; and what it found, to compare that, once."""
    sent = told_by(EDITOR, "sent")
    key = sent.get("exercise")
    if not isinstance(key, str) or key not in EXERCISES or sent == get_state("exercise_answered"):
        return
    set_state("exercise_answered", sent)  # the browser goes on sending it, also when its code is to be forgotten
    keep_code(key, sent.get("code"))
    seed = next_seed()
    if sent.get("answer") is None or sent.get("seed") != seed:
        return
    verdict = verdict_of(EXERCISES[key], EXERCISES[key].cases(seed), sent["answer"])
    keep_of_exercise("verdict", key, verdict)
    keep_of_exercise("verdict_seed", key, seed)
    if verdict.tried and not verdict.passed:
        keep_of_exercise("tries", key, tries(key) + 1)
    if verdict.passed:
        add_progress(Progress(exercises=frozenset([key])))
    set_state("exercise_seed", secrets.randbelow(SEEDS))


def keep_code(key: str, code: object) -> None:
    """Keep a text for the next visit of the page; anything else is forgotten."""
    if isinstance(code, str) and len(code) <= MOST_CODE:
        keep_of_exercise("code", key, code.encode(errors="ignore").decode())  # no half of a character can be sent


def of_exercise(what: str, key: str) -> object | None:
    """What is kept of an exercise."""
    return get_state(f"exercise_{what}_{key}")


def keep_of_exercise(what: str, key: str, value: object) -> None:
    """Keep something of an exercise."""
    set_state(f"exercise_{what}_{key}", value)


def tries(key: str) -> int:
    """How many answers were not right."""
    return of_exercise("tries", key) or 0


def draw_verdict(verdict: Verdict, seed: int | None) -> None:
    """Whether it is right, and what is not; what the code printed; the case that fails. A learner's words literally.

    Without a seed the cases were not drawn.
    """
    with st.container(key="exercise_right" if verdict.passed else "exercise_wrong", gap="small"):
        for sentence in verdict.says:
            st.text(render(sentence))
    if verdict.error:
        st.code(verdict.error, language=None, wrap_lines=True)
    for figure in verdict.figures[:1]:
        draw_figure(None, figure)
    if verdict.printed:
        st.caption(translate("Your code printed"))
        st.code(verdict.printed, language=None, wrap_lines=True)
    if seed is None:
        return
    with st.container(key="exercise_seed_of_cases"):
        st.caption(translate("The cases were drawn with seed {seed}.", seed=seed))


def offer_help(exercise: Exercise) -> None:
    """The lesson it belongs to; and, after some tries, a solution."""
    left, shown = TRIES - tries(exercise.key), f"exercise_solution_{exercise.key}"
    lesson = next(entry for entry in CONTENTS if entry.address == exercise.lesson)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(translate("Lesson: {title}", title=lesson.title), key="exercise_lesson", type="tertiary"):
            open_entry(lesson)
        locked = left > 0 and exercise.key not in progress().exercises
        st.button(
            translate("Show a solution"),
            key="exercise_solution",
            on_click=set_state,
            args=(shown, True),
            disabled=locked,
            type="tertiary",
        )
        if locked:
            st.caption(render(plural("after {count} more try", "after {count} more tries", left)))
    if get_state(shown) and not locked:
        st.code(exercise.solution, language="python")
    solved = tuple(title for key, title in EXERCISE_TITLES.items() if key in progress().exercises)
    if solved:
        st.caption(
            translate(
                "Solved, {count} of {all}: {titles}", count=len(solved), all=len(EXERCISES), titles=ListOf(solved)
            )
        )


def take_what_was_kept() -> None:
    """What this browser has kept, when the page is opened: it is no older than what was run last."""
    take_progress(CODE_KEEPER, "progress_taken_here")
    kept = known_by(CODE_KEEPER).get("kept")
    codes = {key: kept[key] for key in EXERCISES if isinstance(kept.get(key), str)} if isinstance(kept, dict) else {}
    if codes == get_state("exercise_kept"):
        return
    set_state("exercise_kept", codes)
    for key, code in codes.items():
        keep_code(key, code)
