"""The template of two votes side by side."""

import altair as alt

from attention_ui.figures.layers import layered, role_colour
from attention_ui.figures.shares.flow import BETWEEN_CARDS, STACK, TITLES_FROM

FLOW_HEIGHT = 300
VOTE_LETTERS = 18  # pixels of the letters: votes are shown to a room


def flow_chart(width: int, cards: int) -> alt.LayerChart:
    """The template for so many cards: bands between two stacks, and the names of the cards at their outer sides."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-4 * STACK, 1 + 4 * STACK], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[1 + (cards - 1) * BETWEEN_CARDS, TITLES_FROM], nice=False))
    band = of_flow("band").mark_area(opacity=0.35, aria=False)
    stack = of_flow("stack").transform_calculate(
        x=f"datum.x < 0.5 ? {-STACK} : 1", x2=f"datum.x < 0.5 ? 0 : {1 + STACK}"
    )
    return layered(
        band.encode(x, y, role_colour(), y2="y2:Q", detail="key:N", tooltip=alt.Tooltip("say:N", title=" ")),
        stack.mark_rect(cornerRadius=2).encode(
            x, y, role_colour(), x2="x2:Q", y2="y2:Q", description="say:N", tooltip=alt.Tooltip("say:N", title=" ")
        ),
        *(named_side(side, x) for side in (0, 1)),
        titles_of_votes(x),
        width=width,
        height=FLOW_HEIGHT,
    )


def of_flow(kind: str) -> alt.Chart:
    """What is drawn of this kind."""
    return (
        alt.Chart(alt.NamedData(name="flow"))
        .transform_filter(f"datum.kind === '{kind}'")
        .transform_calculate(ink="'ink'")
    )


def named_side(side: int, x: alt.X) -> alt.Chart:
    """The letters and counts beside a stack."""
    place = of_flow("stack").transform_filter(f"datum.x === {side}")
    place = place.transform_calculate(x=f"{-STACK if side == 0 else 1 + STACK}")
    align, dx = ("right", -8) if side == 0 else ("left", 8)
    text = place.mark_text(align=align, dx=dx, fontSize=VOTE_LETTERS, aria=False)
    return text.encode(x, alt.Y("middle:Q", axis=None), role_colour("ink"), text="text:N")


def titles_of_votes(x: alt.X) -> alt.Chart:
    """Which vote a stack is, above it."""
    place = of_flow("title").transform_calculate(x=f"datum.x < 0.5 ? {-STACK / 2} : {1 + STACK / 2}")
    text = place.mark_text(fontSize=VOTE_LETTERS, fontWeight="bold", baseline="middle", aria=False)
    return text.encode(x, alt.Y("middle:Q", axis=None), role_colour("ink"), text="text:N")
