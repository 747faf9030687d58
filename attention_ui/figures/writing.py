"""One new token: the whole distribution through temperature and cuts, and what every head looked at before."""

import altair as alt
import pyarrow as pa

from attention_core.generation import GeneratedToken
from attention_core.sampling import TokenDraw, ranked
from attention_core.tokens import Vocabulary
from attention_ui.figures.grid import Grid, Matrix, cell_tag
from attention_ui.figures.layers import alt_layer, tone_scale
from lessons.captions import name, number, percent, seen

PANELS = ("the model says", "after the temperature", "drawn from")
# In widths of a bar of 100 %: where each panel begins and the figure ends, so that what is written beside a bar fits.
PANEL_WIDTH, LABEL_WIDTH, FIGURE_WIDTH = 1.6, 0.35, 5.15
MOST_NUMBERED_COLUMNS = 12
LABEL_COLUMNS = 2
HEADER_ROWS = 2


def distribution_table(vocabulary: Vocabulary, draw: TokenDraw, places: bool = True) -> pa.Table:
    """A row of the figure for each token, the likeliest first, with a bar in each of the three panels."""
    stages = [values.tolist() for values in (draw.probabilities, draw.tempered, draw.final)]
    rows = [
        drawn_thing(0, panel, title, "title", "ink", 0.0, "") for panel, title in enumerate(PANELS)
    ]  # the titles stand in a line of their own
    for line, token in enumerate(ranked(draw.logits).tolist(), start=1):
        lost, chosen = fate(draw, token), token == draw.token
        label = seen(vocabulary.tokens[token])
        says = f"“{label}”: score {number(float(draw.logits[token]))}; " + ", ".join(
            f"{title} {percent(values[token])}" for title, values in zip(PANELS, stages, strict=True)
        )
        says += f"; {lost}" if lost else "; drawn" if chosen else ""
        rows.append(drawn_thing(line, 0, f"▸ {label}" if chosen else label, "name", "ink", 0.0, says))
        for panel, values in enumerate(stages):
            last = panel == len(PANELS) - 1
            gone = last and bool(lost)
            share = stages[1][token] if gone else values[token]
            kind = "dropped" if gone else "drawn" if last and chosen else "bar"
            words = lost if gone else percent(values[token]) + (" · drawn" if last and chosen else "")
            rows.append(drawn_thing(line, panel, words, kind, "hatch" if gone else "weight", share, says))
    fields = ("line", "panel", "text", "kind", "tone", "from", "to", "say")
    columns = dict(zip(fields, zip(*rows, strict=True), strict=True))
    return pa.table(
        {
            "line": pa.array(columns.pop("line"), pa.int16()),
            **{key: pa.array(columns.pop(key), pa.float32()) for key in ("from", "to")},
            "panel": pa.array(columns.pop("panel"), pa.int16()),
            **{key: pa.array(values, pa.string()).dictionary_encode() for key, values in columns.items()},
        }
    )


def drawn_thing(line: int, panel: int, text: str, kind: str, tone: str, share: float, say: str) -> tuple:
    """One thing of the figure: where its bar begins and ends, and what is written beside it."""
    left = panel * PANEL_WIDTH
    return line, panel, text, kind, tone, left, left + share, say


def fate(draw: TokenDraw, token: int) -> str:
    """Which cut dropped the token; nothing where none did."""
    if draw.kept[token]:
        return ""
    return "dropped by top-p" if draw.kept_by_top_k[token] else "dropped by top-k"


