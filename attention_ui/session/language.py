"""The language of a visit: what a link fixes, or what was chosen in this browser, or what the browser asks for.

A visit keeps its language to its end. The menu asks the server for an address that keeps the choice in a cookie and
sends the browser back (see server/languages.py): the page is loaded anew, in the new language throughout.
"""

import streamlit as st

from attention_ui.session.links import text_in_link
from attention_ui.state import get_state, set_state
from attention_ui.streamlit_insides import running_session
from words import COOKIE, FIRST, LANGUAGES, chosen_language, language, tag_of


def language_of_visit() -> str:
    """The code of the language in which this visitor reads; what belongs to no visit is English."""
    if running_session() is None:
        return FIRST
    if get_state("language") is None:
        kept, accepted = st.context.cookies.get(COOKIE, ""), st.context.headers.get("Accept-Language", "")
        set_state("language", chosen_language(text_in_link("lang"), kept, accepted))
    return get_state("language")


def language_menu() -> str:
    """HTML of the languages, each under its own name, as links: they work with the keyboard alone."""
    here = language().code
    links = (
        f'<a href="language/{tag_of(code)}" lang="{tag_of(code)}" hreflang="{tag_of(code)}">{name}</a>'
        for code, name in LANGUAGES.items()
        if code != here
    )
    menu = f'<summary lang="{tag_of(here)}">{LANGUAGES[here]}</summary>{"".join(links)}'
    return f'<details class="lab-languages">{menu}</details>'
