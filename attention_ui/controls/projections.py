"""The choices of the lesson on queries, keys and values: what to look at, and of a head of many features which pair."""

from dataclasses import replace

import streamlit as st

from attention_ui.controls.bound import control_of, one_in_changing_list
from attention_ui.controls.choices import query_choice
from lessons.example.example import MOST_FEATURES, ExampleTrace
from lessons.projections.lesson import ASKS, MEETS, ROLE, Choices
from lessons.screen.format import format_value

OF_MANY = "head"  # the view of all numbers, where they are too many for cells


def chosen_in_projections(trace: ExampleTrace, head: int) -> Choices:
    """Draw the controls and return what they say."""
    many = trace.heads.q.shape[-1] > MOST_FEATURES
    views = {view: title for view, title in ROLE.options.items() if many or view != OF_MANY}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width="content"):
            role = control_of(replace(ROLE, options=views))
        if role != OF_MANY:
            return Choices(role)
        query = query_choice(trace, ASKS)
        return Choices(role, query, key_choice(trace, head, query))


def key_choice(trace: ExampleTrace, head: int, query: int) -> int:
    """Which key the query meets, of those it may look at; at first the one with the largest weight."""
    visible = trace.heads.visible[head, query].tolist()
    names = {name.position + 1: format_value(name) for name, seen in zip(trace.names, visible, strict=True) if seen}
    largest = int(trace.heads.weights[head, query].argmax()) + 1
    return one_in_changing_list(MEETS, names, largest) - 1