def distribution_chart(width: int, step: int) -> alt.LayerChart:
    """The template: three panels of bars in one view; dropped tokens are dashed outlines and say why."""
    x_scale = alt.Scale(domain=[-LABEL_WIDTH, FIGURE_WIDTH], nice=False)
    y = alt.Y("line:O", axis=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.1))
    tone = alt.Color("tone:N", scale=tone_scale(), legend=None)
    start, end = alt.X("from:Q", axis=None, scale=x_scale), alt.X2("to:Q")
    hover = alt.selection_point(name="row", fields=["line"], on="pointerover", clear="pointerout", empty=False)
    font = max(10, min(13, step * 0.55))

    def things(*kinds: str) -> alt.Chart:
        wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
        source = alt.Chart(alt.NamedData(name="bars")).transform_filter(wanted)
        return source.transform_calculate(ink="'ink'", muted="'muted'")

    def words(kinds: tuple[str, ...], colour: str, at: str, **look) -> alt.Chart:
        colour = alt.Color(f"{colour}:N", scale=tone_scale(), legend=None)
        where = alt.X(f"{at}:Q", axis=None, scale=x_scale)
        return things(*kinds).mark_text(fontSize=font, aria=False, **look).encode(where, y, colour, text="text:N")

    outline = alt.Stroke("tone:N", scale=tone_scale(), legend=None)
    whole_row = alt.condition(hover, alt.value(0.12), alt.value(0))
    ends = alt.Chart(alt.NamedData(name="bars")).transform_filter("datum.kind === 'name'")
    row = ends.transform_calculate(first=f"{-LABEL_WIDTH}", last=f"{FIGURE_WIDTH}")
    row = row.transform_calculate(muted="'muted'")
    return alt.layer(
        alt_layer(),
        things("bar", "drawn").mark_bar(cornerRadius=2, aria=False).encode(start, y, tone, x2=end),
        things("dropped")
        .mark_bar(cornerRadius=2, aria=False, filled=False, strokeDash=[3, 3], strokeWidth=1.5)
        .encode(start, y, outline, x2=end),
        words(("name",), "tone", "from", align="right", dx=-6, fontWeight="bold"),
        words(("title",), "tone", "from", align="left", fontWeight="bold"),
        words(("bar",), "ink", "to", align="left", dx=4),
        words(("drawn",), "ink", "to", align="left", dx=4, fontWeight="bold"),
        words(("dropped",), "muted", "to", align="left", dx=4, fontStyle="italic"),
        row.mark_bar()
        .encode(
            alt.X("first:Q", axis=None, scale=x_scale),
            y,
            alt.Color("muted:N", scale=tone_scale(), legend=None),
            x2="last:Q",
            fillOpacity=whole_row,
            tooltip=alt.Tooltip("say:N", title=" "),
            description="say:N",
        )
        .add_params(hover),
    ).properties(
        width=width,
        height=alt.Step(step),
        autosize=alt.AutoSizeParams(type="pad"),
        usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
    )


def looks_columns(new: GeneratedToken) -> int:
    """Columns of the grid that the looks at one window need."""
    return LABEL_COLUMNS + len(new.window)


def looks_table(new: GeneratedToken) -> pa.Table:
    """For every layer a block, for every head a line: the weights of the last token read on all of the window."""
    n = len(new.window)
    names = [name(new.window, place) for place in range(n)]

    def say(key: str, head: int, place: int) -> str:
        weight = number(float(new.attention[int(key)][head, place]), 3)
        return f"layer {int(key) + 1}, head {head + 1}: {names[-1]} → {names[place]}: weight {weight}"

    grid = Grid(lambda key, head, place: [cell_tag(key, head, place)], say)
    top = HEADER_ROWS
    for layer, weights in enumerate(new.attention):
        title = f"{names[-1]} looks at" + (f", in layer {layer + 1}" if len(new.attention) > 1 else "")
        grid.text(title, LABEL_COLUMNS, top - 2, "title", "weight")
        for place, token in enumerate(new.window):
            grid.text(seen(token), LABEL_COLUMNS + place, top - 1, "column")
        for head in range(len(weights)):
            grid.text(f"head {head + 1}", LABEL_COLUMNS - 1, top + head, "row")
        matrix = Matrix(str(layer), "", weights.tolist(), "weight", "weight")
        grid.matrix(matrix, LABEL_COLUMNS, top, numbered=n <= MOST_NUMBERED_COLUMNS)
        top += len(weights) + HEADER_ROWS
    grid.text("one query asks, columns answer (keys)", 0, grid.height, "hint")
    return grid.table()
