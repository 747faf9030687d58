"""Tokens, the right answers below them and a model's answers: columns that stand whatever the font of their letters."""

from collections.abc import Iterable, Mapping, Sequence

import altair as alt
import pyarrow as pa

from attention_ui.figures.layers import alt_layer, role_colour
from attention_ui.figures.shares.sharing_chart import at, down
from lessons.screen import letters

# Pixels: of letters, about how wide one is, and from row to row.
ANSWER_LETTERS, COLUMN_LETTER, ANSWER_LINE = 14, 8.2, 25
COLUMN_GAP = 9  # pixels between two columns


def column_width(texts: Iterable[str], smallest: int) -> int:
    """The pixels of a column in which the longest of these texts fits, in letters of at least so many pixels."""
    return round(max(map(letters, texts)) * COLUMN_LETTER * max(ANSWER_LETTERS, smallest) / ANSWER_LETTERS) + COLUMN_GAP


def answers_table(rows: Mapping[str, Sequence[str]], beside: int, step: int, smallest: int = 0) -> pa.Table:
    """A row for each text: its place in pixels, where titles take the room `beside` columns that are `step` wide."""
    line = ANSWER_LINE * max(ANSWER_LETTERS, smallest) / ANSWER_LETTERS
    drawn = [(title, 0.0, (place + 0.5) * line, "left", "muted") for place, title in enumerate(rows)] + [
        (text, beside + (column + 0.5) * step, (place + 0.5) * line, "center", "ink")
        for place, texts in enumerate(rows.values())
        for column, text in enumerate(texts)
    ]
    return pa.table(dict(zip(("text", "x", "y", "align", "tone"), zip(*drawn, strict=True), strict=True)))


def answers_chart(rows: int, columns: int, beside: int, step: int, smallest: int = 0) -> alt.LayerChart:
    """The template for so many rows and columns. What is too long for its column is whole in the tooltip."""
    letter = max(ANSWER_LETTERS, smallest)
    limit = alt.ExprRef(f"datum.align === 'left' ? {beside - COLUMN_GAP} : {step - 2}")
    text = alt.Chart(alt.NamedData(name="answers")).mark_text(
        fontSize=letter, baseline="middle", align=alt.ExprRef("datum.align"), limit=limit
    )
    written = text.encode(at("x"), down(), role_colour(), text="text:N", tooltip="text:N", description="text:N")
    sizes = {"width": beside + step * columns, "height": ANSWER_LINE * letter // ANSWER_LETTERS * rows}
    return alt.layer(alt_layer(), written).properties(
        **sizes,
        autosize=alt.AutoSizeParams(type="pad"),
        view={"stroke": None},
        usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
    )
