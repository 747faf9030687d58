"""Choices that several lessons offer, bound to the address."""

from collections.abc import Collection

import pandas as pd
import streamlit as st

from attention_core.attention import Mask
from attention_core.masks import causal_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.measures import D_K_MEASURED
from attention_ui.controls.bound import changing_slider, clamped_control, one_in_row, stepper
from attention_ui.controls.editing import typed_cells
from attention_ui.session.chart import show_notes
from attention_ui.session.links import SWITCH, Length, LinkRule, Spellings
from attention_ui.session.markdown import plain_label
from attention_ui.session.mask_codes import mask_code, mask_from_code
from attention_ui.session.state import get_state, set_state
from lessons.example.example import ExampleTrace, Limit
from lessons.example.source import MAX_TOKENS
from lessons.kit.stages import STAGE_NAMES, STAGES
from lessons.screen.format import format_value, translate
from lessons.screen.message import message, reason

STEPS = {"x": "X", "qkv": "Q K V"} | {stage: STAGE_NAMES[stage] for stage in STAGES[2:]}
VIEWS = {
    "view": {"one": message("one query"), "all": message("all at once"), "equal": message("by loops and by matrices")},
    "role": {
        "q": message("Q: queries"),
        "k": message("K: keys"),
        "v": message("V: values"),
        "mirror": message("X Xᵀ beside Q Kᵀ"),
    },
    "mask": {
        "causal": message("causal"),
        "none": message("none"),
        "window": message("window"),
        "padding": message("padding"),
        "hand": message("drawn by hand"),
    },
    "masking": {
        "change": message("without and with"),
        "difference": message("difference"),
        "late": message("before and after the softmax"),
        "blind": message("a row that sees nothing"),
    },
    "of": {
        "one": message("one query"),
        "all": message("all queries"),
        "parts": message("weights beside contributions"),
    },
}
PLACES = dict.fromkeys(("asks", "width", "real"), Limit(1, MAX_TOKENS))
TEMPERATURES = Spellings(
    (spelling, f"{tenths / 10}") for tenths in range(1, 51) for spelling in (f"{tenths / 10:g}", f"{tenths / 10}")
)
LENGTHS = {"drawn": Length(200), "stranger": Length(100)}
LINK_RULES: dict[str, LinkRule] = {
    **{"step": STEPS, **VIEWS, **PLACES, **LENGTHS, "temperature": TEMPERATURES, "cover": SWITCH},
    "measured_d_k": {str(d_k): str(d_k) for d_k in D_K_MEASURED},
}


def query_choice(trace: ExampleTrace, *, masked: bool = True) -> int:
    """Which token is the query; the last one at first. Counted from 0; the link counts from 1.

    Where the scores are `masked` as the switch beside the example says, it is told that the last one never notices.
    """
    n_tokens = len(trace.tokens)
    names = {token.position + 1: format_value(token) for token in trace.names}
    with clamped_control("asks", Limit(1, n_tokens), n_tokens):
        chosen = st.selectbox(
            translate("Query token"),
            list(names),
            format_func=lambda place: names.get(place, ""),
            key="asks",
            persist_state="session",
        )
    # A forged message may name what is no option; Streamlit hands its words over.
    query = (chosen if isinstance(chosen, int) else n_tokens) - 1
    if masked and 0 < query == n_tokens - 1:
        st.sidebar.caption(
            translate(
                "The causal mask changes nothing for the last token: no key comes after it. To see it "
                "act, choose an earlier query token."
            )
        )
    return query


def chosen_temperature() -> float:
    """What scores are divided by, from 0.1 to 5 in tenths."""
    chosen = st.slider(translate("Temperature"), 0.1, 5.0, 1.0, 0.1, "%.1f", key="temperature", bind="query-params")
    return round(max(0.1, min(5.0, chosen)), 1)


def words_to_look_up() -> str:
    """Words that the vocabulary of the example may not hold."""
    label, most = translate("Try a word outside the vocabulary"), LENGTHS["stranger"].most
    return st.text_input(label, "dog", key="stranger", bind="query-params", max_chars=most) or ""


