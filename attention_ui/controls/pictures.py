"""Which picture the first page shows."""

from dataclasses import replace

import streamlit as st

from attention_ui.controls.bound import one_in_row
from attention_ui.session import get_state, named_in_link, set_state, text_in_link
from lessons.screen import OneOf, message

PICTURE = OneOf(
    "picture",
    message("Picture"),
    {
        "model": message("A real model"),
        "sentence": message("One sentence"),
        "row": message("Open it up"),
        "steps": message("All steps"),
    },
)
REAL_ONES = ("language", "lesson")  # examples that this page shows with the real model
BEFORE_MODELS_CAME = (  # choices that links set when there were none but small models
    *("own", "text", "unit", "causal", "scaling", "init", "seed", "sentence_of_batch", "edits"),
    *("d_model", "d_k", "d_v", "heads", "head"),
)
SMALL_ONES = (*BEFORE_MODELS_CAME, "asks")


def settled_picture() -> str:
    """Which picture the first page is about to show; to be called in each run of it, before its controls are drawn.

    The real model at first. A link that names a step, or a small example that was not the one before, means the picture
    that shows it, unless it names a picture as well.
    """
    named, example = text_in_link(PICTURE.name), text_in_link("example")
    is_new = get_state(PICTURE.name) is None or (get_state("pictured") != example and names_small_one())
    set_state("pictured", example)
    if is_new and not named:
        set_state(PICTURE.name, picture_meant())
    return named or get_state(PICTURE.name)


def picture_meant() -> str:
    """The picture that the link means where it names none."""
    if named_in_link(("step",)):
        return "steps"
    return "sentence" if names_small_one() else PICTURE.begin


def chosen_picture() -> str:
    """Which picture the first page shows; in the link where that means another one without it."""
    with st.container(horizontal=True, horizontal_alignment="right", key="pictures"):
        return one_in_row(replace(PICTURE, begin=picture_meant()))


def names_small_one() -> bool:
    """True where the link says of a small example that it is meant, by its name or as links said before models came."""
    named = text_in_link("example")
    return named not in REAL_ONES if named else named_in_link(SMALL_ONES)
