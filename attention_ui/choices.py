"""Choices that several lessons offer, bound to the address."""

import pandas as pd
import streamlit as st

from attention_core.captions import STAGES, name
from attention_core.examples import ExampleTrace
from attention_core.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_ui.lesson import show_notes
from attention_ui.session import LinkRule

STEPS = {"x": "X", "qkv": "Q K V"} | {stage: stage for stage in STAGES[2:]}
VIEWS = {
    "view": {"one": "one token asks", "all": "all at once"},
    "role": {"q": "Q: queries", "k": "K: keys", "v": "V: values", "mirror": "X Xᵀ beside Q Kᵀ"},
    "mask": {"causal": "causal", "none": "none", "window": "window", "padding": "padding", "hand": "drawn by hand"},
    "masking": {"change": "without and with", "late": "before and after the softmax"},
    "of": {"one": "one query", "all": "all queries", "parts": "weights beside contributions"},
}
LINK_RULES: dict[str, LinkRule] = {"step": STEPS, **VIEWS}


def asking_token(trace: ExampleTrace) -> int:
    """Which token asks; the last one at first. Counted from 0."""
    last = len(trace.tokens) - 1
    names = [name(trace.tokens, i) for i in range(last + 1)]
    chosen = st.selectbox(
        "The token that asks", range(last + 1), last, format_func=lambda i: names[i] if i <= last else "", key="asks",
        persist_state="session",
    )  # fmt: skip
    return min(chosen, last)


def picked(key: str) -> str:
    """One of the views of `VIEWS`; the first at first."""
    options = VIEWS[key]
    chosen = st.segmented_control(
        key, list(options), default=next(iter(options)), format_func=options.get, required=True, key=key,
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    return chosen or next(iter(options))


def chosen_mask(n_tokens: int):
    """A mask of the learner's choice: none, causal, a window, padding, or drawn by hand."""
    place, size = st.columns([3, 2])
    hand = st.container()
    with place:
        kind = picked("mask")
    with size:
        if kind == "window" and n_tokens > 1:
            width = st.slider("Width of the window", 1, n_tokens, 2, key="width", persist_state="session")
            return sliding_window_mask(n_tokens, width)
        if kind == "padding" and n_tokens > 1:
            real = st.slider(
                "Real tokens before the padding", 1, n_tokens, n_tokens - 1, key="real", persist_state="session"
            )
            return padding_mask(n_tokens, real)
    if kind == "hand":
        with hand:
            return hand_drawn_mask(n_tokens)
    return causal_mask(n_tokens) if kind == "causal" else full_mask(n_tokens)


def hand_drawn_mask(n_tokens: int):
    """A grid of boxes, one row for each query; the causal mask at first, and while a query may see nothing."""
    names = [str(place + 1) for place in range(n_tokens)]
    start = pd.DataFrame(causal_mask(n_tokens).tolist(), columns=names, index=names)
    st.text("Rows ask, columns answer, by their places. A tick lets the query look.")
    drawn = st.data_editor(start, key=f"drawn_mask_{n_tokens}", num_rows="fixed")
    try:
        return drawn_mask([[bool(tick) for tick in row] for row in drawn.to_numpy()])
    except ValueError as error:
        show_notes(f"This mask cannot be used: {error}. Until then the causal mask stands in.")
        return causal_mask(n_tokens)
