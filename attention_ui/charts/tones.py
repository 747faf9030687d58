"""Colours by their role. The theme of `.streamlit/config.toml` gives each role its colour, for light and dark."""

import altair as alt

# The order of `chartCategoricalColors`.
TONES = ("ink", "q", "k", "v", "muted", "hatch", "weight", "ghost")

# Formulas know no theme, so these read on white and on black.
FORMULA_COLOURS = {"q": "#0a7dc0", "k": "#d55e00", "v": "#009e73", "weight": "#8466c4"}

SCORE_DOMAIN = (-3, 3)
WEIGHT_DOMAIN = (0, 1)


def tone_scale() -> alt.Scale:
    """From the name of a tone to the colour the theme has for it."""
    return alt.Scale(domain=list(TONES), range="category")


def score_scale() -> alt.Scale:
    """Diverging around 0; beyond the domain the colour stays, the number goes on."""
    return alt.Scale(domain=list(SCORE_DOMAIN), range="diverging", clamp=True)


def weight_scale() -> alt.Scale:
    """From no weight to the whole weight."""
    return alt.Scale(domain=list(WEIGHT_DOMAIN), range="ramp", clamp=True)
