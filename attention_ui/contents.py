"""The table of contents: every page, in the order of the lessons."""

import functools
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from attention_ui.links import go_to
from attention_ui.streamlit_insides import page_of_one_run

PAGES = Path(__file__).parent.parent / "pages"
TRAINING_SECTION = "Training"  # the section whose pages train, and take the longest to compute


@dataclass(frozen=True)
class Entry:
    """One page: where it stands in the menu, its file, its address and the question it answers."""

    section: str
    file: str
    address: str
    title: str
    question: str
    opening: str

    def page(self, **settings):
        """The page as Streamlit wants it."""
        return page_of_one_run(made_page(self, **({"url_path": self.address} | settings)))


@functools.cache
def made_page(entry: Entry, **settings):
    """A page of its own for each entry and settings. Made once: every time Streamlit would look for the file."""
    return st.Page(PAGES / entry.file, title=entry.title, **settings)


CONTENTS = (
    Entry(
        "Begin here",
        "start/overview.py",
        "home",
        "Overview",
        "What does attention do, in one picture?",
        "Each token compares its **query** with the **key** of every token it may look at. "
        "It then receives a weighted mix of their **values**, its own included.",
    ),
    Entry(
        "One head",
        "one_head/tokens.py",
        "tokens",
        "Tokens",
        "What goes in?",
        "A text is split into tokens. Each token has an id, and each id picks one row of the embedding table. "
        "Those rows are all that attention ever sees.",
    ),
    Entry(
        "One head",
        "one_head/dot_product.py",
        "dot_product",
        "Dot product",
        "Can tokens attend without learned parameters?",
        "Compare one token with every token by the dot product, turn the scores into weights, and mix the rows "
        "by those weights. This is attention already, with nothing learned in it.",
    ),
    Entry(
        "One head",
        "one_head/projections.py",
        "projections",
        "Projections",
        "Why queries, keys and values?",
        "Three matrices give every token three vectors: a query to compare with the keys, a key to be compared "
        "with, and a value to pass on.",
    ),
    Entry(
        "One head",
        "one_head/scores.py",
        "scores",
        "Scores and √d_k",
        "Why divide by the square root of d_k?",
        "The more features a query and a key have, the more their dot product varies. "
        "See what that does to the softmax, with the division and without it.",
    ),
    Entry(
        "One head",
        "one_head/mask.py",
        "mask",
        "Mask",
        "Who may look at whom?",
        "A mask hides keys from queries. It is applied before the softmax, so the remaining weights still sum to 1.",
    ),
    Entry(
        "One head",
        "one_head/softmax.py",
        "softmax",
        "Softmax",
        "How do scores become weights?",
        "Subtract the largest score, take the exponential, divide by the sum. Only differences between scores matter.",
    ),
    Entry(
        "One head",
        "one_head/output.py",
        "output",
        "Output",
        "What comes out?",
        "Each query receives the values it looked at, mixed by their weights. "
        "A large weight on a short value still adds little.",
    ),
    Entry(
        "Many heads",
        "many_heads/heads.py",
        "heads",
        "Heads",
        "Why several heads?",
        "One head can express only one attention pattern. Several heads project all features, each to queries, keys "
        "and values of their own; W_o mixes what they find. Sentence, seed, mask and scaling come from the sidebar.",
    ),
    Entry(
        "Many heads",
        "many_heads/positions.py",
        "positions",
        "Positions",
        "Does attention know the order?",
        "Shuffle the tokens and see what the output does. Then tell attention the positions, and shuffle again. "
        "The mask and the positions stay where they are while the tokens move.",
    ),
    Entry(
        "Many heads",
        "many_heads/pytorch.py",
        "pytorch",
        "PyTorch",
        "Is this what PyTorch computes?",
        "The weights of the lesson on heads are copied into PyTorch's own functions. "
        "Equal shapes prove nothing, so every number is compared.",
    ),
    Entry(
        TRAINING_SECTION,
        "training/train.py",
        "train",
        "Train it live",
        "How do the weights get there?",
        "A small transformer starts with random weights and learns a task from examples. "
        "Press **Start** and watch its heads take shape.",
    ),
    Entry(
        TRAINING_SECTION,
        "training/generate.py",
        "generate",
        "Generate",
        "How does it write?",
        "The model gives every character a probability, one is drawn and appended, and the next round begins. "
        "Temperature changes the odds; top-k and top-p remove candidates. What the model knows stays the same.",
    ),
)


def entry(address: str) -> Entry:
    """The entry with this address."""
    return next(e for e in CONTENTS if e.address == address)


def opening(address: str) -> None:
    """The question of a page and the sentence that opens it."""
    here = entry(address)
    st.title(here.question)
    st.markdown(here.opening)


def next_and_previous(address: str) -> None:
    """Buttons to the page before and the page after; Shift with an arrow key does the same."""
    here = [e.address for e in CONTENTS].index(address)
    with st.container(horizontal=True, horizontal_alignment="distribute" if here > 0 else "right"):
        if here > 0:
            before = CONTENTS[here - 1]
            if st.button(f"← {before.title}", key="lesson_before", shortcut="Shift+Left"):
                go_to(before.page(default=here == 1))
        if here + 1 < len(CONTENTS):
            after = CONTENTS[here + 1]
            if st.button(f"{after.title} →", key="lesson_after", shortcut="Shift+Right"):
                go_to(after.page())
