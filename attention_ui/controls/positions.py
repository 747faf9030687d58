"""Controls of the lesson on positions: which shuffle, which positions, which mask, bound to the address."""

import streamlit as st

from attention_core.permutation import Permutation, random_permutation, read_permutation
from attention_core.positions import PositionKind, kinds_for
from attention_ui.controls.bound import bound_number, next_number, one_in_row
from attention_ui.controls.choices import query_choice
from attention_ui.session.chart import show_notes
from attention_ui.session.links import Length, LinkRule
from attention_ui.session.state import set_state
from lessons.example.example import ExampleTrace, Limit
from lessons.positions.lesson import Choices
from lessons.screen.format import translate
from lessons.screen.message import Message, message, reason

ORDER_VIEWS = {
    "output": message("the output shuffles"),
    "weights": message("the weights shuffle"),
    "rows": message("what is added or turned"),
    "distance": message("likeness over distance"),
}
KINDS: dict[PositionKind, Message] = {
    "none": message("no positions"),
    "sinusoidal": message("sinusoidal"),
    "learned": message("learned"),
    "rotary": message("rotary"),
}
MASKS = {"none": message("no mask"), "causal": message("causal mask")}
SHUFFLES = Limit(0, 9999)
LONGEST_ORDER = 60  # characters
LINK_RULES: dict[str, LinkRule] = {
    **{"order_view": ORDER_VIEWS, "positions": KINDS, "order_mask": MASKS, "shuffle": SHUFFLES},
    "order": Length(LONGEST_ORDER),
}


def position_choices(example: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    view = one_in_row(translate("Step"), "order_view", ORDER_VIEWS)
    kind, causal = chosen_positions(example.heads.q.shape[-1])
    permutation = chosen_permutation(example)
    compared = view == "distance" and kind in ("none", "rotary")
    return Choices(permutation, view, kind, causal, query_choice(example, masked=False) if compared else 0)


def chosen_positions(d_k: int) -> tuple[PositionKind, bool]:
    """The kind of positions, and whether the causal mask is on; rotary ones need an even number of features."""
    with st.container(horizontal=True, gap="medium"):
        kind = one_in_row(translate("Positions"), "positions", KINDS)
        causal = one_in_row(translate("Mask"), "order_mask", MASKS) == "causal"
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


def chosen_permutation(example: ExampleTrace) -> Permutation:
    """A shuffle from a seed, or an order typed by hand. What cannot be used is said, and stays to be mended."""
    n = len(example.tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(translate("Another shuffle"), key="shuffle_again", on_click=shuffle_again)
        seed = bound_number(translate("Shuffle number"), "shuffle", SHUFFLES, 0, width=130)
        shuffled = random_permutation(n, seed)
        typed = st.text_input(
            translate("or an order by hand: the old positions, in their new order"),
            key="order",
            bind="query-params",
            max_chars=LONGEST_ORDER,
            placeholder=" ".join(str(old + 1) for old in shuffled),
            width=380,
        )
    if not (typed or "").strip():
        return shuffled
    try:
        return read_permutation(typed, n)
    except ValueError as error:
        note = message(
            "This order cannot be used: {why}. Until then the shuffle of the number is shown.", why=reason(error)
        )
        show_notes(note)
        return shuffled


def shuffle_again() -> None:
    """The next shuffle; an order typed by hand makes way for it."""
    set_state("order", "")
    next_number("shuffle", SHUFFLES)
