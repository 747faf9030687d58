"""Writing on the screen: the controls, the text so far, and the newest character with what led to it."""

import functools
from dataclasses import dataclass

import streamlit as st

from attention_core.checkpoint import Checkpoint
from attention_core.examples import Limit
from attention_core.quiz.generate import Moment
from attention_core.sampling import Sampling
from attention_core.writing import (
    MAX_NEW_TOKENS,
    Start,
    WrittenToken,
    draw_caption,
    draw_in_words,
    look_caption,
    start_of,
    steps_caption,
    unseen_caption,
    window_caption,
    write,
)
from attention_ui.charts.template import template
from attention_ui.charts.writing import (
    MOST_NUMBERED_COLUMNS,
    distribution_chart,
    distribution_table,
    looks_columns,
    looks_table,
)
from attention_ui.lesson import LARGER, grid_template, show_chart, show_notes
from attention_ui.services import moving_picture
from attention_ui.session import Length, LinkRule, keep, recall
from attention_ui.writers import WRITERS, Writer

TEMPERATURES = tuple(f"{tenth / 10:g}" for tenth in range(31))
TOP_KS = (*map(str, range(1, 11)), "15", "20", "30", "50", "all")
TOP_PS = tuple(f"{twentieth / 20:g}" for twentieth in range(1, 21))
LIMITS = {"draw_seed": Limit(0, 999_999), "length": Limit(1, MAX_NEW_TOKENS)}
LONGEST_BEGINNING = 200  # characters
LINK_RULES: dict[str, LinkRule] = {
    **LIMITS,
    "begin": Length(LONGEST_BEGINNING),
    "writer": WRITERS,
    "temp": {label: label for label in TEMPERATURES} | {f"{float(label):.1f}": label for label in TEMPERATURES},
    "top_k": {label: label for label in TOP_KS},
    "top_p": {label: label for label in TOP_PS} | {f"{float(label):.2f}": label for label in TOP_PS},
}
HELP = {
    "temp": "Divides the scores before the softmax. At 0 only the likeliest is left.",
    "top_k": "Keeps so many characters, the likeliest first.",
    "top_p": "Keeps characters, the likeliest first, until their probabilities sum to this.",
}
PLAYS, PLAYED_TO = "writing_plays", "writing_played_to"
DEFAULT_LENGTH = 12
PLAY_SECONDS = 0.6
CHUNK = 25  # so many characters are written ahead, so that a step costs nothing
BARS_WIDTH, LOOKS_WIDTH = 580, 400
TALL, LOW = 22, 15
MOST_TALL_ROWS = 16


@dataclass(frozen=True, eq=False)
class Request:
    """What the controls say: who writes, from where, how, and how far."""

    writer: Writer
    start: Start
    sampling: Sampling
    seed: int
    length: int


def writing_controls(writer: Writer) -> Request:
    """Draw the controls and return what they say."""
    settle()
    playing = bool(recall(PLAYS))
    begin, at_seed, at_length, temperature, top_k, top_p = st.columns([6, 4, 4, 6, 6, 6])
    first = writer.checkpoint.settings.task.tokens[0]
    raw = begin.text_input(
        "Begin with", "", key="begin", bind="query-params", placeholder=first, max_chars=LONGEST_BEGINNING
    )
    limit = LIMITS["draw_seed"]
    drawn = at_seed.number_input("Seed", limit.least, limit.most, 0, key="draw_seed", bind="query-params")
    limit = LIMITS["length"]
    so_far = at_length.number_input(
        "Characters", limit.least, limit.most, DEFAULT_LENGTH, key="length", bind="query-params", disabled=playing
    )
    with temperature:
        heat = chosen("Temperature", TEMPERATURES, "1", "temp")
    with top_k:
        most = chosen("Top-k", TOP_KS, "all", "top_k")
    with top_p:
        share = chosen("Top-p", TOP_PS, "1", "top_p")
    sampling = Sampling(temperature=float(heat), top_k=None if most == "all" else int(most), top_p=float(share))
    start = start_of(raw or "", writer.checkpoint.settings.task)
    seed, length = LIMITS["draw_seed"].clamp(int(drawn)), LIMITS["length"].clamp(int(so_far))
    return Request(writer, start, sampling, seed, length)


def chosen(label: str, options: tuple[str, ...], default: str, key: str) -> str:
    """One of some numbers, bound to the address; the default where a forged message says something else."""
    value = st.select_slider(label, options, default, key=key, bind="query-params", help=HELP[key])
    return value if value in options else default


