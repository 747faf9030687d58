"""What is solved: known to the visit, handed to the browser, taken from it once, saved, loaded and forgotten."""

import pytest
from test_exercises_page import given, send
from visiting import ROOT, answer, captions, given_to, open_page, texts

from attention_ui.page.progress import KEEPER, Progress, save_progress
from attention_ui.practice.progress_view import PROGRESS_FILE
from lessons.code.exercises.every import EXERCISES
from lessons.screen import render

PAGE = "code/exercises"
NOTHING = {"lessons": [], "exercises": [], "levels": [], "homework": []}


def handed(at):
    """What the browser is to keep."""
    return next(part for part in given_to(at, "keeper") if part["what"] == "progress")["solved"]


def right_card(at, lesson):
    """The letter of the right answer: one presses until it is said to be."""
    for letter in "ABCD":
        answer(at, lesson, letter)
        if any(text.startswith("Yes. ") for text in texts(at)):
            return letter
        assert handed(at) == NOTHING, "a wrong answer solves nothing"
    raise AssertionError("no card is right")


def go_to(at, page):
    at.switch_page(str(ROOT / f"pages/{page}.py")).run()
    assert not at.exception, at.exception


def open_progress(at):
    at.session_state["drawer"] = "progress"
    return at.run()


def test_a_question_is_solved_by_its_right_answer_and_the_browser_told_in_the_same_run():
    at = open_page("one_head/mask", cover="true")
    assert handed(at) == NOTHING
    right_card(at, "mask")
    assert handed(at) == NOTHING | {"lessons": ["mask"]}
    go_to(at, "one_head/softmax")
    assert handed(at) == NOTHING | {"lessons": ["mask"]}


def test_an_exercise_is_solved_by_a_right_answer():
    at = open_page(PAGE, exercise="mask")
    send(at, lambda *inputs, **options: EXERCISES["mask"].answer(*inputs, **options) + 1)
    assert handed(at) == NOTHING
    send(at, EXERCISES["mask"].answer).run()  # in a browser the answer is taken before the page is drawn
    assert handed(at) == NOTHING | {"exercises": ["mask"]}


def test_what_the_browser_kept_is_shown_and_taken_once():
    at = open_page(PAGE, exercise="mask")
    assert at.button(key="exercise_solution").disabled
    known = {"solved": {"lessons": ["softmax", "no such"], "exercises": ["mask", 5]}}
    at.session_state[KEEPER] = {"known": known}
    open_progress(at)
    assert handed(at) == NOTHING | {"lessons": ["softmax"], "exercises": ["mask"]}
    assert f"Exercises solved: 1 of {len(EXERCISES)}: {render(EXERCISES['mask'].title)}" in texts(at)
    assert "Lessons with a question solved: 1 of 16: Softmax" in texts(at)
    assert not at.button(key="exercise_solution").disabled
    at.button(key="progress_forget").click().run()
    assert handed(at) == NOTHING, "the browser still sends what it sent at first"
    assert at.button(key="exercise_solution").disabled


def test_the_page_of_the_exercises_shows_what_was_kept_although_only_the_rail_was_drawn_again():
    at = open_page(PAGE, exercise="mask")
    at.session_state["exercise_keeper"] = {"known": {"kept": {}, "solved": {"exercises": ["mask"]}}}
    at.run()
    assert not at.button(key="exercise_solution").disabled


@pytest.mark.parametrize("forged", [None, 5, "x", [], {"solved": 5}, {"solved": {"lessons": 5}}, {"solved": [1]}, {}])
def test_a_forged_store_is_nothing(forged):
    at = open_page("one_head/mask")
    at.session_state[KEEPER] = {"known": forged}
    at.run()
    assert not at.exception and handed(at) == NOTHING


def test_forgetting_takes_the_code_the_answers_and_the_tries_with_it_and_tells_the_browser():
    at = open_page("one_head/mask", cover="true")
    right_card(at, "mask")
    go_to(at, PAGE)
    send(at, EXERCISES["scores"].answer, code="# mine")
    open_progress(at)
    before = given(at)["forget"]
    at.button(key="progress_forget").click().run()
    assert "Everything has been deleted, from this visit and from this browser." in texts(at)
    editor = given(at)
    assert editor["code"] == EXERCISES["scores"].starter and editor["forget"] != before
    assert handed(at) == NOTHING
    assert "Right in all 3 cases." not in texts(at)
    go_to(at, "one_head/mask")
    assert handed(at) == NOTHING
    assert not any("Right at the first try" in text for text in captions(at))


def upload(at, file):
    at.file_uploader(key=PROGRESS_FILE).upload("progress.json", file, "application/json").run()
    assert not at.exception, at.exception


def test_a_file_adds_to_what_is_solved():
    at = send(open_page(PAGE), EXERCISES["scores"].answer)
    upload(open_progress(at), save_progress(Progress(frozenset(["mask"]), frozenset(["softmax", "attention"]))))
    assert "The file says that 1 lesson, 2 exercises and 0 levels are solved." in texts(at)
    assert handed(at) == NOTHING | {"lessons": ["mask"], "exercises": ["attention", "scores", "softmax"]}


@pytest.mark.parametrize("file", [b"", b"\xff", b"[]", b"{}", b'{"attention-lab-progress": 2}', b"[" * 19_000])
def test_a_file_that_cannot_be_used_changes_nothing_and_is_told_so(file):
    at = send(open_page(PAGE), EXERCISES["scores"].answer)
    upload(open_progress(at), file)
    assert any(text.startswith("This file cannot be used: ") for text in texts(at))
    assert handed(at) == NOTHING | {"exercises": ["scores"]}


def test_only_the_page_of_the_exercises_offers_it():
    at = open_page("one_head/mask")
    at.session_state["drawer"] = "progress"
    assert not at.run().get("file_uploader")
