"""Colours by their role. The theme of `.streamlit/config.toml` gives each role its colour, for light and dark."""

# The order of `chartCategoricalColors`.
COLOUR_ROLES = ("ink", "q", "k", "v", "muted", "hatch", "weight", "ghost")

SCORE_DOMAIN = (-3, 3)
WEIGHT_DOMAIN = (0, 1)
