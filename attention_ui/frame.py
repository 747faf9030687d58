"""The frame: page settings, table of contents, and what surrounds every page."""

from pathlib import Path

import streamlit as st

from attention_ui import choices, example, training_controls
from attention_ui.contents import CONTENTS
from attention_ui.lesson import large_switch
from attention_ui.services import training_room
from attention_ui.session import SWITCH, repair_link
from attention_ui.training_view import training_chip

st.set_page_config(
    page_title="Attention Lab",
    page_icon=str(Path(__file__).parent / "icon.png"),
    layout="wide",
    initial_sidebar_state=272,
)
overview, *lessons = CONTENTS
# The default page has the address "/" alone; links may also say what it is.
menu = {overview.section: [overview.page(default=True), overview.page(url_path="overview", visibility="hidden")]}
for lesson in lessons:
    menu.setdefault(lesson.section, []).append(lesson.page())
page = st.navigation(menu, position="top")
repair_link(page, {"large": SWITCH, **example.LINK_RULES, **choices.LINK_RULES, **training_controls.LINK_RULES})
with training_room().page():
    training_chip(on_training_page=page.url_path == "train")
    with st.sidebar:
        large_switch()
    page.run()
