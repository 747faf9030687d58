"""A homework as its student sees it: all stops, what is open, a question of the teacher's own, and the certificate."""

from functools import partial

import streamlit as st

from attention_ui.classroom.homework.homework import (
    forget_certificate,
    go_to_stop,
    leave_homework,
    note,
    now,
    results,
    state_of,
    stop_here,
)
from attention_ui.classroom.plan.notes_view import title_of_stop
from attention_ui.classroom.plan.slides import draw_slide
from attention_ui.classroom.vote.asked import asked_here, text_of_stop
from attention_ui.classroom.vote.view import draw_prompt
from attention_ui.controls.bound import limited_field
from attention_ui.page.progress import progress
from attention_ui.page.question import LETTERS, card_label, row_of_cards
from attention_ui.session import get_state, link_notes, literal, offer, set_state, show_notes
from lessons.screen import format_value, message, plural, reason, render, translate
from lessons.teachers.class_plan.own_question import KINDS, OwnQuestion, answer_of
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.homework.certificate import MOST_NAME, certificate_of, file_of, written_certificate
from lessons.teachers.homework.stops import Result
from lessons.teachers.homework.table import NO_NAME

MOST_PROMPT_IN_LIST = 40  # characters
WHAT_IT_SAYS = message(
    "The certificate says what you solved, on which try, when, and with which numbers, and which questions you got "
    "wrong at first. Hand it in as your teacher asks."
)


def homework_view(plan: Plan) -> None:
    """The list of its stops with the certificate below it, or the question of the stop one is at."""
    place = stop_here(plan)
    show_notes(*link_notes())
    st.title(translate("Homework"), anchor=False)
    if plan.title:
        with st.container(key="homework_title"):
            st.text(plan.title)
    if place is not None and (own := plan.stops[place].own) is not None:
        own_question(plan, place, own)
    elif place is not None and plan.stops[place].is_slide:
        draw_slide(plan.stops[place])
    else:
        list_of_stops(plan, results(plan))
        certificate_panel(plan, results(plan))


def list_of_stops(plan: Plan, done: list[Result]) -> None:
    """Every stop with what is to be done there or how far it is, and a button to the first that is open."""
    following = next((place for place, result in enumerate(done) if not result.finished), None)
    st.text(
        translate(
            "Go from stop to stop, in one go or on several days: this browser keeps what you have solved. At the end "
            "you save a certificate."
        )
    )
    if following is not None:
        begun = any(result.how != "open" for result in done)
        label = translate("Go on with stop {place}", place=following + 1) if begun else translate("Begin")
        if st.button(label, key="homework_go_on", type="primary"):
            go_to_stop(plan, following)
    with st.container(key="homework_stops", gap="xxsmall"):
        for place, (stop, result) in enumerate(zip(plan.stops, done, strict=True)):
            sign = "✓ " if result.finished else ""
            title = shortened(stop.text if stop.own is None else stop.own.prompt) or title_of_stop(stop)
            label = f"{place + 1} · {title} · {sign}{state_of(stop, result)}"
            if st.button(literal(label), key=f"homework_stop_{place}", type="tertiary"):
                go_to_stop(plan, place)


def shortened(prompt: str) -> str:
    """The beginning of a question or a text."""
    return prompt if len(prompt) <= MOST_PROMPT_IN_LIST else f"{prompt[:MOST_PROMPT_IN_LIST]}…"


def certificate_panel(plan: Plan, done: list[Result]) -> None:
    """The name, if one likes, and the file."""
    st.subheader(translate("Your certificate"), anchor=False)
    left = sum(not result.finished for result in done)
    if left:
        st.text(
            render(
                plural(
                    "{count} stop is still open. You can save it now, and again later.",
                    "{count} stops are still open. You can save it now, and again later.",
                    left,
                )
            )
        )
    st.caption(render(WHAT_IT_SAYS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = translate("Your name, if your teacher wants it")
        limited_field(st.text_input, label, "homework_name", MOST_NAME, forget_certificate, width=320)
        st.button(translate("Make the certificate"), key="homework_make", on_click=make_certificate, args=(plan,))
    made = get_state("homework_made")
    if made is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(made.name or render(NO_NAME), width="content")
            offer(
                translate("Save the certificate"),
                partial(written_certificate, made),
                file_of(made),
                "application/json",
                key="certificate_json",
            )
    st.button(translate("Leave this homework"), key="homework_leave", on_click=leave_homework, type="tertiary")


def make_certificate(plan: Plan) -> None:
    """Make it of what is typed and solved by now. A file that is made when it is saved would miss the name typed last:
    that press comes before the page has heard of it.
    """
    name, solved = str(get_state("homework_name") or ""), progress()
    made = certificate_of(plan, name, now(), solved.homework, solved.exercises, solved.levels, asks)
    set_state("homework_made", made)


def asks(stop: Stop) -> str:
    """What a stop asks; nothing where it cannot be asked on this machine."""
    try:
        question = asked_here(text_of_stop(stop)).question
    except (ValueError, LookupError):
        return ""
    return "" if question is None else render(question.prompt)


def own_question(plan: Plan, place: int, own: OwnQuestion) -> None:
    """A question of the teacher's own: cards to press, or a field to write in; below it what is said to the answer."""
    asked = asked_here(text_of_stop(plan.stops[place]))
    draw_prompt(asked)
    chosen, said = get_state(f"homework_chosen_{place}"), get_state(f"homework_said_{place}")
    if own.is_written:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label = format_value(KINDS[own.kind]).capitalize()
            st.text_input(label, key=f"homework_written_{place}", width=320)
            send = {"on_click": answer_in_words, "args": (plan, place, own)}
            st.button(translate("Answer"), key="homework_send", type="primary", **send)
    else:
        with st.container(key=row_of_cards("class", asked.question)):
            for card, (letter, shown) in enumerate(zip(LETTERS, asked.question.cards, strict=False)):
                st.button(
                    f"{letter} · {card_label(shown, '')}",
                    key=f"homework_card_{letter}",
                    on_click=answer_by_card,
                    args=(plan, place, own, card),
                    type="primary" if card == chosen else "secondary",
                    width="stretch",
                )
    if said is not None:
        st.text(format_value(said))


def answer_by_card(plan: Plan, place: int, own: OwnQuestion, card: int) -> None:
    """A card was pressed. In a poll, no answer is wrong."""
    set_state(f"homework_chosen_{place}", card)
    set_state(f"homework_said_{place}", own.reply(card))
    note(plan, place, "done" if own.right is None else "right" if card == own.right else "wrong")


def answer_in_words(plan: Plan, place: int, own: OwnQuestion) -> None:
    """A number or a word was written; where a number is right, others are not."""
    try:
        answer = answer_of(own, str(get_state(f"homework_written_{place}") or ""))
    except ValueError as error:
        set_state(f"homework_said_{place}", reason(error))
        return
    if own.number is None:
        note(plan, place, "done")
        set_state(f"homework_said_{place}", message("Your answer is noted: {answer}", answer=answer))
        return
    right = own.fits(answer)
    note(plan, place, "right" if right else "wrong")
    set_state(f"homework_said_{place}", message("That is right.") if right else message("That is not right."))
