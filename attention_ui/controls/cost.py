"""Controls of the lesson on cost, bound to the address: what is shown, and whose sizes."""

import streamlit as st

from attention_ui.controls.backward import one_of_numbers
from attention_ui.controls.bound import bound_slider, one_in_list, one_in_row
from attention_ui.controls.choices import query_choice
from attention_ui.controls.timings import measuring_panel, this_machine
from attention_ui.session.links import LinkRule
from lessons.cost.lesson import EXAMPLE_SIZES, Choices
from lessons.cost.published_models import PUBLISHED
from lessons.example.example import ExampleTrace, Limit
from lessons.example.source import MAX_TOKENS
from lessons.screen.format import translate
from lessons.screen.message import message

COST_VIEWS = {"counted": message("counted"), "blocks": message("block by block"), "measured": message("measured here")}
BLOCK_SIZES = Limit(1, MAX_TOKENS)
SIZES_OF = {EXAMPLE_SIZES: message("this example")} | {key: model.name for key, model in PUBLISHED.items()}
COST_TOKENS = {str(2**power): str(2**power) for power in range(4, 18)}
LINK_RULES: dict[str, LinkRule] = {
    "cost_view": COST_VIEWS,
    "cost_of": SIZES_OF,
    "cost_tokens": COST_TOKENS,
    "block": BLOCK_SIZES,
}
COST_DEFAULTS = Choices()


def cost_choices(example: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = one_in_row(translate("What does it cost?"), "cost_view", COST_VIEWS)
        if view == "blocks":
            block = bound_slider(translate("Keys in a block"), "block", BLOCK_SIZES, COST_DEFAULTS.block, width=200)
            return Choices("blocks", query=query_choice(example), block=block)
        if view == "measured":
            return Choices("measured", timings=measuring_panel(), machine=this_machine())
        model = one_in_list(translate("A layer of"), "cost_of", SIZES_OF, width=220)
        if model not in PUBLISHED:
            return Choices()
        return Choices(
            model=model,
            tokens=int(one_of_numbers(translate("Tokens"), "cost_tokens", COST_TOKENS, COST_DEFAULTS.tokens)),
        )
