"""Controls of the lesson on order: which shuffle, which positions, which mask, bound to the address."""

import functools

import streamlit as st

from attention_core.masks import causal_mask
from attention_core.permutation import (
    Permutation,
    PositionKind,
    Residual,
    kinds_for,
    measure_residuals,
    random_permutation,
    read_permutation,
)
from attention_ui.lesson import show_notes
from attention_ui.links import Length, LinkRule
from attention_ui.state import get_state, set_state
from lessons.example import Example, ExampleTrace, Limit, run_example
from lessons.single_lessons import head_projections

VIEWS = {
    "output": "the output shuffles",
    "weights": "the weights shuffle",
    "rows": "what is added or turned",
    "distance": "likeness over distance",
}
KINDS: dict[PositionKind, str] = {
    "none": "no positions",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rotary": "rotary",
}
MASKS = {"none": "no mask", "causal": "causal mask"}
SHUFFLES = Limit(0, 9999)
LONGEST_ORDER = 60  # characters
LINK_RULES: dict[str, LinkRule] = {
    **{"order_view": VIEWS, "positions": KINDS, "order_mask": MASKS, "shuffle": SHUFFLES},
    "order": Length(LONGEST_ORDER),
}


def one_of(key: str, options: dict[str, str]) -> str:
    """One of a few choices in a row, the first at first."""
    chosen = st.segmented_control(
        key, list(options), default=next(iter(options)), format_func=options.get, required=True, key=key,
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    return chosen or next(iter(options))


def chosen_view() -> str:
    """What of the shuffle, or of the positions, to look at."""
    return one_of("order_view", VIEWS)


def chosen_positions(d_k: int) -> tuple[PositionKind, bool]:
    """The kind of positions, and whether the causal mask is on; rotary ones need an even number of features."""
    with st.container(horizontal=True, gap="medium"):
        kind = one_of("positions", KINDS)
        causal = one_of("order_mask", MASKS) == "causal"
    if kind not in kinds_for(d_k):
        show_notes(
            f"Rotary positions turn pairs of features, so d_k must be even, but it is {d_k}. "
            "Choose an even d_k in the sidebar. Until then no positions are given."
        )
        kind = "none"
    return kind, causal


def chosen_order(trace: ExampleTrace) -> Permutation:
    """A shuffle from a seed, or an order typed by hand. What cannot be used is said, and stays to be mended."""
    n = len(trace.tokens)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Another shuffle", key="shuffle_again", on_click=shuffle_again)
        seed = st.number_input(
            "Shuffle number", SHUFFLES.least, SHUFFLES.most, 0, key="shuffle", bind="query-params", width=130
        )
        shuffled = random_permutation(n, int(seed))
        typed = st.text_input(
            "or an order by hand: the old places, in their new order", key="order", bind="query-params",
            max_chars=LONGEST_ORDER, placeholder=" ".join(str(place + 1) for place in shuffled), width=380,
        )  # fmt: skip
    if not (typed or "").strip():
        return shuffled
    try:
        return read_permutation(typed, n)
    except ValueError as error:
        show_notes(f"This order cannot be used: {error}. Until then the shuffle of the number is shown.")
        return shuffled


def shuffle_again() -> None:
    """The next shuffle; an order typed by hand makes way for it."""
    set_state("order", "")
    set_state("shuffle", (int(get_state("shuffle") or 0) + 1) % (SHUFFLES.most + 1))


@functools.lru_cache(maxsize=64)
def residuals_of(example: Example, head: int, order: Permutation) -> tuple[Residual, ...]:
    """What this shuffle leaves for every way, computed once while the example and the order stay as they are."""
    trace = run_example(example)
    return measure_residuals(trace.x, head_projections(trace, head), order, example.seed)


def mask_of(causal: bool, n_tokens: int):
    """The causal mask, or none."""
    return causal_mask(n_tokens) if causal else None
