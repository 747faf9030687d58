"""The frame: page settings, table of contents, and what surrounds every page."""

from pathlib import Path

import streamlit as st

from attention_ui import example, training_controls
from attention_ui.services import training_room
from attention_ui.session import repair_link
from attention_ui.training_view import training_chip

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "pages"

st.set_page_config(
    page_title="Attention Lab",
    page_icon=str(ROOT / "attention_ui" / "icon.png"),
    layout="wide",
    initial_sidebar_state=272,
)
page = st.navigation(
    {
        "Start": [
            st.Page(PAGES / "start/overview.py", title="Overview", url_path="home", default=True),
            # The default page has the address "/" alone; links may also say what it is.
            st.Page(PAGES / "start/overview.py", title="Overview", url_path="overview", visibility="hidden"),
        ],
        "Training": [st.Page(PAGES / "training/train.py", title="Train it live", url_path="train")],
    }
)
repair_link(page, {**example.LINK_RULES, **training_controls.LINK_RULES})
with training_room().page():
    training_chip(on_training_page=page.url_path == "train")
    page.run()
