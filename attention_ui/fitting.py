"""Figures that stand below several lines of controls, in a size with which they still fit the screen."""

from attention_ui.lesson import FIGURE_HEIGHT, fitted_template

ROOM = 385  # pixels that the controls leave free on a screen of 1440×900


def fitted_below_controls(columns: int, rows: int) -> tuple[dict, bool]:
    """As `fitted_template`, where less of the screen is free."""
    return fitted_template(columns + 1, -(-rows * FIGURE_HEIGHT // ROOM))
