"""Controls of the lesson on the way back, bound to the address: how far trained, which sentence, and what is shown."""

import streamlit as st

from attention_ui.controls.bound import bound_number, bound_slider, one_in_row, stepper
from attention_ui.session.links import LinkRule
from lessons.backward.check_view import CHECKED
from lessons.backward.gradients_view import STAGES_BACK
from lessons.backward.lesson import Choices
from lessons.backward.one_prediction import PRONOUNS, UPDATES
from lessons.backward.softmax_view import SIZES_OF_SCORES
from lessons.backward.update_view import RATES
from lessons.example.example import Limit
from lessons.kit.stages import STAGE_NAMES
from lessons.screen.format import translate
from lessons.screen.message import message

BACK_VIEWS = {
    "way": message("the way back"),
    "softmax": message("through the softmax"),
    "sums": message("what is summed"),
    "update": message("one update"),
    "check": message("is it right?"),
}
BACK_STAGES = {stage: STAGE_NAMES.get(stage, "") for stage in STAGES_BACK} | {
    "loss": message("loss"),
    "qkv": "Q K V",
    "maps": "W",
    "x": "X",
}
SENTENCES = Limit(0, 9999)
VALUES = Limit(1, PRONOUNS.window)
UPDATES_MADE, SCORE_SIZES, RATES_MADE = (
    {f"{choice:g}": f"{choice:g}" for choice in choices} for choices in (UPDATES, SIZES_OF_SCORES, RATES)
)
LINK_RULES: dict[str, LinkRule] = {
    **{"back_view": BACK_VIEWS, "back_to": BACK_STAGES, "back_sentence": SENTENCES, "back_value": VALUES},
    **{"updates": UPDATES_MADE, "score_size": SCORE_SIZES, "back_rate": RATES_MADE},
    "checked": {matrix: matrix for matrix in CHECKED},
}
DEFAULTS_BACK = Choices()


def backward_choices() -> Choices:
    """Draw the controls of this page and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        updates = one_of_numbers(translate("Updates made"), "updates", UPDATES_MADE, DEFAULTS_BACK.updates)
        sentence = bound_number(
            translate("Sentence number"), "back_sentence", SENTENCES, DEFAULTS_BACK.sentence, width=130
        )
        view = one_in_row(translate("Step"), "back_view", BACK_VIEWS)
    chosen = {"updates": int(updates), "sentence": sentence, "view": view}
    if view == "way":
        chosen["stage"] = stepper("back_to", BACK_STAGES)
    elif view == "softmax":
        chosen["size"] = one_of_numbers(translate("Scores times"), "score_size", SCORE_SIZES, DEFAULTS_BACK.size)
    elif view == "sums":
        chosen["key"] = bound_slider(translate("Value at position"), "back_value", VALUES, 1, width=200) - 1
    elif view == "update":
        chosen["rate"] = one_of_numbers(translate("Learning rate"), "back_rate", RATES_MADE, DEFAULTS_BACK.rate)
    else:
        chosen["matrix"] = one_in_row(translate("Matrix"), "checked", LINK_RULES["checked"], DEFAULTS_BACK.matrix)
    return Choices(**chosen)


def one_of_numbers(label: str, key: str, options: dict[str, str], begin: float) -> float:
    """One of a few numbers on a slider; the first where a forged message names another."""
    chosen = st.select_slider(label, list(options), f"{begin:g}", key=key, bind="query-params", width=200)
    return float(chosen if chosen in options else f"{begin:g}")
