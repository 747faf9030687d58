"""Colours by their role. The theme of `.streamlit/config.toml` gives each role its colour, for light and dark."""

# The order of `chartCategoricalColors`.
ROLES = ("ink", "q", "k", "v", "muted", "hatch", "weight", "ghost")

# Formulas know no theme, so these read on white and on black.
FORMULA_COLOURS = {"q": "#0a7dc0", "k": "#d55e00", "v": "#009e73", "weight": "#8466c4"}

SCORE_DOMAIN = (-3, 3)
WEIGHT_DOMAIN = (0, 1)
