"""How a model shall write: the controls, and the buttons that move through the text."""

from dataclasses import dataclass
from itertools import product

import streamlit as st

from attention_core.model.generation import MAX_NEW_TOKENS
from attention_core.model.sampling import Sampling
from attention_ui.controls.bound import number_field, one_in_list, one_on_slider, text_field
from attention_ui.session import get_state, set_state
from attention_ui.writing.growing import GrowingText, growing_text
from attention_ui.writing.writers import Writer
from lessons.example.prompt import Beginning, beginning_of
from lessons.example.real_model import RealModel, head_name
from lessons.model.generate.real_writer import BEGINS_WITH, Head, RealBeginning, real_beginning
from lessons.screen import Limit, Number, OneOf, Text, message, numbers, render, translate

BEGINNING = Text("begin", message("Begin with"), 200)
ODDS = OneOf("temp", message("Temperature"), numbers(tenth / 10 for tenth in range(31)), 1.0)
CANDIDATES = OneOf("top_k", "Top-k", numbers((*range(1, 11), 15, 20, 30, 50)) | {"all": message("all")}, "all")
SHARE = OneOf("top_p", "Top-p", numbers(twentieth / 20 for twentieth in range(1, 21)), 1.0)
LENGTH = Number("length", message("New tokens"), Limit(1, MAX_NEW_TOKENS), 12, typed=True)
DRAW_SEED = Number("draw_seed", message("Seed"), Limit(0, 999_999), 0, typed=True)
HELP = {
    ODDS: message("Changes the odds: scores are divided by it before the softmax. At 0 only the likeliest is left."),
    CANDIDATES: message("Removes candidates: only this many stay, the likeliest first."),
    SHARE: message("Removes candidates: only the likeliest stay, until their probabilities reach this sum."),
}
PLAYS, PLAYED_TO = "writing_plays", "writing_played_to"


@dataclass(frozen=True, eq=False)
class Request:
    """What the controls say: who writes, from where, how, and how far."""

    writer: Writer
    start: Beginning | RealBeginning
    sampling: Sampling
    seed: int
    length: int
    head: Head | None = None  # whose attention is shown; None for the mean over all

    @property
    def text(self) -> GrowingText | None:
        """What a real model writes, as far as it has; None of a small one, which writes faster than it is asked."""
        start = self.start
        return growing_text(self.writer.model, start.ids, self.sampling, self.seed) if self.writer.model else None


def writing_controls(writer: Writer) -> Request:
    """Draw the controls and return what they say."""
    settle()
    playing, model, head = bool(get_state(PLAYS)), writer.model, None
    with st.sidebar:
        st.subheader(translate("How it writes"), anchor=False)
        raw = text_field(BEGINNING, placeholder=BEGINS_WITH if model else writer.task.tokens[0])
        heat, most, share = (one_on_slider(choice, help=render(about)) for choice, about in HELP.items())
        length, seed = number_field(LENGTH, disabled=playing), number_field(DRAW_SEED)
        if model:
            head = chosen_head(model)
    sampling = Sampling(temperature=heat, top_k=None if most == "all" else most, top_p=share)
    start = real_beginning(model, raw) if model else beginning_of(raw, writer.task)
    return Request(writer, start, sampling, seed, length, head)


def chosen_head(model: RealModel) -> Head | None:
    """Whose attention is shown: that of one head of a real model, or the mean over all."""
    config = model.kept.config
    heads = {head_name(*place): place for place in product(range(config.n_layers), range(config.n_heads))}
    names = {"all": message("all heads, on average")} | {name: name for name in heads}
    return heads.get(one_in_list(OneOf("attention_of", message("Attention shown"), names)))


def writing_buttons(request: Request) -> None:
    """One token back, one more, play or pause, begin again."""
    playing, n, most = bool(get_state(PLAYS)), request.length, LENGTH.limit.most
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            translate("Back"),
            key="write_back",
            shortcut="Left",
            disabled=playing or n <= 1,
            on_click=set_state,
            args=(LENGTH.name, n - 1),
        )
        st.button(
            translate("One more"),
            key="write_more",
            shortcut="Right",
            type="primary",
            disabled=playing or n >= most,
            on_click=set_state,
            args=(LENGTH.name, n + 1),
        )
        st.button(
            translate("Pause") if playing else translate("Play"),
            key="write_play",
            shortcut="P",
            on_click=play_or_pause,
            args=(request,),
        )
        st.button(translate("Begin again"), key="write_again", shortcut="B", on_click=begin_again)


def play_or_pause(request: Request) -> None:
    """Play on from what is written, from the beginning where that is all; or stand still where it is."""
    playing = not get_state(PLAYS)
    set_state(PLAYS, playing)
    if playing:
        text = request.text
        length = text.written(request.length) if text else request.length
        set_state(PLAYED_TO, length if 1 <= length < LENGTH.limit.most else 1)


def begin_again() -> None:
    """Back to the first new token."""
    set_state(PLAYS, False)
    set_state(PLAYED_TO, None)
    set_state(LENGTH.name, 1)


def settle() -> None:
    """After playing the length is where playing came to. While it plays the address stays as it was."""
    if not get_state(PLAYS) and get_state(PLAYED_TO) is not None:
        set_state(LENGTH.name, get_state(PLAYED_TO))
        set_state(PLAYED_TO, None)
