"""Controls of the lesson on positions: which shuffle, which positions, which mask, bound to the address."""

import streamlit as st

from attention_core.measured.permutation import Permutation, random_permutation, read_permutation
from attention_core.text.positions import PositionKind, kinds_for
from attention_ui.controls.bound import next_number, number_field, one_in_row, text_field
from attention_ui.controls.choices import query_choice
from attention_ui.session import set_state, show_notes
from lessons.example.example import ExampleTrace
from lessons.model.positions.lesson import KIND, ORDER, ORDER_MASK, SHUFFLE, VIEW, Choices
from lessons.screen import message, reason, translate
from lessons.shared.shared_choices import UNMASKED_QUERY


def position_choices(trace: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    view = one_in_row(VIEW)
    kind, causal = chosen_positions(trace.heads.q.shape[-1])
    permutation = chosen_permutation(trace)
    compared = view == "distance" and kind in ("none", "rotary")
    return Choices(permutation, view, kind, causal, query_choice(trace, UNMASKED_QUERY) if compared else 0)


def chosen_positions(d_k: int) -> tuple[PositionKind, bool]:
    """The kind of positions, and whether the causal mask is on; rotary ones need an even number of features."""
    with st.container(horizontal=True, gap="medium"):
        kind = one_in_row(KIND)
        causal = one_in_row(ORDER_MASK) == "causal"
    if kind not in kinds_for(d_k):
        show_notes(
            message(
                "Rotary positions turn pairs of features, so d_k must be even, but it is {d_k}. "
                "Choose an even d_k in the sidebar. Until then no positions are given.",
                d_k=d_k,
            )
        )
        kind = "none"
    return kind, causal


def chosen_permutation(trace: ExampleTrace) -> Permutation:
    """A shuffle from a seed, or an order typed by hand. What cannot be used is said, and stays to be mended."""
    n = len(trace.tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(translate("Another shuffle"), key="shuffle_again", on_click=shuffle_again)
        seed = number_field(SHUFFLE)
        shuffled = random_permutation(n, seed)
        typed = text_field(ORDER, placeholder=" ".join(str(old + 1) for old in shuffled))
    if not typed.strip():
        return shuffled
    try:
        return read_permutation(typed, n)
    except ValueError as error:
        note = message("This order cannot be used: {why}. The numbered shuffle is shown instead.", why=reason(error))
        show_notes(note)
        return shuffled


def shuffle_again() -> None:
    """The next shuffle; an order typed by hand makes way for it."""
    set_state(ORDER.name, "")
    next_number(SHUFFLE)
