"""Controls of the lesson on variants: which of them, and how much of it, bound to the address."""

import streamlit as st

from attention_ui.controls.bound import bound_slider, one_in_row
from attention_ui.session.chart import show_notes
from attention_ui.session.links import Length, LinkRule
from lessons.example.example import ExampleTrace, Limit
from lessons.example.second_sentence import followed_by
from lessons.example.source import MAX_TOKENS
from lessons.screen.format import translate
from lessons.screen.message import message
from lessons.variants.lesson import Choices

VARIANTS = {
    "window": message("window"),
    "sink": message("sink"),
    "cap": message("soft cap"),
    "alibi": "ALiBi",
    "rotary": message("rotary"),
    "grouped": message("grouped queries"),
    "cross": message("cross-attention"),
}
REACHES = Limit(1, MAX_TOKENS - 1)
SINKS = {"-2": "−2", "-1": "−1", "0": "0", "1": "1", "2": "2"}
CAPS = {"0.5": "0.5", "1": "1", "2": "2", "8": "8", "32": "32"}
LONGEST_SECOND = 100  # characters
LINK_RULES: dict[str, LinkRule] = {
    **{"variant": VARIANTS, "reach": REACHES, "sink": SINKS, "cap": CAPS},
    "second": Length(LONGEST_SECOND),
}


def variant_choices(example: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    variant = one_in_row(translate("What is changed"), "variant", VARIANTS)
    if variant == "window":
        return Choices(
            variant, reach=bound_slider(translate("Tokens that the window reaches"), "reach", REACHES, 2, width=330)
        )
    if variant == "sink":
        return Choices(
            variant, sink=float(one_in_row(translate("Score of the sink"), "sink", SINKS, "0", labelled=True))
        )
    if variant == "cap":
        return Choices(variant, cap=float(one_in_row(translate("Cap"), "cap", CAPS, "1", labelled=True)))
    if variant == "cross" and example.example.given_by.takes_text:
        return Choices(variant, second=second_sentence(example))
    return Choices(variant)


def second_sentence(example: ExampleTrace) -> str:
    """The sentence that asks; what had to be changed in it is said."""
    typed = st.text_input(
        translate("A second sentence, which asks"),
        key="second",
        bind="query-params",
        max_chars=LONGEST_SECOND,
        width=380,
        placeholder=translate("left empty, the second half of the first asks"),
    )
    second = (typed or "").strip()
    if second:
        show_notes(*followed_by(example, second).notes)
    return second
