"""What all Altair charts here are made with: the scale of the roles, and the alternative text."""

import altair as alt

from attention_ui.figures.roles import COLOUR_ROLES

PHONE = 560  # pixels: what is narrower is a phone
BESIDE_A_PAGE = 32  # pixels of the screen that are at the sides of a page on a phone


def tone_scale() -> alt.Scale:
    """From the name of a tone to the colour the theme has for it."""
    return alt.Scale(domain=list(COLOUR_ROLES), range="category")


def role_colour(field: str = "tone") -> alt.Color:
    """The colour of the role that a thing plays, or of the one role that the field names."""
    return alt.Color(f"{field}:N", scale=tone_scale(), legend=None)


def alt_layer() -> alt.Chart:
    """An unseen mark that carries the alternative text, as data.

    Text given to Streamlit's own `alt` becomes part of the specification, and a chart whose specification
    changes is thrown away and drawn anew, with a flicker.
    """
    chart = alt.Chart(alt.NamedData(name="alt")).mark_text(opacity=0)
    return chart.encode(text=alt.value(""), description="text:N")


def width_on_a_phone(width: int) -> alt.Parameter:
    """The width of a picture: so many pixels, but on a phone no more than its page has."""
    page = f"windowSize()[0] - {BESIDE_A_PAGE}"
    return alt.param(name="width", expr=f"windowSize()[0] < {PHONE} ? min({width}, {page}) : {width}")


def layered(*layers: alt.Chart, size: str = "fit", **look) -> alt.LayerChart:
    """Layers on each other and the alternative text, as SVG. The size is that of all; with "fit-x" the height, and with
    "pad" both, that of the plot alone.
    """
    sizing = {"type": size} if size == "pad" else {"type": size, "contains": "padding"}
    plain = {"embedOptions": {"renderer": "svg", "actions": False}}
    chart = alt.layer(alt_layer(), *layers)
    return chart.properties(autosize=alt.AutoSizeParams(**sizing), usermeta=plain, **look)