def writing_buttons(request: Request) -> None:
    """One character back, one more, play or pause, begin again."""
    playing, n, most = bool(recall(PLAYS)), request.length, LIMITS["length"].most
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", key="write_back", shortcut="Left", disabled=playing or n <= 1, on_click=keep, args=("length", n - 1)
        )
        st.button(
            "One more", key="write_more", shortcut="Right", type="primary", disabled=playing or n >= most,
            on_click=keep, args=("length", n + 1),
        )  # fmt: skip
        st.button("Pause" if playing else "Play", key="write_play", shortcut="P", on_click=play_or_pause, args=(n,))
        st.button("Begin again", key="write_again", shortcut="B", on_click=begin_again)


def play_or_pause(length: int) -> None:
    """Play on from here, from the beginning where all is written; or stand still where it is."""
    playing = not recall(PLAYS)
    keep(PLAYS, playing)
    if playing:
        keep(PLAYED_TO, length if length < LIMITS["length"].most else 1)


def begin_again() -> None:
    """Back to the first new character."""
    keep(PLAYS, False)
    keep(PLAYED_TO, None)
    keep("length", 1)


def settle() -> None:
    """After playing the length is where playing came to. While it plays the address stays as it was."""
    if not recall(PLAYS) and recall(PLAYED_TO) is not None:
        keep("length", recall(PLAYED_TO))
        keep(PLAYED_TO, None)


@functools.lru_cache(maxsize=32)
def written_ahead(
    checkpoint: Checkpoint, start: tuple[str, ...], length: int, sampling: Sampling, seed: int
) -> tuple[WrittenToken, ...]:
    """What this model writes; a longer text begins with the shorter one, so whole chunks can be kept."""
    return write(checkpoint.model(), checkpoint.settings.task.vocabulary, start, length, sampling, seed)


def written(request: Request, length: int) -> tuple[WrittenToken, ...]:
    """The first so many new characters. Raises ValueError for a model with broken weights."""
    chunks = min(-(-length // CHUNK) * CHUNK, MAX_NEW_TOKENS)
    ahead = written_ahead(request.writer.checkpoint, request.start.tokens, chunks, request.sampling, request.seed)
    return ahead[:length]


def live_writing(request: Request) -> Moment | None:
    """The text and the newest character, in place while it plays. None while it plays, and where nothing is written."""
    playing = bool(recall(PLAYS))
    st.fragment(draw_writing, run_every=PLAY_SECONDS if playing else None)(request, playing)
    if playing:
        return None
    try:
        new = written(request, request.length)[-1]
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
    text = "".join((*request.start.tokens, *(new.token for new in tokens)))
    st.code(text, language=None, wrap_lines=True)
    left, right = (st.container(), st.container()) if recall("large") else st.columns([BARS_WIDTH, LOOKS_WIDTH])
    with left:
        draw_distribution(request, tokens[-1])
    with right:
        draw_looks(tokens[-1])
    task = request.writer.checkpoint.settings.task
    st.text(steps_caption(request.start.tokens, tokens, task))
    st.text(unseen_caption(tokens, task))
    return True


def draw_writing(request: Request, playing: bool) -> None:
    """One refresh. At the end of the longest text the page is drawn anew, for its buttons."""
    length = (recall(PLAYED_TO) or 1) + 1 if playing else request.length
    length = min(length, MAX_NEW_TOKENS)
    with moving_picture():
        writes = draw_text_of(request, length)
    if playing and writes:
        keep(PLAYED_TO, length)
        if length == MAX_NEW_TOKENS:
            keep(PLAYS, False)
            st.rerun()


def draw_distribution(request: Request, new: WrittenToken) -> None:
    """The bars of the whole vocabulary."""
    caption = draw_caption(new, request.sampling)
    st.text(caption)
    vocabulary = request.writer.checkpoint.settings.task.vocabulary
    step = TALL if len(vocabulary) <= MOST_TALL_ROWS else LOW
    size = LARGER if recall("large") else 10
    chart = template(distribution_chart, BARS_WIDTH * size // 10, step * size // 10)
    tables = {"bars": distribution_table(vocabulary, new.draw)}
    show_chart("distribution", "The distribution over the next character", chart, tables, alt=caption)
    st.text(draw_in_words(new))


def draw_looks(new: WrittenToken) -> None:
    """What every head of the last character read looked at."""
    caption = look_caption(new)
    st.text(caption)
    width = BARS_WIDTH if recall("large") else LOOKS_WIDTH  # large figures stand one below the other
    chart = grid_template(looks_columns(new), width, numbered=len(new.window) <= MOST_NUMBERED_COLUMNS)
    show_chart("looks", "What the heads looked at", chart, {"cells": looks_table(new)}, alt=caption)
    st.text(window_caption(new))
