"""How a model shall write: the controls, and the buttons that move through the text."""

from dataclasses import dataclass

import streamlit as st

from attention_core.generation import MAX_NEW_TOKENS
from attention_core.pieces import START
from attention_core.sampling import Sampling
from attention_ui.controls.bound import bound_number, option_in_link
from attention_ui.session.links import Length, LinkRule, Spellings
from attention_ui.session.state import get_state, set_state
from attention_ui.writing.writers import WRITERS, Writer
from lessons.example.example import Limit
from lessons.example.prompt import Beginning, beginning_of
from lessons.generate.language_model_tokens import beginning_in_pieces
from lessons.screen.format import render, translate
from lessons.screen.message import message

WRITING_TEMPERATURES = tuple(f"{tenth / 10:g}" for tenth in range(31))
TOP_KS = (*map(str, range(1, 11)), "15", "20", "30", "50", "all")
TOP_PS = tuple(f"{twentieth / 20:g}" for twentieth in range(1, 21))
WRITING_LIMITS = {"draw_seed": Limit(0, 999_999), "length": Limit(1, MAX_NEW_TOKENS)}
LONGEST_BEGINNING = 200  # characters
LINK_RULES: dict[str, LinkRule] = {
    **WRITING_LIMITS,
    "begin": Length(LONGEST_BEGINNING),
    "writer": WRITERS,
    "temp": Spellings(
        (spelling, label) for label in WRITING_TEMPERATURES for spelling in (label, f"{float(label):.1f}")
    ),
    "top_k": {label: label for label in TOP_KS},
    "top_p": Spellings((spelling, label) for label in TOP_PS for spelling in (label, f"{float(label):.2f}")),
}
HELP = {
    "temp": message("Changes the odds: scores are divided by it before the softmax. At 0 only the likeliest is left."),
    "top_k": message("Removes candidates: only so many stay, the likeliest first."),
    "top_p": message("Removes candidates: the likeliest stay, until their probabilities sum to this."),
}
PLAYS, PLAYED_TO = "writing_plays", "writing_played_to"
DEFAULT_LENGTH = 12


@dataclass(frozen=True, eq=False)
class Request:
    """What the controls say: who writes, from where, how, and how far."""

    writer: Writer
    start: Beginning
    sampling: Sampling
    seed: int
    length: int


def writing_controls(writer: Writer) -> Request:
    """Draw the controls and return what they say."""
    settle()
    playing = bool(get_state(PLAYS))
    with st.sidebar:
        st.subheader(translate("How it writes"), anchor=False)
        raw = st.text_input(
            translate("Begin with"),
            "",
            key="begin",
            bind="query-params",
            max_chars=LONGEST_BEGINNING,
            placeholder=START if writer.task is None else writer.task.tokens[0],
        )
        heat = chosen(translate("Temperature"), WRITING_TEMPERATURES, "1", "temp")
        most = chosen("Top-k", TOP_KS, "all", "top_k")
        share = chosen("Top-p", TOP_PS, "1", "top_p")
        limit = WRITING_LIMITS["length"]
        length = bound_number(translate("New tokens"), "length", limit, DEFAULT_LENGTH, disabled=playing)
        seed = bound_number(translate("Seed"), "draw_seed", WRITING_LIMITS["draw_seed"], 0)
    sampling = Sampling(temperature=float(heat), top_k=None if most == "all" else int(most), top_p=float(share))
    start = beginning_in_pieces(raw or "") if writer.task is None else beginning_of(raw or "", writer.task)
    return Request(writer, start, sampling, seed, length)


def chosen(label: str, options: tuple[str, ...], default: str, key: str) -> str:
    """One of some numbers, or all, named in the address; the default where a forged message says something else."""
    with option_in_link(key, options, default):
        value = st.select_slider(
            label, options, key=key, help=render(HELP[key]), format_func=all_or_number, persist_state="session"
        )
    return value if value in options else default


def all_or_number(option: str) -> str:
    """What an option is called."""
    return translate("all") if option == "all" else option


def writing_buttons(request: Request) -> None:
    """One token back, one more, play or pause, begin again."""
    playing, n, most = bool(get_state(PLAYS)), request.length, WRITING_LIMITS["length"].most
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            translate("Back"),
            key="write_back",
            shortcut="Left",
            disabled=playing or n <= 1,
            on_click=set_state,
            args=("length", n - 1),
        )
        st.button(
            translate("One more"),
            key="write_more",
            shortcut="Right",
            type="primary",
            disabled=playing or n >= most,
            on_click=set_state,
            args=("length", n + 1),
        )
        st.button(
            translate("Pause") if playing else translate("Play"),
            key="write_play",
            shortcut="P",
            on_click=play_or_pause,
            args=(n,),
        )
        st.button(translate("Begin again"), key="write_again", shortcut="B", on_click=begin_again)


def play_or_pause(length: int) -> None:
    """Play on from here, from the beginning where all is written; or stand still where it is."""
    playing = not get_state(PLAYS)
    set_state(PLAYS, playing)
    if playing:
        set_state(PLAYED_TO, length if length < WRITING_LIMITS["length"].most else 1)


def begin_again() -> None:
    """Back to the first new token."""
    set_state(PLAYS, False)
    set_state(PLAYED_TO, None)
    set_state("length", 1)


def settle() -> None:
    """After playing the length is where playing came to. While it plays the address stays as it was."""
    if not get_state(PLAYS) and get_state(PLAYED_TO) is not None:
        set_state("length", get_state(PLAYED_TO))
        set_state(PLAYED_TO, None)
