"""What every control that a link can set takes, from all parts of the app."""

from attention_ui.controls import (
    backward,
    choices,
    cost,
    example,
    heads,
    learnt,
    look,
    positions,
    pytorch,
    read,
    variants,
)
from attention_ui.page import code
from attention_ui.practice import exercise_view, take_home_view
from attention_ui.session.links import SWITCH, LinkRule
from attention_ui.training import controls as training_controls
from attention_ui.voting import rooms
from attention_ui.writing import controls as writing_controls
from words import LANGUAGES, tag_of

CONTROLS = (
    backward,
    choices,
    code,
    cost,
    example,
    heads,
    learnt,
    look,
    positions,
    pytorch,
    read,
    training_controls,
    variants,
    writing_controls,
    exercise_view,
    take_home_view,
    rooms,
)
SHARED = (choices, example, heads, learnt)  # controls that several pages have
LINK_RULES: dict[str, LinkRule] = {"large": SWITCH, "lang": {tag_of(code): code for code in LANGUAGES}}
for controls in CONTROLS:
    LINK_RULES |= controls.LINK_RULES
GOES_ALONG = frozenset(("large", "lang", "hide", "text", "edits")).union(*(part.LINK_RULES for part in SHARED))
