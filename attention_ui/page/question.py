"""Predict, then look: a question about the numbers on this page, and a reply to every card."""

from collections.abc import Callable

import streamlit as st

from attention_ui.controls.bound import switch
from attention_ui.page.progress import solve_question
from attention_ui.session import (
    COVER,
    COVERED,
    ROLE_COLOURS,
    covered,
    get_state,
    hidden,
    marked,
    room_for,
    set_state,
    thinks_first,
    uncover,
)
from lessons.screen import (
    LETTERS,
    QUESTION_STEPS,
    Card,
    Message,
    Question,
    as_text,
    message,
    render,
    render_all,
    translate,
)

RIGHT = message("✓ right")
SAYS = {True: message("Yes."), False: message("Not right.")}
SHOW_NOW = message("Show them now")
VERDICTS = {"right": RIGHT, "wrong": message("✗ your guess")}
MOST_SKIPPED = 20
# What a class and a homework add to the questions of a visit: what is drawn below each, and what notes an answer.
BELOW, WHEN_ANSWERED = "below_question", "when_answered"
SHORT = 14  # letters of a card, of which two stand side by side on a phone

Ask = Callable[[int], Question]  # from a number to a question; the same number gives the same question


def question_panel(lesson: str, question: Question, *, cover: bool = True, offered: bool = True) -> None:
    """Draw one question about the current tensors; nothing is revealed before something is chosen.

    With `cover`, the question is that of the whole page, and its figures can be covered until something is chosen; the
    switch for that is not `offered` where no answer stands in a figure.
    """
    if hidden("predict"):
        return
    with st.container(gap="small", key=f"{lesson}_quiz"):
        draw_steps_of(question)
        st.header(marked(question.prompt, ROLE_COLOURS), anchor=False)
        chosen = chosen_card(lesson, question)
        draw_cards(lesson, question, chosen)
        replies = [
            [render_all([SAYS[place == question.right], card.reply])] for place, card in enumerate(question.cards)
        ]
        waits = [[render(COVERED), render(SHOW_NOW)]] if cover and question.in_figure and thinks_first() else []
        with room_for("reply", [*replies, *waits]):
            if chosen is not None:
                reveal(lesson, question, chosen)
            elif cover and covered(lesson):
                say_covered(lesson)
        go_on_to_another(lesson)
        if draw_below := get_state(BELOW):
            draw_below(lesson)
    if cover and offered:
        cover_switch()


def question_to_come(lesson: str, why: Message) -> None:
    """The place of a question that cannot be asked yet, and why."""
    if hidden("predict"):
        return
    with st.container(key=f"{lesson}_quiz"):
        st.text(render(why))
    cover_switch()


