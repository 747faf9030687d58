"""Predict, then look: as a visitor uses it."""

import re

import pytest
from streamlit.testing.v1 import AppTest
from visiting import captions, texts

from attention_core.one_head.masks import causal_mask
from attention_ui.session import COVERED
from lessons.example.example import Example, run_example
from lessons.one_head.mask.lesson import Choices, screen
from lessons.screen import render


def page():
    """A page with one question, whose example, head and name the test can change."""
    import streamlit as st

    from attention_core.one_head.masks import causal_mask
    from attention_ui.page.question import current_question, question_panel
    from lessons.example.example import Example, run_example
    from lessons.one_head.mask import lesson as mask

    trace = run_example(Example(**st.session_state["chosen"]))
    choices = mask.Choices(causal_mask(len(trace.tokens)))
    shown = mask.screen(trace, st.session_state.get("which", 0), choices)
    lesson = st.session_state.get("lesson", "mask")
    question_panel(lesson, current_question(lesson, shown.ask))


def open_question(number=0, **example):
    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["chosen"], at.session_state["mask_question"] = example, number
    at.run()
    assert not at.exception, at.exception
    return at


def current(at, number=0, head=0):
    """The question that must be on the screen."""
    trace = run_example(Example(**at.session_state["chosen"]))
    return screen(trace, head, Choices(causal_mask(len(trace.tokens)))).ask(number)


def answer(at, index, lesson="mask"):
    """Choose A, B, C or D by its index."""
    at.button(key=f"{lesson}_card_{'ABCD'[index]}").click().run()
    assert not at.exception, at.exception


def chosen(at, lesson="mask"):
    return at.session_state[f"{lesson}_answer"]


def asked(at):
    """The prompt and the cards as they are read."""
    cards = [button.label for button in at.button if "_card_" in button.key]
    return [read_plainly(text) for text in (at.header[0].value, *cards)]


def read_plainly(markdown):
    plain = re.sub(r":(?:blue|orange)\[((?:[^\[\]\\]|\\.)*)\]", r"\1", markdown)
    return re.sub(r"\\(.)", r"\1", plain.replace("\u2060", ""))


def wrong(question):
    return (question.right + 1) % len(question.cards)


def another(at, lesson="mask"):
    """Ask for another question; its number."""
    at.button(key=f"{lesson}_another").click().run()
    assert not at.exception, at.exception
    return at.session_state[f"{lesson}_question"]


def judged(at):
    return [text for text in texts(at) if text.startswith(("Yes.", "Not right."))]


def test_nothing_is_revealed_before_choosing():
    at = open_question(number=1)
    question = current(at, number=1)
    answers = [render(card.text) + (f"\n\n{render(card.reason)}" if card.reason else "") for card in question.cards]
    assert asked(at) == [render(question.prompt), *answers]
    assert texts(at) == [render(COVERED)] and chosen(at) is None
    assert not any(render(card.reply) in text for text in texts(at) for card in question.cards)


@pytest.mark.parametrize("number", range(4))
def test_every_card_gets_its_own_reply(number):
    at = open_question()
    at.session_state["mask_question"] = number
    at.run()
    question = current(at, number)
    for index, card in enumerate(question.cards):
        answer(at, index)
        word = "Yes." if index == question.right else "Not right."
        assert judged(at) == [f"{word} {render(card.reply)}"]
        verdicts = [("✓ right" in label, "✗ your guess" in label) for label in asked(at)[1:]]
        said = (True, False) if index == question.right else (False, True)
        assert verdicts == [said if place == index else (False, False) for place in range(len(question.cards))]


def test_another_question_is_another_one_without_a_choice():
    at = open_question()
    for _ in range(4):
        before = asked(at)[0]
        answer(at, 0)
        assert asked(at)[0] == before
        assert render(current(at, another(at)).prompt) == asked(at)[0] != before
        assert chosen(at) is None
        assert not judged(at)


def test_another_question_works_where_there_is_only_one():
    at = open_question(source="sentence", text="hi", d_model=1)
    for _ in range(3):
        another(at)


def test_a_card_that_is_pressed_twice_stays_chosen():
    at = open_question()
    for _ in range(2):
        answer(at, 0)
        assert len(judged(at)) == 1 and chosen(at) == "A"


def test_only_first_tries_are_counted():
    at = open_question()
    assert not any("Right at the first try" in text for text in captions(at))
    answer(at, wrong(current(at)))
    assert "Right at the first try: 0 of 1" in captions(at)
    answer(at, current(at).right)
    assert "Right at the first try: 0 of 1" in captions(at)
    question = current(at, another(at))
    answer(at, question.right)
    assert "Right at the first try: 1 of 2" in captions(at)
    answer(at, wrong(question))
    assert "Right at the first try: 1 of 2" in captions(at)


def test_a_question_that_comes_again_is_not_counted_again():
    at = open_question()
    answer(at, current(at).right)
    for chosen in ({"seed": 5}, {}):
        at.session_state["chosen"] = chosen
        at.run()
    answer(at, wrong(current(at)))
    assert "Right at the first try: 1 of 1" in captions(at)


def test_the_score_is_that_of_all_lessons_together():
    at = open_question()
    answer(at, current(at).right)
    at.session_state["lesson"] = "softmax"
    at.run()
    answer(at, wrong(current(at)), "softmax")
    assert "Right at the first try: 1 of 2" in captions(at)


@pytest.mark.parametrize("change", [{"seed": 7}, {"source": "sentence"}, {"source": "sentence", "text": "one two"}])
def test_another_example_forgets_the_answer(change):
    at = open_question()
    answer(at, current(at).right)
    at.session_state["chosen"] = change
    at.run()
    assert asked(at)[0] == render(current(at).prompt)
    assert chosen(at) is None
    assert not judged(at)


def test_another_head_forgets_the_answer():
    at = open_question(number=2, n_heads=2)
    answer(at, 0)
    at.session_state["which"] = 1
    at.run()
    assert asked(at)[0] == render(current(at, number=2, head=1).prompt)
    assert chosen(at) is None


def test_the_answer_stays_while_the_question_stays():
    at = open_question()
    answer(at, 1)
    at.run()
    assert chosen(at) == "B"


@pytest.mark.parametrize("text", ["<b>bold</b> x", "![x](http://127.0.0.1:9/a.png)", "$x^2$ {0}", ":red[no] **a**"])
def test_a_learners_text_stays_literal(text):
    at = open_question(source="sentence", text=text)
    literal, marked, elsewhere = "", "", ""
    for _ in range(6):
        answer(at, 0)
        literal += "".join([*texts(at), *asked(at)])
        marked += "".join([at.header[0].value, *(button.label for button in at.button)])
        kinds = ("markdown", "latex", "caption", "subheader", "title")
        elsewhere += "".join(str(element.value) for kind in kinds for element in at.get(kind))
        another(at)
    tokens = run_example(Example(source="sentence", text=text)).tokens
    assert any(f"“{token}”" in literal for token in tokens)
    assert not any(f"“{token}”" in elsewhere for token in tokens)
    assert not any(f"“{token}”" in marked for token in tokens if not token.isalnum()), "each sign is made harmless"
