"""Parts of a whole: a panel of bars for each row of the figure, and a line for each part."""

from collections.abc import Iterator

import pyarrow as pa

from lessons.screen import Part, Parts, format_value, percent, render, translate

# In widths of a bar of 100%: what a panel and the names before it take, so that what stands beside a bar fits.
BAR_PANEL_WIDTH, LABEL_WIDTH = 1.6, 0.35
FIELDS = ("line", "panel", "text", "kind", "tone", "from", "to", "say")
TALL, LOW = 26, 15  # pixels of a line
MOST_TALL_LINES = 16


def line_height(figure: Parts) -> int:
    """Pixels for each part: fewer where there are many."""
    return TALL if len(figure.parts) <= MOST_TALL_LINES else LOW


def parts_table(figure: Parts) -> pa.Table:
    """The titles of the panels in a line of their own; then for each part its name, and a bar in every panel."""
    rows = [thing(0, panel, render(title), "title", "ink") for panel, title in enumerate(figure.rows)]
    for line, part in enumerate(figure.parts, start=1):
        name = format_value(part.name)
        rows.append(thing(line, 0, f"▸ {name}" if part.chosen else name, "name", "ink", 0.0, part_said(part)))
        rows += bars_of(line, part)
    columns = dict(zip(FIELDS, zip(*rows, strict=True), strict=True))
    return pa.table(
        {
            "line": pa.array(columns.pop("line"), pa.int16()),
            **{key: pa.array(columns.pop(key), pa.float32()) for key in ("from", "to")},
            "panel": pa.array(columns.pop("panel"), pa.int16()),
            **{key: pa.array(values, pa.string()).dictionary_encode() for key, values in columns.items()},
        }
    )


def bars_of(line: int, part: Part) -> Iterator[tuple]:
    """The bar of a part in each panel; where nothing is left in the last one, what there was before, as an outline."""
    remark = "" if part.remark is None else render(part.remark)
    last = len(part.shares) - 1
    for panel, share in enumerate(part.shares):
        words = percent(share)
        if panel == last and remark and not share:
            yield thing(line, panel, remark, "dropped", "hatch", part.shares[max(0, last - 1)], part_said(part, panel))
        elif panel == last and remark:
            yield thing(line, panel, f"{words} · {remark}", "drawn", "weight", share, part_said(part, panel))
        else:
            yield thing(line, panel, words, "bar", "weight", share, part_said(part, panel))


def part_said(part: Part, panel: int = 0) -> str:
    """What pointing at a part says: its sentence, and its remark."""
    sentence = render(part.says[panel])
    if part.remark is None:
        return sentence
    return translate("{said}; {remark}.", said=sentence.rstrip(".。"), remark=part.remark)


def thing(line: int, panel: int, text: str, kind: str, tone: str, share: float = 0.0, say: str = "") -> tuple:
    """One thing of the figure: where its bar begins and ends, and what is written beside it."""
    left = panel * BAR_PANEL_WIDTH
    return line, panel, text, kind, tone, left, left + share, say
