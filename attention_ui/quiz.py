"""Predict, then look: a question about the numbers on this page, and an answer to every choice."""

import streamlit as st

from attention_core.examples import ExampleTrace
from attention_core.quiz import Question, ask
from attention_ui.session import hidden, keep, recall, remembered

LETTERS = "ABCD"
MOST_SKIPPED = 20


def predict(lesson: str, trace: ExampleTrace, head: int) -> None:
    """Draw one question about the current tensors; nothing is revealed before something is chosen.

    Another example or head makes another question, and the old choice is forgotten.
    """
    if hidden("predict"):
        return
    count = recall(f"{lesson}_question") or 0
    question = ask(lesson, trace, head, count)
    forget_old_choice(lesson, (trace.example, head, count))
    with st.container(border=True, gap="small", key=f"{lesson}_quiz"):
        st.subheader("Predict, then look", anchor=False)
        st.text(question.prompt)
        with st.container(gap="xxsmall"):
            for letter, choice in zip(LETTERS, question.choices, strict=False):
                st.text(f"{letter}  {choice.text}")
        chosen = st.segmented_control(
            "Your prediction",
            list(LETTERS[: len(question.choices)]),
            key=f"{lesson}_answer",
            label_visibility="collapsed",
        )
        if chosen is not None:
            reveal(lesson, question, LETTERS.index(chosen))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Another question", key=f"{lesson}_another", on_click=go_on, args=(lesson, trace, head, count))
            show_score()


def forget_old_choice(lesson: str, asked: tuple) -> None:
    """Clear the choice where it was made for another question."""
    if recall(f"{lesson}_asked") != asked:
        keep(f"{lesson}_asked", asked)
        keep(f"{lesson}_answer", None)


def reveal(lesson: str, question: Question, chosen: int) -> None:
    """Say whether it is right and why. Only the first choice counts; trying on is free."""
    right = chosen == question.right
    first_tries().setdefault((lesson, question), right)
    st.text(f"{'Yes.' if right else 'Not quite.'} {question.choices[chosen].answer_to_it}")


def first_tries() -> dict[tuple[str, Question], bool]:
    """The questions this visitor has answered, and whether the first choice was right."""
    return remembered("first_tries", dict)


def show_score() -> None:
    """How many first choices were right, once there is one."""
    tries = first_tries()
    if tries:
        st.text(f"{sum(tries.values())} of {len(tries)} first tries")


def go_on(lesson: str, trace: ExampleTrace, head: int, count: int) -> None:
    """Move to the next number whose question is another one, where there is another."""
    prompt = ask(lesson, trace, head, count).prompt
    numbers = range(count + 1, count + 1 + MOST_SKIPPED)
    other = (number for number in numbers if ask(lesson, trace, head, number).prompt != prompt)
    keep(f"{lesson}_question", next(other, count + 1))
