"""Predict, then look: as a visitor uses it."""

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core.generation import GeneratedToken
from attention_core.randomness import generator
from attention_core.sampling import Sampling, draw_token
from attention_core.tokens import Vocabulary
from lessons.example import Example, run_example
from lessons.heads_example import heads_example, run_heads
from lessons.questions import OWN_QUESTIONS, QUESTIONS, ask
from lessons.questions.generate import Moment, ask_about_writing

LESSONS = [*QUESTIONS, *OWN_QUESTIONS, "generate"]


def page():
    """A page with one question, whose example and head the test can change."""
    import streamlit as st

    from attention_ui.quiz import predict
    from lessons.example import Example, run_example

    chosen = st.session_state.get("chosen", {})
    lesson, head = st.session_state.get("lesson", "projections"), st.session_state.get("which", 0)
    predict(lesson, run_example(Example(**chosen)), head)


def asking(lesson, trace):
    """What asks the questions of a lesson, about whatever that lesson looks at."""
    if lesson == "generate":
        vocabulary, sampling = Vocabulary(tuple(" dehlorw")), Sampling()
        draw = draw_token(torch.linspace(-2, 3, 8, dtype=torch.float64), sampling, generator(trace.example.seed))
        looks = (torch.full((2, 7), 1 / 7),)
        new = GeneratedToken(vocabulary.tokens[draw.token], 7, 0, tuple("hello w"), draw, looks)
        return lambda number: ask_about_writing(Moment(new, vocabulary, sampling), number)
    about = trace
    if lesson == "heads":
        about = run_heads(heads_example(trace, "sentence"))
    return lambda number: ask(lesson, about, 0, number)


def page_of_any_lesson():
    """A page with one question, asked by what the test puts into the session."""
    import streamlit as st

    from attention_ui.quiz import predict_about

    predict_about(st.session_state["lesson"], st.session_state["asking"], "the same tensors")


def open_lesson(lesson):
    """The question of any lesson on the screen."""
    at = AppTest.from_function(page_of_any_lesson, default_timeout=30)
    at.session_state["lesson"], at.session_state["asking"] = lesson, asking(lesson, run_example(Example()))
    at.run()
    assert not at.exception, at.exception
    return at


def open_quiz(lesson="projections", **example):
    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["lesson"], at.session_state["chosen"] = lesson, example
    at.run()
    assert not at.exception, at.exception
    return at


def current(at, number=0):
    """The question that must be on the screen."""
    state = at.session_state
    return ask(state["lesson"], run_example(Example(**state["chosen"])), 0, number)


def texts(at):
    return [element.value for element in at.text]


def answer(at, place, lesson="projections"):
    """Choose A, B, C or D by its place."""
    at.segmented_control(key=f"{lesson}_answer").set_value("ABCD"[place]).run()
    assert not at.exception, at.exception


def wrong_place(question):
    return (question.right + 1) % len(question.choices)


