"""The controls of the page of the cost; and what it needs of a real model is computed while other pages go on."""

import streamlit as st

from attention_ui.controls.choices import chosen_in
from attention_ui.process.turns import outside_turn
from lessons.example.example import ExampleTrace
from lessons.today.cost.lesson import Choices
from lessons.today.cost.sliding_window import slide_of


def cost_choices(trace: ExampleTrace) -> Choices:
    """What was chosen on the page of the cost."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choices = chosen_in(Choices, trace)
    if trace.example.real_model is not None:
        with outside_turn():  # it takes seconds the first time, and is kept
            slide_of(trace.example.real_model)
    return choices
