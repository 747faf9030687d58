"""Writing on the screen: the text so far, and the newest token with what led to it."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from attention_core.model.generation import MAX_NEW_TOKENS
from attention_ui.contents import draw_topic
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.page.lesson_page import Room
from attention_ui.page.question import Ask, current_question, question_panel, question_to_come
from attention_ui.page.words import draw_words
from attention_ui.process.turns import outside_turn, redrawn_picture
from attention_ui.session import covered, get_state, hidden, set_state, show_notes
from attention_ui.writing.controls import PLAYED_TO, PLAYS, Request
from attention_ui.writing.growing import GrowingText
from attention_ui.writing.screens import screen_so_far
from lessons.model.generate import lesson as generate
from lessons.model.generate.lesson import in_no_order
from lessons.screen import Parts, message, reason, render

ADDRESS = "generate"
PLAY_SECONDS = 0.6


def grown(text: GrowingText, length: int) -> bool:
    """Go on with the text for a moment; whether it has so many new tokens by then."""
    with outside_turn():
        text.write_for_a_moment(length)
    return text.written(length) == length


def live_writing(request: Request, room: Room) -> None:
    """The text and the newest token, in place while it plays or grows; beside it, where it stands still, what is asked
    of it.

    The distribution over the next token is the question, so its numbers wait until that is answered.
    """
    playing, text = bool(get_state(PLAYS)), request.text
    grows = not playing and text is not None and not grown(text, request.length)
    ask = None if playing or grows else asks_about_newest(request)
    question = ask and current_question(ADDRESS, ask)
    asks = question is not None and not hidden("predict")
    with room.topic:
        draw_topic(generate)
    with room.question:
        if asks:
            question_panel(ADDRESS, question)
        elif grows:
            question_to_come(ADDRESS, message("The model is still writing; the question comes with the last token."))
        draw_words(ADDRESS)
    with room.stage:
        grows_on, every = (text, itertools.count()) if grows else None, PLAY_SECONDS if playing or grows else None
        st.fragment(draw_writing, run_every=every)(request, playing, grows_on)


def asks_about_newest(request: Request) -> Ask | None:
    """What asks about the newest token; None where nothing is written."""
    try:
        return screen_so_far(request, request.length)[1].ask
    except ValueError:
        return None


def draw_writing(request: Request, playing: bool, growing: tuple[GrowingText, Iterator[int]] | None) -> None:
    """One refresh: of a text that plays, one token more; of one that is `growing`, what has been written of it since.

    What is to be seen at the next refresh is written once this one is drawn: what waits to be drawn is grey. At the end
    the page is drawn anew, for its buttons and the question.
    """
    if playing:
        draw_played(request)
        return
    with redrawn_picture():
        draw_text_of(request, growing[0].written(request.length) if growing else request.length)
    if growing and next(growing[1]) and grown(growing[0], request.length):
        st.rerun()


def draw_played(request: Request) -> None:
    """One more token; the longest text ends the play."""
    length = min((get_state(PLAYED_TO) or 1) + 1, MAX_NEW_TOKENS)
    with redrawn_picture():
        writes = draw_text_of(request, length)
    if writes:
        set_state(PLAYED_TO, length)
        if length == MAX_NEW_TOKENS:
            set_state(PLAYS, False)
            st.rerun()


def draw_text_of(request: Request, length: int) -> bool:
    """The text up to here, and how its last token was drawn; False, and a sentence, where the model is broken."""
    try:
        text, screen = screen_so_far(request, length)
    except ValueError as error:
        show_notes(message("This model cannot write: {why}.", why=reason(error)))
        return False
    with st.container(key="written"):
        st.code(text, language=None, wrap_lines=True)
    waits = ADDRESS if not get_state(PLAYS) and covered(ADDRESS) else None
    for figure in screen.figures:
        lesson = None  # what the heads looked at tells nothing
        if waits and isinstance(figure, Parts):
            lesson, figure = waits, replace(figure, parts=in_no_order(figure.parts))
        draw_figure(lesson, figure)
        draw_notice(lesson, figure.notice, charts_below=False)
    for remark in screen.remarks:
        st.text(render(remark))
    return True
