"""The app with every figure left out and nothing else: what a key press costs before anything is drawn.

In the place of a figure stands a number that changes with its data, so that one can see when the page is new.
"""

import hashlib
import sys
from pathlib import Path

import streamlit as st
from streamlit.starlette import App

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from app import lifespan  # noqa: E402
from attention_ui import session  # noqa: E402
from lessons.screen import Figure, render  # noqa: E402


def fingerprint(figure: Figure, spec: dict, tables: dict, lesson: str | None, **_: object) -> None:
    """Instead of the figure: a short text that is different for different data."""
    data = hashlib.blake2b(digest_size=8)
    for table in tables.values():
        data.update(str(table.to_pydict()).encode())
    with st.container(key=figure.key):
        st.text(f"{render(figure.name)} {data.hexdigest()}")


session.show_chart = fingerprint  # before the page that draws figures takes it from there
app = App(str(ROOT / "attention_ui" / "frame.py"), lifespan=lifespan)
