"""Writing on the screen: the text so far, and the newest token with what led to it."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import streamlit as st

from attention_core import generation
from attention_core.generation import MAX_NEW_TOKENS, NewToken, regenerate_last
from attention_core.sampling import Sampling
from attention_ui.page.contents import draw_topic
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.page.lesson_page import Room
from attention_ui.page.question import Ask, current_question, question_panel, question_to_come
from attention_ui.page.words import draw_words
from attention_ui.server.process import outside_turn, redrawn_picture
from attention_ui.session.chart import covered, is_projected, show_notes
from attention_ui.session.kept import KeptByLanguage
from attention_ui.session.links import hidden
from attention_ui.session.state import get_state, set_state
from attention_ui.writing.controls import PLAYED_TO, PLAYS, Request
from attention_ui.writing.growing import GrowingText
from lessons.generate import lesson as generate
from lessons.generate.lesson import Writing, code_of_writing, generate_screen
from lessons.generate.real_writer import RealWriting, code_of_real, real_screen
from lessons.screen.format import render
from lessons.screen.message import message, reason
from lessons.screen.screen import Code, Part, Parts, Screen
from models.shared import UNUSED_SECONDS, Once
from runs.checkpoint import Checkpoint

ADDRESS = "generate"
PLAY_SECONDS = 0.6
MOST_PROJECTED = 11  # tokens of a distribution on a projector, in large letters
CHUNK = 25  # so many tokens are written ahead, so that a step costs nothing
# The question asks for one before the figures do, and so do all visitors: never change one.
WRITINGS: Once[RealWriting] = Once(16, lambda _: 1, UNUSED_SECONDS)
SCREENS: KeptByLanguage[Screen] = KeptByLanguage(16)


@functools.lru_cache(maxsize=32)
def written_ahead(
    checkpoint: Checkpoint, start: tuple[str, ...], length: int, sampling: Sampling, seed: int
) -> tuple[NewToken, ...]:
    """What this model writes; a longer text begins with the shorter one, so whole chunks can be kept.

    How each token was drawn is left out: a dozen texts with it would take megabytes.
    """
    vocabulary = checkpoint.settings.task.vocabulary
    written = generation.generate(checkpoint.model(), vocabulary, start, length, sampling, seed)
    return tuple(NewToken(new.token, new.position, new.first, new.window) for new in written)


def screen_so_far(request: Request, length: int) -> tuple[str, Screen]:
    """The text with so many new tokens, and what there is to see of the newest.

    Raises ValueError for a model with broken weights.
    """
    most = MOST_PROJECTED if is_projected() else None
    if text := request.text:
        with outside_turn():  # a token takes a while: the pages of others need not wait for it
            real = WRITINGS.get((text, length), lambda: text.whole(length))
        return real.text_to_see, SCREENS.get((real, request.head, most), lambda: real_screen(real, request.head, most))
    small = writing_so_far(request, length)
    return small.text_to_see, generate_screen(small, most)


def writing_so_far(request: Request, length: int) -> Writing:
    """The first so many new tokens of a small model. Raises ValueError for one with broken weights."""
    checkpoint, start = request.writer.checkpoint, request.start.tokens
    chunks = min(-(-length // CHUNK) * CHUNK, MAX_NEW_TOKENS)
    written = written_ahead(checkpoint, start, chunks, request.sampling, request.seed)[:length]
    text, vocabulary = (*start, *(new.token for new in written)), checkpoint.settings.task.vocabulary
    newest = regenerate_last(checkpoint.model(), vocabulary, text, length, request.sampling, request.seed)
    return Writing(request.writer.task, start, written, newest, request.sampling, request.seed)


def code_of(request: Request) -> Code:
    """What writes, and with which model, beginning and settings it was asked to."""
    checkpoint, how = request.writer.checkpoint, (request.sampling, request.seed)
    if request.writer.model is not None:
        return code_of_real()
    return code_of_writing(checkpoint.model(), request.writer.task, request.start.tokens, request.length, *how)


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


def in_no_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Tokens as in a dictionary: the order of their probabilities would tell the likeliest."""
    return tuple(sorted(parts, key=lambda part: part.name))


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
