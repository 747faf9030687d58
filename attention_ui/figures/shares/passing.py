"""A row that is read block by block: everything that is drawn at each moment, as one table.

Across, a key has a slot of width 1 and the output as many slots as it has features; down, all is in pixels.
"""

import pyarrow as pa

from attention_ui.figures.matrices.numbers import cell_text, tiny_text
from lessons.screen import BlockState, OnlineSoftmaxFigure, render, visible_text

NUMBER_ZERO, NUMBERS_UP = 92, 40  # pixels: of the scores, and of the longest of their bars
SIZE_FLOOR, SIZES_UP = 252, 78
SUM_TOP, SUM_DEEP = 282, 30
OUTPUT_ZERO, OUTPUT_UP = 384, 34
PASSING_HEIGHT = 436
LINES_WIDE = (NUMBER_ZERO - 8, SIZE_FLOOR - 40, SUM_TOP + 8, OUTPUT_ZERO - 8)  # where their titles stand at the left
LINES_NARROW = (34, 152, 270, 334)  # and above them, on a phone
SIDE = 0.2  # of a slot, of a bar
MOST_VALUES = 12  # features whose numbers are written
EVER = -1  # the moment of what always stands there
PASSING_FIELDS = ("moment", "kind", "place", "x", "x2", "y", "y2", "text", "say", "tone", "told")


def passing_table(figure: OnlineSoftmaxFigure) -> pa.Table:
    """A row for each thing and moment. What an answer would tell is `told`."""
    rows = [*still_things(figure)]
    for moment, known in enumerate(figure.moments):
        rows += [(moment, *thing) for thing in (*bars_so_far(figure, known), *output_so_far(figure, known))]
    columns = dict(zip(PASSING_FIELDS, zip(*rows, strict=True), strict=True))
    numbers = {name: pa.array(columns.pop(name), pa.float32()) for name in ("x", "x2", "y", "y2")}
    whole = {"moment": pa.array(columns.pop("moment"), pa.int16()), "told": pa.array(columns.pop("told"), pa.bool_())}
    return pa.table(
        whole | numbers | {name: pa.array(values, pa.string()).dictionary_encode() for name, values in columns.items()}
    )


def passing_thing(
    kind: str,
    place: int,
    x: float,
    y: float,
    x2: float = 0.0,
    y2: float = 0.0,
    *,
    text: str = "",
    say: str = "",
    tone: str = "ink",
    told: bool = True,
) -> tuple:
    """One thing; `kind` and `place` tell it from all others, at every moment."""
    return kind, f"{kind} {place}", x, x2, y, y2, text, say, tone, told


def still_things(figure: OnlineSoftmaxFigure) -> list[tuple]:
    """The names of the keys and of the lines; a frame where a score stands that was not read yet."""
    names = [
        passing_thing(
            "names",
            at,
            at + 0.5,
            14,
            text=visible_text(key.text),
            tone="q" if key == figure.query else "ink",
            told=False,
        )
        for at, key in enumerate(figure.keys)
    ]
    titles = [
        passing_thing("titles", line, 0, wide, 0, narrow, text=render(title), told=False)
        for line, (title, wide, narrow) in enumerate(zip(figure.titles, LINES_WIDE, LINES_NARROW, strict=True))
    ]
    return [(EVER, *thing) for thing in (*names, *titles)]


def bars_so_far(figure: OnlineSoftmaxFigure, known: BlockState) -> list[tuple]:
    """The block, its keys and all before them: scores, the largest of them, sizes, and their parts of the sum."""
    things = [
        passing_thing("block", 0, known.begin + 0.03, 26, known.end - 0.03, SIZE_FLOOR + 6, tone="weight", told=False)
    ]
    n, before = len(figure.keys), 0.0
    for at, number in enumerate(figure.numbers):
        middle, read = at + 0.5, at < known.end
        up = NUMBERS_UP * number / figure.number_domain
        if not read:
            frame = (middle - SIDE, NUMBER_ZERO - 20, middle + SIDE, NUMBER_ZERO + 20)
            things.append(passing_thing("waiting", at, *frame, tone="hatch", told=False))
            continue
        size = known.sizes[at]
        high, share = SIZES_UP * size, n * size / known.total
        things += [
            passing_thing("numbers", at, middle - SIDE, NUMBER_ZERO - up, middle + SIDE, NUMBER_ZERO, told=False),
            passing_thing(
                "values", at, middle, NUMBER_ZERO + (14 if up >= 0 else -12), text=cell_text(number), told=False
            ),
            passing_thing("sizes", at, middle - SIDE, SIZE_FLOOR - high, middle + SIDE, SIZE_FLOOR, tone="weight"),
            passing_thing("amounts", at, middle, SIZE_FLOOR - high - 9, text=tiny_text(size)),
            passing_thing("whole", at, before, SUM_TOP, before + share, SUM_TOP + SUM_DEEP, tone="weight"),
            passing_thing(
                "touch", at, at + 0.04, 26, at + 0.96, SIZE_FLOOR + 6, say=render(known.says[at]), tone="weight"
            ),
        ]
        before += share
    level = NUMBER_ZERO - NUMBERS_UP * known.largest / figure.number_domain
    things.append(passing_thing("largest", 0, 0, level, n, level, tone="weight"))
    ways = zip(known.lines, LINES_WIDE, LINES_NARROW, strict=True)
    return things + [
        passing_thing("ways", line, 0, wide + 19, 0, narrow, text=render(said), tone="muted")
        for line, (said, wide, narrow) in enumerate(ways)
    ]


def output_so_far(figure: OnlineSoftmaxFigure, known: BlockState) -> list[tuple]:
    """The output as bars up and down, over the width of all keys."""
    slot, things = len(figure.keys) / len(known.output), []
    for at, value in enumerate(known.output):
        middle, half, up = (at + 0.5) * slot, SIDE * slot, OUTPUT_UP * value / figure.output_domain
        things.append(
            passing_thing(
                "output",
                at,
                middle - half,
                OUTPUT_ZERO - up,
                middle + half,
                OUTPUT_ZERO,
                say=render(known.output_says[at]),
                tone="v",
            )
        )
        if len(known.output) <= MOST_VALUES:
            text = {"text": cell_text(value), "tone": "v"}
            things.append(passing_thing("results", at, middle, OUTPUT_ZERO + (14 if up >= 0 else -12), **text))
    return things