def number(at, lesson="projections"):
    return at.session_state[f"{lesson}_question"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_is_revealed_before_choosing(lesson):
    at = open_lesson(lesson)
    question = at.session_state["asking"](0)
    lines = [f"{letter}  {choice.text}" for letter, choice in zip("ABCD", question.choices, strict=False)]
    assert texts(at) == [question.prompt, "\n".join(lines)]
    assert at.subheader[0].value == "Predict, then look"
    assert at.segmented_control(key=f"{lesson}_answer").value is None
    assert not any(choice.answer_to_it in text for text in texts(at) for choice in question.choices)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_choice_gets_its_own_sentence(lesson):
    at = open_lesson(lesson)
    question = at.session_state["asking"](0)
    for place, choice in enumerate(question.choices):
        answer(at, place, lesson)
        word = "Yes." if place == question.right else "Not quite."
        assert f"{word} {choice.answer_to_it}" in texts(at)
        assert sum(text.startswith(("Yes.", "Not quite.")) for text in texts(at)) == 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_another_question_of_any_lesson_is_another_one(lesson):
    at = open_lesson(lesson)
    before = texts(at)[0]
    answer(at, 0, lesson)
    at.button(key=f"{lesson}_another").click().run()
    question = at.session_state["asking"](number(at, lesson))
    assert texts(at)[0] == question.prompt != before
    assert at.segmented_control(key=f"{lesson}_answer").value is None


def test_a_choice_can_be_taken_back():
    at = open_quiz()
    answer(at, 0)
    at.segmented_control(key="projections_answer").set_value(None).run()
    assert not any(text.startswith(("Yes.", "Not quite.")) for text in texts(at))


def test_only_first_tries_are_counted():
    at = open_quiz()
    question = current(at)
    assert not any("first tries" in text for text in texts(at))
    answer(at, wrong_place(question))
    assert texts(at)[-1] == "0 of 1 first tries"
    answer(at, question.right)
    assert texts(at)[-1] == "0 of 1 first tries"
    at.button(key="projections_another").click().run()
    question = current(at, number(at))
    answer(at, question.right)
    assert texts(at)[-1] == "1 of 2 first tries"
    answer(at, wrong_place(question))
    assert texts(at)[-1] == "1 of 2 first tries"


def test_a_question_that_comes_again_is_not_counted_again():
    at = open_quiz()
    answer(at, current(at).right)
    at.session_state["chosen"] = {"d_k": 5}
    at.run()
    at.session_state["chosen"] = {}
    at.run()
    answer(at, wrong_place(current(at)))
    assert texts(at)[-1] == "1 of 1 first tries"


def test_the_score_is_that_of_all_lessons_together():
    at = open_quiz("output")
    answer(at, current(at).right, "output")
    at.session_state["lesson"] = "scores"
    at.run()
    answer(at, wrong_place(current(at)), "scores")
    assert texts(at)[-1] == "1 of 2 first tries"


def test_another_question_is_another_question_without_a_choice():
    at = open_quiz("tokens")
    for _ in range(4):
        before = texts(at)[0]
        answer(at, 0, "tokens")
        at.button(key="tokens_another").click().run()
        assert texts(at)[0] == current(at, number(at, "tokens")).prompt != before
        assert at.segmented_control(key="tokens_answer").value is None
        assert not any(text.startswith(("Yes.", "Not quite.")) for text in texts(at))


def test_another_question_works_where_there_are_few():
    at = open_quiz("tokens", source="sentence", text="hi", d_model=1)
    for _ in range(3):
        at.button(key="tokens_another").click().run()
        assert not at.exception


@pytest.mark.parametrize("change", [{"seed": 7}, {"causal": False}, {"source": "sentence"}, {"d_v": 5}])
def test_another_example_forgets_the_answer(change):
    at = open_quiz()
    answer(at, current(at).right)
    at.session_state["chosen"] = change
    at.run()
    assert texts(at)[0] == current(at).prompt
    assert at.segmented_control(key="projections_answer").value is None
    assert not any(text.startswith(("Yes.", "Not quite.")) for text in texts(at))


def test_another_head_forgets_the_answer():
    at = open_quiz(n_heads=2)
    answer(at, 0)
    at.session_state["which"] = 1
    at.run()
    assert at.segmented_control(key="projections_answer").value is None


def test_the_answer_stays_while_the_question_stays():
    at = open_quiz()
    answer(at, 1)
    at.run()
    assert at.segmented_control(key="projections_answer").value == "B"


@pytest.mark.parametrize("text", ["<b>bold</b> x", "![x](http://127.0.0.1:9/a.png)", "$x^2$ {0}", ":red[no] **a**"])
def test_a_learners_text_stays_literal(text):
    at = open_quiz("tokens", source="sentence", text=text)
    trace = run_example(Example(source="sentence", text=text))
    literal, markup = "", ""
    for _ in range(6):
        answer(at, 0, "tokens")
        literal += "".join(texts(at))
        kinds = ("markdown", "latex", "caption", "title", "subheader", "heading")
        markup += "".join(str(element.value) for kind in kinds for element in at.get(kind))
        assert at.segmented_control(key="tokens_answer").options == list("ABCD")[: len(current_options(at))]
        at.button(key="tokens_another").click().run()
    assert any(f"“{token}”" in literal for token in trace.tokens)
    assert not any(f"“{token}”" in markup for token in trace.tokens)


def current_options(at):
    """The lines that are shown as choices."""
    (choices,) = (text for text in texts(at) if text.startswith("A  "))
    return choices.split("\n")
