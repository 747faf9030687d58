"""The frame: page settings, table of contents, and what surrounds every page."""

from contextlib import ExitStack
from importlib import import_module

import streamlit as st

from attention_ui.contents import CONTENTS, Entry, page_of
from attention_ui.controls.bound import switch
from attention_ui.controls.pictures import settled_picture
from attention_ui.page.progress import exchange_progress, progress, share_of_exercises
from attention_ui.page.question import BELOW, WHEN_ANSWERED
from attention_ui.page.rail import SIDEBAR, rail
from attention_ui.page.style import style_in
from attention_ui.process.turns import FIRST_PAGE, later_turn, page_turn, yield_turn
from attention_ui.session import (
    ASKED,
    HELD,
    ICON,
    LARGE,
    LOGO,
    get_state,
    is_held,
    is_projected,
    language_menu,
    language_of_visit,
    left_out,
    remember_link,
    set_state,
    settle_link,
    take_state,
    text_in_link,
    use_rules,
)
from attention_ui.session.training_runs import BY_ITSELF, run_badge
from attention_ui.streamlit_insides import drawn_when_connected, page_of_one_run
from words import ask_reader

IS_HERE = "is_here"


def draw_rail(here: Entry) -> None:
    """The rail. What the browser has kept of earlier visits comes after the page: only this is drawn again for it,
    unless a homework says how far it is, or a class is led from here.
    """
    before = progress()
    exchange_progress()
    if (progress() != before and text_in_link("homework")) or leads_again():
        st.rerun()
    st.html(rail(here, progress().lessons, share_of_exercises(), large=is_projected(), leads=leads_through_plan()))


def style_of_page() -> str:
    """The style of every page, what a class or a homework needs, and what is different on a projector."""
    files = ["frame.css", *["class.css"] * (in_class or at_home), *["projector.css"] * is_projected()]
    return "".join(map(style_in, files))


def leads_again() -> bool:
    """True where a teacher's page was loaded anew, and its browser has handed the key back just now."""
    if not get_state("class_inside"):
        return False
    from attention_ui.classroom.vote.rooms import take_kept_key  # which only a class needs

    return take_kept_key()


def leads_through_plan() -> bool:
    """True for a teacher whose class follows a plan."""
    if not get_state("class_key"):
        return False
    from attention_ui.classroom.plan.leading import plan_of_class, shows_notes  # which only a class needs

    return plan_of_class() is not None and not shows_notes()


use_rules(lambda: import_module("attention_ui.link_rules").RULES)
ask_reader(language_of_visit)
set_state(HELD, take_state(ASKED))
socket = st.context.headers.get("Sec-WebSocket-Key", "")  # another one whenever the browser has connected again
arrives = get_state(IS_HERE) != socket
with ExitStack() as turns:
    # A class comes in all at once, and comes back so where a server has gone: whoever is there already goes first.
    if arrives:
        turns.enter_context(later_turn())
    pages = [page_of(entry) for entry in CONTENTS]
    opened = st.navigation(pages, position="top")
    page, here = page_of_one_run(opened), CONTENTS[pages.index(opened)]
    settle_link(page, here.address)  # opening another link takes a moment in which others compute
    turn = later_turn if take_state(BY_ITSELF) or is_held() else page_turn
    for added in (BELOW, WHEN_ANSWERED):
        set_state(added, None)
    if in_class := bool(get_state("class_inside") or text_in_link("class")):
        from attention_ui.classroom.plan.ask_here import ask_class_button  # which only a class needs
        from attention_ui.classroom.plan.leading import follow_class
        from attention_ui.classroom.plan.strip import draw_strip
        from attention_ui.classroom.vote.watching import nobody_waits

        follow_class(here.address, arrives)
        if get_state("class_key"):
            set_state(BELOW, ask_class_button)
        if nobody_waits():
            turn = later_turn
    if at_home := not in_class and bool(text_in_link("homework")):
        from attention_ui.classroom.homework.homework import (  # which only a homework needs
            arrive_at_stop,
            draw_homework_strip,
            note_answer,
        )

        arrive_at_stop(here.address)
        set_state(WHEN_ANSWERED, note_answer)
    # What stands in the sidebar is about the lessons' example, and acts on no real model.
    on_model = here is CONTENTS[0] and settled_picture() == "model"  # the picture is settled in any case
    folded = on_model or is_projected()
    turns.enter_context(turn())  # from here on at the latest: two frames at once would hold each other up
    st.html(f"<style>{style_of_page()}</style>")
    st.logo(LOGO[st.context.theme.type or "light"], size="large")
    st.set_page_config(
        page_title=f"{here.name} · Attention Lab",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="collapsed" if folded else SIDEBAR,
    )
    drawn_when_connected(draw_rail)(here)
    if left_out():  # what is hidden stays on the page and keeps what the link says
        st.html("<style>" + "".join(f".st-key-{name} {{ display: none }}" for name in left_out()) + "</style>")
    run_badge(on_training_page=page.url_path == "train")
    with st.sidebar:
        switch(LARGE)
        st.html(language_menu())
    inside, foot = get_state("class_inside"), st.container(key="class_foot") if in_class or at_home else None
    if foot and at_home:
        with foot:
            draw_homework_strip(here.address)
    if foot and inside:
        with foot:
            draw_strip(here.address)
    set_state("film", "")
    yield_turn()
    page.run()
    set_state(IS_HERE, socket)
    yield_turn()
    if foot and in_class and not inside:  # the page of the class has let one in just now
        with foot:
            draw_strip(here.address)
    remember_link(here.address)
    if film := get_state("film"):  # where each mark of a figure begins that plays its answer
        st.html(f"<style>{film}</style>")
FIRST_PAGE.drawn()