def view_and_query(key: str, trace: ExampleTrace, of_all: Collection[str], *, masked: bool = True) -> tuple[str, int]:
    """A view of `VIEWS` and, beside it, the query that it is about; the last where the view is `of_all`."""
    steps, at_query = st.columns([3, 2], vertical_alignment="bottom")
    with steps:
        view = stepped(key)
    with at_query:
        return view, len(trace.tokens) - 1 if view in of_all else query_choice(trace, masked=masked)


def chosen_stage() -> str:
    """How far the picture of the overview is drawn; to the end at first."""
    return stepper("step", STEPS, STAGES[-1])


def measured_d_k() -> int:
    """The d_k that is marked in the curves."""
    label = plain_label(translate("$d_k$ · features of the random queries and keys"))
    return st.select_slider(label, D_K_MEASURED, 64, key="measured_d_k", bind="query-params")


def stepped(key: str) -> str:
    """One of the views of `VIEWS`, the first at first; the arrow keys go from view to view."""
    return stepper(key, VIEWS[key])


def chosen_mask(n_tokens: int) -> Mask:
    """A mask of the learner's choice: none, causal, a window, padding, or drawn by hand."""
    place, size = st.columns([3, 1])
    hand = st.container()
    with place:
        kind = one_in_row(translate("Mask"), "mask", VIEWS["mask"])
    with size:
        if kind == "window" and n_tokens > 1:
            hidden_from = size_slider(translate("Hide keys this many positions away, or more"), "width", n_tokens, 2)
            return sliding_window_mask(n_tokens, hidden_from)
        if kind == "padding" and n_tokens > 1:
            return padding_mask(
                n_tokens, size_slider(translate("Real tokens before the padding"), "real", n_tokens, n_tokens - 1)
            )
    if kind == "hand":
        with hand:
            return hand_drawn_mask(n_tokens)
    return causal_mask(n_tokens) if kind == "causal" else full_mask(n_tokens)


def size_slider(label: str, key: str, n_tokens: int, default: int) -> int:
    """From 1 to the number of tokens; the link restores it."""
    return changing_slider(label, key, Limit(1, n_tokens), default)


def hand_drawn_mask(n_tokens: int) -> Mask:
    """A grid of boxes, one row for each query, and its code, which the link holds. The causal mask at first.

    The boxes write the code. Where the code comes from elsewhere, from a link or typed, it fills the boxes anew.
    """
    st.text(translate("Rows are queries, columns are keys, by their positions. A tick lets the query look at the key."))
    boxes, beside = st.columns(2)
    causal = causal_mask(n_tokens)
    code = beside.text_input(
        translate("Code of this mask: a number for each row"),
        key="drawn",
        bind="query-params",
        max_chars=LENGTHS["drawn"].most,
        placeholder=mask_code(causal.tolist()),
    )
    try:
        mask = mask_from_code(code, n_tokens) if code else causal
    except ValueError as error:
        with beside:
            show_notes(
                message("This mask cannot be used: {why}. Until then the causal mask stands in.", why=reason(error))
            )
        mask = causal
    if get_state("code_of_boxes") != (code, n_tokens):
        set_state("code_of_boxes", (code, n_tokens))
        set_state("boxes_begin", mask.tolist())
    with boxes:
        draw_boxes(get_state("boxes_begin"))
    return mask


def draw_boxes(begin: list[list[bool]]) -> None:
    """The boxes as they begin; Streamlit adds what was ticked since."""
    names = [str(place + 1) for place in range(len(begin))]
    key = f"boxes_{mask_code(begin)}"
    st.data_editor(
        pd.DataFrame(begin, columns=names, index=names),
        key=key,
        num_rows="fixed",
        on_change=write_code,
        args=(key, begin),
        width="content",
        row_height=24,
        column_config={column: st.column_config.CheckboxColumn(width=44) for column in names},
    )


def write_code(key: str, begin: list[list[bool]]) -> None:
    """The boxes as they are now become the code, and so the link."""
    rows = [list(row) for row in begin]
    for row, column, tick in typed_cells(get_state(key)):
        rows[row][column] = bool(tick)
    set_state("drawn", mask_code(rows))
    set_state("code_of_boxes", (mask_code(rows), len(rows)))
