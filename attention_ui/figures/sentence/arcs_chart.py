"""The template of arcs above a sentence."""

import altair as alt

from attention_ui.figures.layers import layered, role_colour
from attention_ui.figures.sentence.arcs import LETTERS_OF_WORDS

ARC = "M-1,0C-0.9,-0.6 0.9,-0.6 1,0"  # between −1 and 1; as high as 0.45 of its half width
ARC_HEIGHT = 0.45 / 2  # of an arc, in its widths
LINE, NUMBERS = 18, 13  # pixels: of a line of words, and of the letters of numbers
POINTED = "isDefined(word.token)"
OWN_ARC = f"{POINTED} && word.token[0] === datum.token"


def arcs_chart(words: int, width: int, longest: int, slanted: bool, letters: int = 0) -> alt.LayerChart:
    """The template for so many words of so many pixels, and arcs over so many words; pointing at one shows its arcs.

    All `letters` have so many pixels at least.
    """
    of_words, of_numbers = max(LETTERS_OF_WORDS, letters), max(NUMBERS, letters)
    base = int(ARC_HEIGHT * width * longest) + LINE  # where the words stand below
    scale = alt.Scale(domain=[-0.5, words - 0.5], nice=False)

    def at(field: str) -> alt.X:
        return alt.X(f"{field}:Q", axis=None, scale=scale)

    def from_arcs(test: str) -> alt.Chart:
        source = alt.Chart(alt.NamedData(name="arcs")).transform_filter(test)
        return source.transform_calculate(weight_role="'weight'")

    arcs = from_arcs("!datum.self").mark_point(shape=ARC, filled=False, aria=False)
    dots = from_arcs("datum.self").mark_point(shape="circle", filled=True, aria=False)
    thick = {"strokeWidth": alt.StrokeWidth("thick:Q", scale=None, legend=None)}
    pointed = alt.selection_point(name="word", fields=["token"], on="pointerover", clear="pointerout", empty=False)
    line = alt.Chart(alt.NamedData(name="words")).transform_calculate(
        ink="'ink'", left="datum.token - 0.5", right="datum.token + 0.5"
    )
    look = {"angle": 50, "align": "left", "baseline": "middle"} if slanted else {"baseline": "top"}
    named = line.mark_text(fontSize=of_words, aria=False, **look).encode(
        at("token"),
        y=alt.value(base + of_numbers + 10),
        color=role_colour("ink"),
        text="text:N",
        opacity=shown_where(1, 0.55, 1, 0.75),
    )
    room = line.mark_rect(opacity=0).encode(
        at("left"),
        x2="right:Q",
        y=alt.value(base - LINE),
        y2=alt.value(base + 2 * LINE),
        tooltip=alt.Tooltip("say:N", title=" "),
        description="say:N",
    )
    numbers = (
        from_arcs("true")
        .mark_text(fontSize=of_numbers, dy=2, baseline="top", aria=False)
        .encode(
            at("key"),
            y=alt.value(base),
            color=role_colour("weight_role"),
            text="text:N",
            opacity=shown_where(1, 0, 1, 0),
        )
    )
    side_by_side = not letters or width >= 2 * letters  # elsewhere they are read by pointing
    return layered(
        arcs.transform_calculate(thick="0.6 + 5 * datum.weight").encode(
            at("middle"),
            y=alt.value(base),
            color=role_colour("weight_role"),
            opacity=shown_where(0.9, 0.02, 0.9, 0.25),
            size=alt.Size("size:Q", scale=None, legend=None),
            **thick,
        ),
        dots.transform_calculate(area="20 + 160 * datum.weight").encode(
            at("key"),
            y=alt.value(base - 5),
            color=role_colour("weight_role"),
            size=alt.Size("area:Q", scale=None, legend=None),
            opacity=shown_where(0.9, 0.02, 0.9, 0.25),
        ),
        *([numbers] if side_by_side else []),
        named,
        room.add_params(pointed),
        size="pad",
        width=width * words,
        height=base + 2,
    )


def shown_where(own: float, others: float, chosen: float, rest: float) -> alt.OpacityValue:
    """The opacity of the word that is pointed at, of all else meanwhile; and of the chosen one and the rest before."""
    tests = ((OWN_ARC, own), (POINTED, others), ("datum.chosen", chosen))
    return alt.OpacityValue(rest, condition=[{"test": test, "value": value} for test, value in tests])
