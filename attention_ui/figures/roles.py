"""Colours by their role. The theme of `.streamlit/config.toml` gives each role its colour, for light and dark.

Nobody else names a colour: charts take them from the theme, styles, formulas and saved pictures from here.
"""

import functools
import re
import tomllib
from pathlib import Path

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"

# The order of `chartCategoricalColors`.
COLOUR_ROLES = ("ink", "q", "k", "v", "muted", "hatch", "weight", "ghost")


SCORE_DOMAIN = (-3, 3)  # of a bar from end to end of its cell, where no number of its kind is larger
FULL = 0.88  # of a place is the square of a weight of 1, and a bar from end to end
FIELD = 0.45  # the opacity of the field behind what is drawn, of the colour of ghosts
TINT = {"ink": 0.3, "role": 0.45}  # the opacity of a square behind a number: the number reads well on it
TIP = 0.25  # of a bar that goes on beyond its cell: it ends in a point


@functools.cache
def role_colours(theme: str) -> dict[str, str]:
    """The colour of each role in the "light" or the "dark" theme, and those of all around them."""
    colours = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    around = {
        "page": "backgroundColor",
        "panel": "secondaryBackgroundColor",
        "line": "borderColor",
        "wrong": "redTextColor",
    }
    roles = dict(zip(COLOUR_ROLES, colours["chartCategoricalColors"], strict=True))
    return roles | {role: colours[name] for role, name in around.items()}


def role_styles() -> str:
    """The colours of the roles as variables of a style, such as `--lab-weight`."""
    light, dark = role_colours("light"), role_colours("dark")
    return ".stApp { " + " ".join(f"--lab-{role}: light-dark({light[role]}, {dark[role]});" for role in light) + " }"


def in_role_colours(formula: str, theme: str) -> str:
    r"""LaTeX in which `\textcolor` names roles, in the colours that these have in a theme."""
    colours = role_colours(theme)
    return re.sub(r"\\textcolor\{(\w+)\}", lambda found: rf"\textcolor{{{colours[found[1]]}}}", formula)
