"""The table of contents: every page there is in the folder, in the order of the lessons."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import streamlit as st

from attention_ui.session import go_to
from lessons.screen import Message, format_value, render
from words import cached_by_language

PAGES = Path(__file__).parents[1] / "pages"
ADDRESSES = {"overview": "home", "puzzle": "build"}  # of the pages whose addresses are not the names of their files


@dataclass(frozen=True, eq=False)
class Entry:
    """One page: its section of the menu, its file, its address and its title."""

    section: str  # its folder, that of its lesson as well: tells which pages belong together, and is never shown
    file: str
    address: str
    title: str | Message

    @property
    def name(self) -> str:
        """The title of the page in the reader's language."""
        return format_value(self.title)


@cached_by_language(maxsize=1000)
def page_of(entry: Entry):
    """The page as Streamlit wants it. Made once for all, as Streamlit looks for its file each time: run a copy."""
    return st.Page(PAGES / entry.file, title=entry.name, url_path=entry.address, default=entry is CONTENTS[0])


def entry_of(file: Path) -> Entry:
    """The entry of a page: its lesson, of the same path, says its title."""
    address = ADDRESSES.get(file.stem, file.stem)
    return Entry(file.parent.name, f"{file.parent.name}/{file.name}", address, lesson_of(file).TITLE)


def lesson_of(file: Path) -> ModuleType:
    """The lesson of a page, as far as its title and its place: a package imports nothing else by itself."""
    return import_module(f"lessons.{file.parent.name}.{file.stem}")


IN_ORDER = sorted(PAGES.glob("*/*.py"), key=lambda file: lesson_of(file).PLACE)
CONTENTS = tuple(map(entry_of, IN_ORDER))


def draw_topic(lesson: ModuleType) -> None:
    """What a page is about, and its point in one sentence: Markdown, in our own words alone."""
    with st.container(key="topic", horizontal=True):
        st.title(render(lesson.TOPIC), anchor=False, width="content")
        st.markdown(render(lesson.POINT), width="content")


def open_entry(entry: Entry, **settings: str) -> None:
    """Go on at this page, with all that goes along and these settings."""
    go_to(page_of(entry), entry.address, **settings)


def step_to(place: int, key: str, label: str, shortcut: str) -> None:
    """A button to the page at this place of the contents, if there is one; a key of the keyboard does the same."""
    if 0 <= place < len(CONTENTS):
        entry = CONTENTS[place]
        if st.button(label.format(entry.name), key=key, shortcut=shortcut, type="tertiary"):
            open_entry(entry)
