"""Writing on the screen: the text so far, and the newest character with what led to it."""

import functools

import streamlit as st

from attention_core.generation import MAX_NEW_TOKENS, GeneratedToken, NewToken, generate, regenerate_last
from attention_core.sampling import Sampling
from attention_ui.figures.template import template
from attention_ui.figures.writing import (
    MOST_NUMBERED_COLUMNS,
    distribution_chart,
    distribution_table,
    looks_columns,
    looks_table,
)
from attention_ui.lesson import LARGER, grid_template, show_chart, show_notes
from attention_ui.services import moving_picture
from attention_ui.state import get_state, set_state
from attention_ui.writing_controls import PLAYED_TO, PLAYS, Request
from lessons.questions.generate import Moment
from lessons.writing import draw_caption, draw_in_words, look_caption, steps_caption, unseen_caption, window_caption
from runs.checkpoint import Checkpoint

PLAY_SECONDS = 0.6
CHUNK = 25  # so many characters are written ahead, so that a step costs nothing
BARS_WIDTH, LOOKS_WIDTH = 580, 400
TALL, LOW = 22, 15
MOST_TALL_ROWS = 16


@functools.lru_cache(maxsize=32)
def written_ahead(
    checkpoint: Checkpoint, start: tuple[str, ...], length: int, sampling: Sampling, seed: int
) -> tuple[NewToken, ...]:
    """What this model writes; a longer text begins with the shorter one, so whole chunks can be kept.

    How each token was drawn is left out: a dozen texts with it would take megabytes.
    """
    written = generate(checkpoint.model(), checkpoint.settings.task.vocabulary, start, length, sampling, seed)
    return tuple(NewToken(new.token, new.position, new.first, new.window) for new in written)


def written(request: Request, length: int) -> tuple[NewToken, ...]:
    """The first so many new characters. Raises ValueError for a model with broken weights."""
    chunks = min(-(-length // CHUNK) * CHUNK, MAX_NEW_TOKENS)
    ahead = written_ahead(request.writer.checkpoint, request.start.tokens, chunks, request.sampling, request.seed)
    return ahead[:length]


def newest(request: Request, tokens: tuple[NewToken, ...]) -> GeneratedToken:
    """The last of these new characters with all that led to it."""
    checkpoint = request.writer.checkpoint
    vocabulary, text = checkpoint.settings.task.vocabulary, text_of(request, tokens)
    return regenerate_last(checkpoint.model(), vocabulary, text, len(tokens), request.sampling, request.seed)


def text_of(request: Request, tokens: tuple[NewToken, ...]) -> tuple[str, ...]:
    """The start and these new characters."""
    return (*request.start.tokens, *(new.token for new in tokens))


def live_writing(request: Request) -> Moment | None:
    """The text and the newest character, in place while it plays. None while it plays, and where nothing is written."""
    playing = bool(get_state(PLAYS))
    st.fragment(draw_writing, run_every=PLAY_SECONDS if playing else None)(request, playing)
    if playing:
        return None
    try:
        new = newest(request, written(request, request.length))
    except ValueError:
        return None
    return Moment(new, request.writer.checkpoint.settings.task.vocabulary, request.sampling)


def draw_text_of(request: Request, length: int) -> bool:
    """The text up to here, and how its last token was drawn; False, and a sentence, where the model cannot write."""
    try:
        tokens = written(request, length)
    except ValueError as error:
        show_notes(f"This model cannot write: {error}.")
        return False
    new = newest(request, tokens)
    st.code("".join(text_of(request, tokens)), language=None, wrap_lines=True)
    left, right = (st.container(), st.container()) if get_state("large") else st.columns([BARS_WIDTH, LOOKS_WIDTH])
    with left:
        draw_distribution(request, new)
    with right:
        draw_looks(new)
    task = request.writer.checkpoint.settings.task
    st.text(steps_caption(request.start.tokens, tokens, task))
    st.text(unseen_caption(tokens, task))
    return True


def draw_writing(request: Request, playing: bool) -> None:
    """One refresh. At the end of the longest text the page is drawn anew, for its buttons."""
    length = (get_state(PLAYED_TO) or 1) + 1 if playing else request.length
    length = min(length, MAX_NEW_TOKENS)
    with moving_picture():
        writes = draw_text_of(request, length)
    if playing and writes:
        set_state(PLAYED_TO, length)
        if length == MAX_NEW_TOKENS:
            set_state(PLAYS, False)
            st.rerun()


def draw_distribution(request: Request, new: GeneratedToken) -> None:
    """The bars of the whole vocabulary."""
    caption = draw_caption(new, request.sampling)
    st.text(caption)
    vocabulary = request.writer.checkpoint.settings.task.vocabulary
    step = TALL if len(vocabulary) <= MOST_TALL_ROWS else LOW
    size = LARGER if get_state("large") else 10
    chart = template(distribution_chart, BARS_WIDTH * size // 10, step * size // 10)
    tables = {"bars": distribution_table(vocabulary, new.draw)}
    show_chart("distribution", "The distribution over the next character", chart, tables, alt=caption)
    st.text(draw_in_words(new))


def draw_looks(new: GeneratedToken) -> None:
    """What every head of the last character read looked at."""
    caption = look_caption(new)
    st.text(caption)
    width = BARS_WIDTH if get_state("large") else LOOKS_WIDTH  # large figures stand one below the other
    chart = grid_template(looks_columns(new), width, numbered=len(new.window) <= MOST_NUMBERED_COLUMNS)
    show_chart("looks", "What the heads looked at", chart, {"cells": looks_table(new)}, alt=caption)
    st.text(window_caption(new))
