"""Controls of the lesson on variants: which of them, and how much of it, bound to the address."""

from attention_ui.controls.bound import bound_slider, one_in_row
from attention_ui.links import LinkRule
from lessons.example import MAX_TOKENS, Limit
from lessons.variants import Choices

VARIANTS = {
    "window": "window",
    "sink": "sink",
    "cap": "soft cap",
    "alibi": "ALiBi",
    "rotary": "rotary",
    "grouped": "grouped queries",
    "cross": "cross-attention",
}
REACHES = Limit(1, MAX_TOKENS - 1)
SINKS = {"-2": "−2", "-1": "−1", "0": "0", "1": "1", "2": "2"}
CAPS = {"0.5": "0.5", "1": "1", "2": "2", "8": "8", "32": "32"}
LINK_RULES: dict[str, LinkRule] = {"variant": VARIANTS, "reach": REACHES, "sink": SINKS, "cap": CAPS}


def variant_choices() -> Choices:
    """Draw the controls of this page and return what they say."""
    variant = one_in_row("What is changed", "variant", VARIANTS)
    if variant == "window":
        return Choices(variant, reach=bound_slider("Tokens that the window reaches", "reach", REACHES, 2, width=330))
    if variant == "sink":
        return Choices(variant, sink=float(one_in_row("Score of the sink", "sink", SINKS, "0", labelled=True)))
    if variant == "cap":
        return Choices(variant, cap=float(one_in_row("Cap", "cap", CAPS, "1", labelled=True)))
    return Choices(variant)
