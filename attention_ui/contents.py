"""The table of contents: every page, in the order of the lessons."""

import functools
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import streamlit as st

from attention_ui.links import go_to
from attention_ui.streamlit_insides import page_of_one_run
from lessons.formatting import spoken

PAGES = Path(__file__).parent.parent / "pages"
TRAINING_SECTION = "Training"  # the section whose pages train, and take the longest to compute


@dataclass(frozen=True)
class Entry:
    """One page: its section of the menu, its file, its address and its title."""

    section: str
    file: str
    address: str
    title: str

    def page(self, **settings):
        """The page as Streamlit wants it."""
        return page_of_one_run(made_page(self, **({"url_path": self.address} | settings)))


@functools.cache
def made_page(entry: Entry, **settings):
    """A page of its own for each entry and settings. Made once: every time Streamlit would look for the file."""
    return st.Page(PAGES / entry.file, title=entry.title, **settings)


CONTENTS = (
    Entry("Begin here", "start/overview.py", "home", "Overview"),
    Entry("One head", "one_head/tokens.py", "tokens", "Tokens"),
    Entry("One head", "one_head/dot_product.py", "dot_product", "Dot product"),
    Entry("One head", "one_head/projections.py", "projections", "Q, K, V"),
    Entry("One head", "one_head/scores.py", "scores", "Scores"),
    Entry("One head", "one_head/mask.py", "mask", "Mask"),
    Entry("One head", "one_head/softmax.py", "softmax", "Softmax"),
    Entry("One head", "one_head/output.py", "output", "Output"),
    Entry("Many heads", "many_heads/heads.py", "heads", "Heads"),
    Entry("Many heads", "many_heads/positions.py", "positions", "Positions"),
    Entry("Many heads", "many_heads/pytorch.py", "pytorch", "PyTorch"),
    Entry(TRAINING_SECTION, "training/train.py", "train", "Train"),
    Entry(TRAINING_SECTION, "training/backward.py", "backward", "Backwards"),
    Entry(TRAINING_SECTION, "training/generate.py", "generate", "Generate"),
    Entry("A real model", "real_model/read.py", "read", "Read"),
    Entry("Today's attention", "todays_attention/variants.py", "variants", "Variants"),
    Entry("Today's attention", "todays_attention/cost.py", "cost", "Cost"),
    Entry("Practice", "practice/exercises.py", "exercises", "Exercises"),
    Entry("Practice", "practice/take_home.py", "take_home", "Take home"),
    Entry("Practice", "practice/class_vote.py", "class_vote", "Class vote"),
)


def opening(lesson: ModuleType) -> None:
    """The question that a lesson answers, and what opens it: Markdown, in our own words alone."""
    st.title(spoken(lesson.HEADING))
    st.markdown(spoken(lesson.OPENING))


def step_to(place: int, key: str, label: str, shortcut: str) -> None:
    """A button to the page at this place of the contents, if there is one; a key of the keyboard does the same."""
    if 0 <= place < len(CONTENTS):
        entry = CONTENTS[place]
        if st.button(label.format(entry.title), key=key, shortcut=shortcut, type="tertiary"):
            go_to(entry.page(default=place == 0))