def draw_steps_of(question: Question) -> None:
    """The three steps, in our own words alone; the one of this question is bold."""
    steps = (f"**{render(name)}**" if step == question.step else render(name) for step, name in QUESTION_STEPS.items())
    with st.container(key="steps_of_question"):
        st.markdown("\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1)))


def go_on_to_another(lesson: str) -> None:
    """A button to another question, and how many were answered rightly at the first try."""
    left = get_state(f"{lesson}_question") or 0
    another = {"on_click": set_state, "args": (f"{lesson}_left", left)}
    look = "secondary" if is_answered(lesson) else "tertiary"
    st.button(translate("Another question"), key=f"{lesson}_another", type=look, **another)
    tries = first_tries()
    count = translate("Right at the first try: {right} of {all}", right=sum(tries.values()), all=len(tries))
    with room_for("tries", [[count]], width="content"):
        if tries:
            st.caption(count, width="content")


def chosen_card(lesson: str, question: Question) -> int | None:
    """The index of the card that was chosen, if one was."""
    letter = get_state(f"{lesson}_answer")
    return LETTERS.index(letter) if letter in list(LETTERS[: len(question.cards)]) else None


def reply_to_choice(lesson: str, question: Question) -> Message | None:
    """What is said to the card that was chosen, if one was."""
    chosen = chosen_card(lesson, question)
    return None if chosen is None else question.cards[chosen].reply


def say_covered(lesson: str) -> None:
    """Say that the numbers wait for an answer, with a button that shows those of this question at once."""
    with st.container(horizontal=True, vertical_alignment="center", key="covered"):
        st.text(render(COVERED))
        st.button(render(SHOW_NOW), key="show_numbers", on_click=uncover, args=(lesson,), type="tertiary")


def is_answered(lesson: str) -> bool:
    """True where a card of the question that this page asks now was chosen."""
    return get_state(f"{lesson}_answer") is not None


def draw_cards(lesson: str, question: Question, chosen: int | None) -> None:
    """A large button for each answer; the one that was chosen says, in a word and a sign, what it was."""
    right = "open" if chosen is None else "right" if chosen == question.right else "wrong"
    with st.container(key=row_of_cards(right, question)):
        for index, (letter, card) in enumerate(zip(LETTERS, question.cards, strict=False)):
            st.button(
                card_label(card, render(VERDICTS[right]) if index == chosen else ""),
                key=f"{lesson}_card_{letter}",
                on_click=choose_card,
                args=(lesson, letter, index == question.right),
                type="primary" if index == chosen else "secondary",
                width="stretch",
            )


def row_of_cards(state: str, question: Question) -> str:
    """The key of the row in which cards stand: its style knows how many places it needs before the first card comes."""
    short = all(card.reason is None and len(render(card.text)) <= SHORT for card in question.cards)
    return f"cards_{state}_of_{len(question.cards)}{'_short' if short else ''}"


def choose_card(lesson: str, letter: str, right: bool) -> None:
    """What happens when a card is pressed. The right one solves the question, known before the page is drawn."""
    set_state(f"{lesson}_answer", letter)
    if right:
        solve_question(lesson)
    if note_answer := get_state(WHEN_ANSWERED):
        note_answer(lesson, get_state(f"{lesson}_asked"), right)


def card_label(card: Card, verdict: str) -> str:
    """What stands on a card: the answer, the thought that leads to it, and what it was."""
    lines = (marked(card.text), marked(card.reason) if card.reason is not None else "", verdict)
    return "\n\n".join(line for line in lines if line)


def cover_switch() -> None:
    """Whether figures wait for an answer. What it says is kept: for the next page, and across pages without it."""
    if get_state(COVER.name) is None and get_state("covering") is False:
        set_state(COVER.name, False)
    with st.sidebar:
        set_state("covering", switch(COVER))


def current_question(lesson: str, ask: Ask) -> Question:
    """The question of this page, known before its figures are drawn: it says whether they wait for its answer.

    Where it is another one by now, the old choice is forgotten.
    """
    question = ask(question_number(lesson, ask))
    asked = as_text(question)
    if get_state(f"{lesson}_asked") != asked:
        set_state(f"{lesson}_asked", asked)
        set_state(f"{lesson}_answer", None)
    set_state(f"{lesson}_in_figure", question.in_figure)
    return question


def reveal(lesson: str, question: Question, chosen: int) -> None:
    """Say whether it is right and why. Only the first choice counts; trying on is free."""
    right = chosen == question.right
    uncover(lesson)
    first_tries().setdefault((lesson, as_text(question)), right)
    st.text(render_all([SAYS[right], question.cards[chosen].reply]))


def first_tries() -> dict[tuple[str, str], bool]:
    """The questions this visitor has answered, and whether the first choice was right."""
    if get_state("first_tries") is None:
        set_state("first_tries", {})
    return get_state("first_tries")


def question_number(lesson: str, ask: Ask) -> int:
    """The number of the question to ask: another where the button left the last one behind.

    The button itself must not hold `ask`: a visit keeps its buttons to its end, and with it all that they hold.
    """
    count = get_state(f"{lesson}_question") or 0
    if get_state(f"{lesson}_left") == count:
        count = number_after(count, ask)
        set_state(f"{lesson}_question", count)
    return count


def number_after(count: int, ask: Ask) -> int:
    """The next number whose question is another one, where there is another."""
    prompt = render(ask(count).prompt)
    numbers = range(count + 1, count + 1 + MOST_SKIPPED)
    return next((number for number in numbers if render(ask(number).prompt) != prompt), count + 1)
