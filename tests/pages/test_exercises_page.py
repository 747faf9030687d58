"""The page of the exercises, without its browser: what was sent is compared once, kept, and shown literally."""

import json

import pytest
from visiting import ROOT, given_to, open_page, texts

from attention_ui.practice.exercise_view import CODE_KEEPER, EDITOR
from attention_ui.server.runner import MOST_CODE
from lessons.code.exercises.every import EXERCISES
from lessons.screen import render

PAGE = "code/exercises"


def given(at):
    """What the page hands to its editor."""
    (frame,) = given_to(at, "frame")
    return frame["given"]


def send(at, outputs=None, *, error=None, printed="", **more):
    """The browser sends what an answer gave; `more` forges parts of the message."""
    editor = given(at)
    cells = None
    if outputs is not None:
        cases = EXERCISES[editor["exercise"]].cases(editor["seed"])
        cells = [
            [{"shape": list(x.shape), "data": list(map(str, x.flatten().tolist()))} for x in case.outputs(outputs)]
            for case in cases
        ]
    answer = json.dumps({"outputs": cells, "error": error, "printed": printed})
    usual = {"exercise": editor["exercise"], "seed": editor["seed"], "answer": answer, "code": "mine"}
    at.session_state[EDITOR] = {"sent": usual | more}
    at.run()
    assert not at.exception, at.exception
    return at


def test_the_cases_that_go_to_the_browser_are_those_of_the_seed_and_others_after_each_run():
    at = open_page(PAGE)
    editor = given(at)
    exercise = EXERCISES[editor["exercise"]]
    job = json.loads(editor["job"])
    assert [case["arguments"] for case in job["cases"]] == [list(c.arguments) for c in exercise.cases(editor["seed"])]
    assert (job["entry"], editor["code"]) == (exercise.entry, exercise.starter)
    assert given(send(at, exercise.answer))["seed"] != editor["seed"]


@pytest.mark.parametrize("key", EXERCISES)
def test_right_answers_pass_and_known_mistakes_are_named(key):
    exercise = EXERCISES[key]
    at = send(open_page(PAGE, exercise=key), exercise.answer)
    right = "Right in all 3 cases." if exercise.drawn else "Right: these are the numbers of the model itself."
    assert right in texts(at)
    assert any("The cases were drawn" in caption.value for caption in at.caption) == exercise.drawn
    for mistake in exercise.mistakes[:2]:
        assert render(mistake.hint) in texts(send(at, exercise.computed_by(mistake)))


def test_nothing_of_the_answer_goes_to_the_browser():
    at = open_page(PAGE, exercise="attention")
    exercise = EXERCISES["attention"]
    sent = json.dumps(given(at), ensure_ascii=False)
    assert exercise.solution not in sent and "attn_scores = Q @ K.T" not in sent
    assert not any(render(mistake.hint) in sent for mistake in exercise.mistakes)


def test_an_answer_counts_once_and_the_solution_comes_after_three_tries():
    at = open_page(PAGE, exercise="scores")
    exercise = EXERCISES["scores"]
    wrong, solution = exercise.computed_by(exercise.mistakes[0]), exercise.solution
    for left in (3, 2, 1):
        assert at.button(key="exercise_solution").disabled
        assert f"after {left} more {'try' if left == 1 else 'tries'}" in [caption.value for caption in at.caption]
        send(at, wrong)
        at.run().run()
    at.button(key="exercise_solution").click().run()
    assert solution.strip() in [code.value for code in at.code]


def test_an_error_is_shown_literally_with_its_line_and_what_was_printed():
    at = open_page(PAGE)
    message = "![x](http://127.0.0.1:9/a) :red[a] $x$ <b>\x1b[2J"
    send(at, error={"type": "ValueError", "message": message, "line": 3}, printed="**here**")
    assert "Your code stopped on line 3." in texts(at)
    assert f"ValueError: {message.replace(chr(27), chr(0xFFFD))}" in [code.value for code in at.code]
    assert "**here**" in [code.value for code in at.code]
    assert not any("127.0.0.1:9" in element.value or "**here**" in element.value for element in at.markdown)


FORGED = [
    *(None, 1, "x", [], {}, {"exercise": []}, {"exercise": "nothing"}, {"exercise": {"a": 1}}),
    *({"answer": 5}, {"answer": []}, {"answer": "x" * 10**6}, {"answer": "[" * 10**5}, {"code": 5}, {"seed": "x"}),
    *({"seed": None}, {"seed": []}, {"code": "x" * 10**6}, {"code": "\x00\ud800\u202e"}, {"exercise": "mask"}),
]


@pytest.mark.parametrize("forged", FORGED, ids=range(len(FORGED)))
def test_a_forged_message_is_a_sentence_or_nothing(forged):
    at = open_page(PAGE)
    if isinstance(forged, dict):
        send(at, EXERCISES["scores"].answer, **forged)
    else:
        at.session_state[EDITOR] = {"sent": forged}
        at.run()
    assert not at.exception
    given(at)["code"].encode()


def test_the_code_is_kept_for_each_exercise_and_comes_back():
    at = open_page(PAGE)
    send(at, EXERCISES["scores"].answer, code="# half of it")
    at.switch_page(str(ROOT / "pages/one_head/mask.py")).run()
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    assert given(at)["code"] == "# half of it"
    at.selectbox(key="exercise").set_value("mask").run()
    assert given(at)["code"] == EXERCISES["mask"].starter


def test_what_the_browser_has_kept_comes_back_and_gives_way_to_what_is_run_next():
    at = open_page(PAGE)
    kept = {"scores": "older", "mask": "mine", "softmax": 5, "attention": "x" * (MOST_CODE + 1), "nothing": "x"}
    at.session_state[CODE_KEEPER] = {"known": {"kept": kept}}
    at.run()
    assert given(at)["code"] == "older"
    send(at, EXERCISES["scores"].answer, code="newer")
    codes = {}
    for key in ("scores", "mask", "softmax", "attention"):
        at.selectbox(key="exercise").set_value(key).run()
        codes[key] = given(at)["code"]
    starters = {key: EXERCISES[key].starter for key in ("softmax", "attention")}
    assert codes == {"scores": "newer", "mask": "mine"} | starters


@pytest.mark.parametrize("forged", [None, 5, "x", [], {"kept": 5}, {"kept": []}, {}])
def test_a_forged_store_is_nothing(forged):
    at = open_page(PAGE)
    at.session_state[CODE_KEEPER] = {"known": forged}
    at.run()
    assert not at.exception and given(at)["code"] == EXERCISES["scores"].starter


def test_no_code_comes_from_a_link():
    at = open_page(PAGE, code="import os", exercise_code_scores="import os", exercise_editor="import os")
    assert given(at)["code"] == EXERCISES["scores"].starter


def test_each_exercise_leads_to_its_lesson():
    for key, exercise in EXERCISES.items():
        at = open_page(PAGE, exercise=key)
        assert at.button(key="exercise_lesson").label.startswith("Lesson: ")
        assert exercise.lesson
