"""The table of contents: every page, in the order of the lessons."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import streamlit as st

from attention_ui.session.links import go_to
from attention_ui.session.streamlit_insides import page_of_one_run
from lessons.screen.format import format_value, render
from lessons.screen.message import Message, message
from words import cached_by_language

PAGES = Path(__file__).parents[2] / "pages"
TRAINING_SECTION = "Training"  # the section whose pages train, and take the longest to compute


@dataclass(frozen=True, eq=False)
class Entry:
    """One page: its section of the menu, its file, its address and its title."""

    section: str  # tells which pages belong together, and is never shown
    file: str
    address: str
    title: str | Message

    @property
    def name(self) -> str:
        """Its title in the reader's language."""
        return format_value(self.title)

    def page(self, **settings):
        """The page as Streamlit wants it."""
        return page_of_one_run(made_page(self, **({"url_path": self.address} | settings)))


@cached_by_language(maxsize=1000)
def made_page(entry: Entry, **settings):
    """A page of its own for each entry and settings. Made once: every time Streamlit would look for the file."""
    return st.Page(PAGES / entry.file, title=entry.name, **settings)


CONTENTS = (
    Entry("Begin here", "start/overview.py", "home", message("Overview")),
    Entry("One head", "one_head/tokens.py", "tokens", message("Tokens")),
    Entry("One head", "one_head/dot_product.py", "dot_product", message("Dot product")),
    Entry("One head", "one_head/projections.py", "projections", "Q, K, V"),
    Entry("One head", "one_head/scores.py", "scores", message("Scores")),
    Entry("One head", "one_head/mask.py", "mask", message("Mask")),
    Entry("One head", "one_head/softmax.py", "softmax", message("Softmax")),
    Entry("One head", "one_head/output.py", "output", message("Output")),
    Entry("Many heads", "many_heads/heads.py", "heads", message("Heads")),
    Entry("Many heads", "many_heads/positions.py", "positions", message("Positions")),
    Entry("Many heads", "many_heads/pytorch.py", "pytorch", "PyTorch"),
    Entry(TRAINING_SECTION, "training/train.py", "train", message("Train")),
    Entry(TRAINING_SECTION, "training/backward.py", "backward", message("Backwards")),
    Entry(TRAINING_SECTION, "training/generate.py", "generate", message("Generate")),
    Entry("A real model", "real_model/read.py", "read", message("Read")),
    Entry("Today's attention", "todays_attention/variants.py", "variants", message("Variants")),
    Entry("Today's attention", "todays_attention/cost.py", "cost", message("Cost")),
    Entry("Practice", "practice/exercises.py", "exercises", message("Exercises")),
    Entry("Practice", "practice/take_home.py", "take_home", message("Take home")),
    Entry("Practice", "practice/class_vote.py", "class_vote", message("Class vote")),
)


def opening(lesson: ModuleType) -> None:
    """The question that a lesson answers, and what opens it: Markdown, in our own words alone."""
    st.title(render(lesson.HEADING))
    st.markdown(render(lesson.OPENING))


def open_entry(entry: Entry, **settings: str) -> None:
    """Go on at this page, with all that goes along and these settings."""
    go_to(entry.page(default=entry is CONTENTS[0]), entry.address, **settings)


def step_to(place: int, key: str, label: str, shortcut: str) -> None:
    """A button to the page at this place of the contents, if there is one; a key of the keyboard does the same."""
    if 0 <= place < len(CONTENTS):
        entry = CONTENTS[place]
        if st.button(label.format(entry.name), key=key, shortcut=shortcut, type="tertiary"):
            open_entry(entry)
