"""What every control that a link can set takes, from all parts of the app."""

from attention_ui import (
    choices,
    code_panel,
    comparing,
    example,
    many_heads,
    order_controls,
    parity_controls,
    training_controls,
    writing_view,
)
from attention_ui.session import SWITCH, LinkRule

LINK_RULES: dict[str, LinkRule] = {
    "large": SWITCH,
    **choices.LINK_RULES,
    **code_panel.LINK_RULES,
    **comparing.LINK_RULES,
    **example.LINK_RULES,
    **many_heads.LINK_RULES,
    **order_controls.LINK_RULES,
    **parity_controls.LINK_RULES,
    **training_controls.LINK_RULES,
    **writing_view.LINK_RULES,
}
