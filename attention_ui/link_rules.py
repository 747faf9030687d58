"""What every control that a link can set takes, from all parts of the app."""

from attention_ui import choices, example, training_controls, writing_controls
from attention_ui.controls import heads, positions, pytorch
from attention_ui.links import SWITCH, LinkRule
from attention_ui.panels import code

LINK_RULES: dict[str, LinkRule] = {
    "large": SWITCH,
    **choices.LINK_RULES,
    **code.LINK_RULES,
    **example.LINK_RULES,
    **heads.LINK_RULES,
    **positions.LINK_RULES,
    **pytorch.LINK_RULES,
    **training_controls.LINK_RULES,
    **writing_controls.LINK_RULES,
}
