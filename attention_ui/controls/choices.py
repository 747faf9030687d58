"""The choices of a lesson, drawn; and those that depend on the tokens of the example: the one that asks, and a mask."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from itertools import chain, repeat

import pandas as pd
import streamlit as st
import torch

from attention_core.one_head.attention import Mask
from attention_core.one_head.masks import causal_mask, full_mask, padding_mask, sliding_window_mask
from attention_ui.controls.bound import changing_slider, control_of, one_in_changing_list, one_in_row, text_field
from attention_ui.session import get_state, set_state, show_notes
from attention_ui.session.mask_codes import mask_code, mask_from_code
from lessons.example.example import ExampleTrace, first_query
from lessons.example.second_sentence import followed_by
from lessons.screen import (
    Choice,
    DrawnMask,
    Limit,
    Number,
    OneOf,
    OneToken,
    Text,
    choices_of,
    format_value,
    message,
    reason,
    translate,
)
from lessons.shared.shared_choices import HIDDEN_FROM, MASK, MASK_CODE, QUERY, REAL_TOKENS, SecondSentence

MOST_MASKS = 64


def chosen_in(choices: type, trace: ExampleTrace, *, columns: Sequence[float] = (), in_row: int = 0) -> object:
    """Draw a control for each field of a lesson's `choices`, in their order, and return what they say together.

    The first stand side by side in `columns`, or so many `in_row`; the others one below the other.
    """
    declared, said, places = choices_of(choices), {}, []
    if columns:  # steps have no label above them
        steps = any(isinstance(choice, OneOf) and choice.look == "steps" for choice in declared.values())
        places = st.columns(columns, vertical_alignment="bottom" if steps else "top")
    if in_row:
        places = repeat(st.container(horizontal=True, vertical_alignment="bottom", gap="medium"), in_row)
    for (name, choice), place in zip(declared.items(), chain(places, repeat(nullcontext())), strict=False):
        with place:
            said |= said_of(name, choice, said, trace)
    return choices(**said)


def said_of(name: str, choice: Choice, said: dict[str, object], trace: ExampleTrace) -> dict[str, object]:
    """What the control of one field says; where it is not asked, what the field has by itself."""
    field, values = choice.only or (name, ())
    asked = choice.only is None or said.get(field) in values
    if isinstance(choice, OneToken):
        return {name: query_choice(trace, choice) if asked else len(trace.tokens) - 1}
    if not asked:
        return {}
    if isinstance(choice, SecondSentence):
        return {name: second_sentence(trace, choice)}
    return {name: chosen_mask(len(trace.tokens)) if isinstance(choice, DrawnMask) else control_of(choice)}


def second_sentence(trace: ExampleTrace, choice: Text) -> str:
    """The sentence that asks, where the example takes one; what had to be changed in it is said."""
    if not trace.example.given_by.takes_text:
        return choice.begin
    second = text_field(choice).strip()
    if second:
        show_notes(*followed_by(trace, second).notes)
    return second


def query_choice(trace: ExampleTrace, choice: OneToken = QUERY) -> int:
    """Which token is the query; at first the one that has most to say.

    Where the scores are masked as the switch beside the example says, it is told that the last one never notices.
    """
    n_tokens = len(trace.tokens)
    names = {token.position + 1: format_value(token) for token in trace.names}
    first = first_query(trace)
    query = one_in_changing_list(choice, names, first + 1) - 1
    if choice.masked and 0 < query == n_tokens - 1:
        st.sidebar.caption(
            translate(
                "The causal mask changes nothing for the last token: no key comes after it. To see it "
                "act, choose an earlier query token."
            )
        )
    return query


def chosen_mask(n_tokens: int) -> Mask:
    """A mask of the learner's choice: none, causal, a window, padding, or drawn by hand."""
    return kept_mask(tuple(map(tuple, drawn_mask(n_tokens).tolist())))


@lru_cache(maxsize=MOST_MASKS)
def kept_mask(rows: tuple[tuple[bool, ...], ...]) -> Mask:
    """The mask with these rows. Equal ones are one and the same, so a screen that was made of it is found again: never
    change one.
    """
    return torch.tensor(rows, dtype=torch.bool)


def drawn_mask(n_tokens: int) -> Mask:
    """The controls of `chosen_mask`, and what they say."""
    place, size = st.columns([3, 1])
    hand = st.container()
    with place:
        kind = one_in_row(MASK)
    with size:
        if kind == "window" and n_tokens > 1:
            return sliding_window_mask(n_tokens, so_many_of(n_tokens, HIDDEN_FROM))
        if kind == "padding" and n_tokens > 1:
            return padding_mask(n_tokens, so_many_of(n_tokens, replace(REAL_TOKENS, begin=n_tokens - 1)))
    if kind == "hand":
        with hand:
            return hand_drawn_mask(n_tokens)
    return causal_mask(n_tokens) if kind == "causal" else full_mask(n_tokens)


def so_many_of(n_tokens: int, choice: Number) -> int:
    """From 1 to the number of tokens; the link restores it."""
    return changing_slider(replace(choice, limit=Limit(1, n_tokens)))


def hand_drawn_mask(n_tokens: int) -> Mask:
    """A grid of boxes, one row for each query, and its code, which the link holds. The causal mask at first.

    The boxes write the code. Where the code comes from elsewhere, from a link or typed, it fills the boxes anew.
    """
    st.text(translate("Rows are queries, columns are keys, by their positions. A tick lets the query look at the key."))
    boxes, beside = st.columns(2)
    causal = causal_mask(n_tokens)
    with beside:
        code = text_field(MASK_CODE, placeholder=mask_code(causal.tolist()))
    try:
        mask = mask_from_code(code, n_tokens) if code else causal
    except ValueError as error:
        with beside:
            show_notes(message("This mask cannot be used: {why}. The causal mask is used instead.", why=reason(error)))
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


def typed_cells(state: object) -> Iterator[tuple[int, int, object]]:
    """Row, column and value of each cell that was typed over, as a table in the browser reports them."""
    for row, cells in (state.get("edited_rows", {}) if isinstance(state, dict) else {}).items():
        for column, value in cells.items():
            if column.isdecimal():
                yield row, int(column) - 1, value
