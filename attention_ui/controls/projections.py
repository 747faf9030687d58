"""The choices of the lesson on queries, keys and values: what to look at, and of a head of many features which pair."""

from dataclasses import replace

import streamlit as st

from attention_ui.controls.bound import control_of, one_in_changing_list
from attention_ui.controls.choices import query_choice
from lessons.example.example import MOST_FEATURES, SOURCES, Example, ExampleTrace, run_example
from lessons.example.real_model import DEFAULT_HEAD
from lessons.one_head.projections.lesson import ASKS, MEETS, ROLE, Choices
from lessons.screen import format_value, message

REAL_HEAD = message("A real head")
OF_MANY = "head"  # the view of all numbers, where they are too many for cells


def chosen_in_projections(trace: ExampleTrace, head: int) -> tuple[Choices, ExampleTrace, int]:
    """Draw the controls; what they say, and the example and the head that it is about.

    Beside a head of few features, one of the real model has a step of its own: the layer that ships with the app.
    """
    many = trace.heads.q.shape[-1] > MOST_FEATURES
    views = ROLE.options | ({} if many else {OF_MANY: REAL_HEAD})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width="content"):
            role = control_of(replace(ROLE, options=views))
        if role != OF_MANY:
            return Choices(role), trace, head
        if not many:
            trace, head = shipped_head(trace), DEFAULT_HEAD
        query = query_choice(trace, ASKS)
        return Choices(role, query, key_choice(trace, head, query)), trace, head


def shipped_head(trace: ExampleTrace) -> ExampleTrace:
    """The layer of the real model that ships with the app, its weights used as those of the example are."""
    source, switches = SOURCES["language"], {name: getattr(trace.example, name) for name in ("causal", "scaling")}
    return run_example(Example(source=source.key, text="", **source.begins, **switches))


def key_choice(trace: ExampleTrace, head: int, query: int) -> int:
    """Which key the query meets, of those it may look at; at first the one with the largest weight."""
    visible = trace.heads.visible[head, query].tolist()
    names = {name.position + 1: format_value(name) for name, seen in zip(trace.names, visible, strict=True) if seen}
    largest = int(trace.heads.weights[head, query].argmax()) + 1
    return one_in_changing_list(MEETS, names, largest) - 1
