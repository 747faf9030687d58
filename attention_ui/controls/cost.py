"""Controls of the lesson on cost, bound to the address: what is shown, and whose sizes."""

import streamlit as st

from attention_ui.controls.backward import one_of_numbers
from attention_ui.controls.bound import one_in_list
from attention_ui.links import LinkRule
from lessons.cost import EXAMPLE_SIZES, Choices
from lessons.published import PUBLISHED

SIZES_OF = {EXAMPLE_SIZES: "this example"} | {key: model.name for key, model in PUBLISHED.items()}
COST_TOKENS = {str(2**power): str(2**power) for power in range(4, 18)}
LINK_RULES: dict[str, LinkRule] = {"cost_of": SIZES_OF, "cost_tokens": COST_TOKENS}
COST_DEFAULTS = Choices()


def cost_choices() -> Choices:
    """Draw the controls of this page and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = one_in_list("A layer of", "cost_of", SIZES_OF, width=220)
        if model not in PUBLISHED:
            return Choices()
        return Choices(
            model=model, tokens=int(one_of_numbers("Tokens", "cost_tokens", COST_TOKENS, COST_DEFAULTS.tokens))
        )
