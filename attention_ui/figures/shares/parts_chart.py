"""The template of parts of a whole."""

import altair as alt

from attention_ui.figures.layers import layered, role_colour, tone_scale, width_on_a_phone
from attention_ui.figures.shares.parts import BAR_PANEL_WIDTH, LABEL_WIDTH

LAST = "data('bars')[length(data('bars')) - 1]"  # the lines are in their order
BETWEEN_LINES, AROUND_LINES = 0.25, 0.1  # of a line
LARGEST_TITLE, TITLE_ON_A_PHONE, NARROW_PICTURE = 18, 13, 400  # pixels: those of panels stand side by side
TITLE_LETTER = 0.48  # of the height of a bold letter: as wide is one of a long word, on average
MOST_ON_A_PHONE = 2  # panels whose titles have room beside each other


def parts_chart(panels: int, width: int, step: int, letters: int = 0) -> alt.LayerChart:
    """The template: panels of bars in one view; a part that nothing is left of is a dashed outline and says why."""
    end_of_figure = panels * BAR_PANEL_WIDTH
    x_scale = alt.Scale(domain=[-LABEL_WIDTH, end_of_figure], nice=False)
    y = alt.Y("line:O", axis=None, scale=alt.Scale(paddingInner=BETWEEN_LINES, paddingOuter=AROUND_LINES))
    outline = alt.Stroke("tone:N", scale=tone_scale(), legend=None)
    start, end = alt.X("from:Q", axis=None, scale=x_scale), alt.X2("to:Q")
    font = max(letters, 10, min(16, step * 0.62))
    largest = min(font, LARGEST_TITLE)
    panel = BAR_PANEL_WIDTH / (LABEL_WIDTH + end_of_figure)  # of the width
    usual = f"width < {NARROW_PICTURE} ? {min(font, TITLE_ON_A_PHONE):g} : {largest:g}"
    title = alt.ExprRef(f"min({usual}, width * {panel:.4f} / ({TITLE_LETTER} * length(datum.text)))")

    def words(kinds: tuple[str, ...], colour: str, at: str, **look) -> alt.Chart:
        where = alt.X(f"{at}:Q", axis=None, scale=x_scale)
        text = things(*kinds).mark_text(**{"fontSize": font, "aria": False} | look)
        return text.encode(where, y, role_colour(colour), text="text:N")

    chart = layered(
        things("bar", "drawn").mark_bar(cornerRadius=2, aria=False).encode(start, y, role_colour(), x2=end),
        things("dropped")
        .mark_bar(cornerRadius=2, aria=False, filled=False, strokeDash=[3, 3], strokeWidth=1.5)
        .encode(start, y, outline, x2=end),
        words(("name",), "tone", "from", align="right", dx=-6, fontWeight="bold"),
        words(("title",), "tone", "from", align="left", fontWeight="bold", fontSize=title),
        words(("bar",), "ink", "to", align="left", dx=4),
        words(("drawn",), "ink", "to", align="left", dx=4, fontWeight="bold"),
        words(("dropped",), "muted", "to", align="left", dx=4, fontStyle="italic"),
        pointed_line(y, x_scale, end_of_figure),
        size="fit-x",
        padding={"left": 8, "right": 5, "top": 5, "bottom": 5},  # the sign of a space is wider than Vega guesses
        width=width,
        height=step,  # and as high as all lines together: `alt.Step` goes with no width that fits
    )
    lines = f"length(data('bars')) ? {LAST}.line + 1 : 1"
    chart = chart.add_params(
        alt.param(name="height", expr=f"{step} * bandspace({lines}, {BETWEEN_LINES}, {AROUND_LINES})")
    )
    return chart.add_params(width_on_a_phone(width)) if panels <= MOST_ON_A_PHONE else chart


def things(*kinds: str) -> alt.Chart:
    """What is drawn of these kinds."""
    wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
    source = alt.Chart(alt.NamedData(name="bars")).transform_filter(wanted)
    return source.transform_calculate(ink="'ink'", muted="'muted'")


def pointed_line(y: alt.Y, x_scale: alt.Scale, end_of_figure: float) -> alt.Chart:
    """The whole line of a part: it says what it is, and is lit, where it is pointed at."""
    hover = alt.selection_point(name="row", fields=["line"], on="pointerover", clear="pointerout", empty=False)
    row = things("name").transform_calculate(first=f"{-LABEL_WIDTH}", last=f"{end_of_figure}")
    return (
        row.mark_bar()
        .encode(
            alt.X("first:Q", axis=None, scale=x_scale),
            y,
            role_colour("muted"),
            x2="last:Q",
            fillOpacity=alt.condition(hover, alt.value(0.12), alt.value(0)),
            tooltip=alt.Tooltip("say:N", title=" "),
            description="say:N",
        )
        .add_params(hover)
    )
