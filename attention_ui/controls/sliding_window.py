"""What the cost of a real model's layer needs beside its sizes: the model itself, whose window slides over a tale."""

from dataclasses import replace

import streamlit as st

from attention_ui.controls.choices import chosen_in
from attention_ui.server.process import outside_turn
from attention_ui.session.real_model import smollm2
from lessons.cost.lesson import EXAMPLE_SIZES, Choices
from lessons.cost.sliding_window import Slide, real_slide
from lessons.example.example import ExampleTrace
from lessons.example.real_layer import LayerOfRealModel


def cost_choices(example: ExampleTrace) -> Choices:
    """What was chosen on the page of the cost; with the window of a real model, where a layer of one is counted."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choices = chosen_in(Choices, example)
    counted = (choices.view, choices.model) == ("counted", EXAMPLE_SIZES)
    real = isinstance(example.trained, LayerOfRealModel)
    return replace(choices, slide=slide_here()) if counted and real else choices


def slide_here() -> Slide | None:
    """What the window of the real model does when it slides; None where the model is not on this machine."""
    model = smollm2()
    if model is None:
        return None
    with outside_turn():  # it takes seconds the first time
        return real_slide(model)
