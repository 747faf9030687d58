"""Controls of the lesson on positions: which shuffle, which positions, which mask, bound to the address."""

import streamlit as st

from attention_ui.controls.bound import bound_number, next_number, one_in_row
from attention_ui.controls.choices import query_choice
from attention_ui.session.chart import show_notes
from attention_ui.session.links import Length, LinkRule
from attention_ui.session.state import set_state
from lessons.example.example import ExampleTrace, Limit
from lessons.positions.lesson import Choices
from lessons.positions.permutation import Permutation, PositionKind, kinds_for, random_permutation, read_permutation
from lessons.screen.format import tell
from lessons.screen.message import Sentence, reason, say

ORDER_VIEWS = {
    "output": say("the output shuffles"),
    "weights": say("the weights shuffle"),
    "rows": say("what is added or turned"),
    "distance": say("likeness over distance"),
}
KINDS: dict[PositionKind, Sentence] = {
    "none": say("no positions"),
    "sinusoidal": say("sinusoidal"),
    "learned": say("learned"),
    "rotary": say("rotary"),
}
MASKS = {"none": say("no mask"), "causal": say("causal mask")}
SHUFFLES = Limit(0, 9999)
LONGEST_ORDER = 60  # characters
LINK_RULES: dict[str, LinkRule] = {
    **{"order_view": ORDER_VIEWS, "positions": KINDS, "order_mask": MASKS, "shuffle": SHUFFLES},
    "order": Length(LONGEST_ORDER),
}


def position_choices(example: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    view = one_in_row(tell("Step"), "order_view", ORDER_VIEWS)
    kind, causal = chosen_positions(example.heads.q.shape[-1])
    permutation = chosen_permutation(example)
    compared = view == "distance" and kind in ("none", "rotary")
    return Choices(permutation, view, kind, causal, query_choice(example, masked=False) if compared else 0)


def chosen_positions(d_k: int) -> tuple[PositionKind, bool]:
    """The kind of positions, and whether the causal mask is on; rotary ones need an even number of features."""
    with st.container(horizontal=True, gap="medium"):
        kind = one_in_row(tell("Positions"), "positions", KINDS)
        causal = one_in_row(tell("Mask"), "order_mask", MASKS) == "causal"
    if kind not in kinds_for(d_k):
        show_notes(say(
            "Rotary positions turn pairs of features, so d_k must be even, but it is {d_k}. "
            "Choose an even d_k in the sidebar. Until then no positions are given.",
            d_k=d_k,
        ))  # fmt: skip
        kind = "none"
    return kind, causal


def chosen_permutation(example: ExampleTrace) -> Permutation:
    """A shuffle from a seed, or an order typed by hand. What cannot be used is said, and stays to be mended."""
    n = len(example.tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(tell("Another shuffle"), key="shuffle_again", on_click=shuffle_again)
        seed = bound_number(tell("Shuffle number"), "shuffle", SHUFFLES, 0, width=130)
        shuffled = random_permutation(n, seed)
        typed = st.text_input(
            tell("or an order by hand: the old positions, in their new order"), key="order", bind="query-params",
            max_chars=LONGEST_ORDER, placeholder=" ".join(str(old + 1) for old in shuffled), width=380,
        )  # fmt: skip
    if not (typed or "").strip():
        return shuffled
    try:
        return read_permutation(typed, n)
    except ValueError as error:
        note = say(
            "This order cannot be used: {why}. Until then the shuffle of the number is shown.", why=reason(error)
        )
        show_notes(note)
        return shuffled


def shuffle_again() -> None:
    """The next shuffle; an order typed by hand makes way for it."""
    set_state("order", "")
    next_number("shuffle", SHUFFLES)
