"""Predict, then look: a question about the numbers on this page, and an answer to every choice."""

from collections.abc import Callable, Hashable

import streamlit as st

from attention_ui.lesson import cover_switch
from attention_ui.links import hidden
from attention_ui.state import get_state, set_state, state_default
from lessons.questions.old_base import Question

LETTERS = "ABCD"
MOST_SKIPPED = 20

Asking = Callable[[int], Question]  # from a number to a question; the same number gives the same question


def predict_about(lesson: str, asking: Asking, about: Hashable, *, cover: bool = False) -> None:
    """Draw one question about the current tensors; nothing is revealed before something is chosen.

    `about` says which tensors these are: where it changes, the old choice is forgotten. With `cover`, the figures
    of the page can be covered until then.
    """
    if hidden("predict"):
        return
    count = question_number(lesson, asking)
    question = asking(count)
    forget_old_choice(lesson, (about, count))
    with st.container(border=True, gap="small", key=f"{lesson}_quiz"):
        st.subheader("Predict, then look", anchor=False)
        st.text(question.prompt)
        choices = zip(LETTERS, question.choices, strict=False)
        st.text("\n".join(f"{letter}  {choice.text}" for letter, choice in choices))
        letters = list(LETTERS[: len(question.choices)])
        chosen = st.segmented_control("Your prediction", letters, key=f"{lesson}_answer", label_visibility="collapsed")
        if chosen in letters:  # a forged message may name what is none
            reveal(lesson, question, LETTERS.index(chosen))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Another question", key=f"{lesson}_another", on_click=set_state, args=(f"{lesson}_left", count))
            show_score()
            if cover:
                cover_switch()


def forget_old_choice(lesson: str, asked: tuple) -> None:
    """Clear the choice where it was made for another question."""
    if get_state(f"{lesson}_asked") != asked:
        set_state(f"{lesson}_asked", asked)
        seen_too_early = get_state("cover") and get_state(f"{lesson}_answer") is not None
        set_state(f"{lesson}_answer", None)
        if seen_too_early:  # the figure above was drawn for the old choice, so it shows the answer
            st.rerun()


def reveal(lesson: str, question: Question, chosen: int) -> None:
    """Say whether it is right and why. Only the first choice counts; trying on is free."""
    right = chosen == question.right
    first_tries().setdefault((lesson, question), right)
    st.text(f"{'Yes.' if right else 'Not quite.'} {question.choices[chosen].answer_to_it}")


def first_tries() -> dict[tuple[str, Question], bool]:
    """The questions this visitor has answered, and whether the first choice was right."""
    return state_default("first_tries", dict)


def show_score() -> None:
    """How many first choices were right, once there is one."""
    tries = first_tries()
    if tries:
        st.text(f"{sum(tries.values())} of {len(tries)} first tries")


def question_number(lesson: str, asking: Asking) -> int:
    """The number of the question to ask: another where the button left the last one behind.

    The button itself must not hold `asking`: a visit keeps its buttons to its end, and with it all that they hold.
    """
    count = get_state(f"{lesson}_question") or 0
    if get_state(f"{lesson}_left") == count:
        count = number_after(count, asking)
        set_state(f"{lesson}_question", count)
    return count


def number_after(count: int, asking: Asking) -> int:
    """The next number whose question is another one, where there is another."""
    prompt = asking(count).prompt
    numbers = range(count + 1, count + 1 + MOST_SKIPPED)
    return next((number for number in numbers if asking(number).prompt != prompt), count + 1)
