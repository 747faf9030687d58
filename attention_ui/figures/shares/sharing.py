"""Numbers that become parts of one whole: the table of all that is drawn, and the film of how one becomes the other.

Across, a key has a slot of width 1; down, all is in pixels. So the same table serves every width of the page.
"""

import pyarrow as pa

from attention_ui.figures.matrices.numbers import cell_text, tiny_text
from lessons.screen import Portion, Sharing, letters, percent, render, visible_text

ZERO, FLOOR, WHOLE, DEEP = 104, 286, 336, 40  # pixels: of numbers, below sizes, the top of the whole and its height
NUMBER_ROOM, SIZE_ROOM = 46, 100  # pixels of the longest bars
BAR = 0.4  # of a slot
LEAST_SHOWN = 5  # letters of a name in its part: a longer one is cut
GAP = 0.014  # of a slot, between two parts
CURVE = 12  # pieces of the edge of a ribbon
WIDE, NARROW = 700, 340  # pixels of all slots on a laptop and on a phone
LABEL_LETTER = 8.5  # pixels
SHARING_FIELDS = ("kind", "key", "x", "x2", "y", "y2", "text", "say", "tone", "cell_tag", "told", "wide", "narrow")


def sharing_table(figure: Sharing, *, covered: bool) -> pa.Table:
    """A row for each thing that is drawn. What an answer would tell is `told`; while `covered`, frames stand for it."""
    rows = [*named_lines(figure), *(thing for at in range(len(figure.portions)) for thing in portion(figure, at))]
    rows += list(frames(figure)) if covered else list(labels(figure))
    columns = dict(zip(SHARING_FIELDS, zip(*rows, strict=True), strict=True))
    numbers = {name: pa.array(columns.pop(name), pa.float32()) for name in ("x", "x2", "y", "y2")}
    flags = {name: pa.array(columns.pop(name), pa.bool_()) for name in ("told", "wide", "narrow")}
    keys = {"key": pa.array(columns.pop("key"), pa.int16())}
    words = {name: pa.array(values, pa.string()).dictionary_encode() for name, values in columns.items()}
    places = {"place": pa.array([f"{row[0]} {row[1]}" for row in rows], pa.string())}
    return pa.table(keys | numbers | flags | words | places)


def drawn_at(
    kind: str,
    key: int,
    x: float,
    y: float,
    x2: float = 0.0,
    y2: float = 0.0,
    *,
    text: str = "",
    say: str = "",
    tone: str = "ink",
    tag: str = "",
    told: bool = False,
    wide: bool = True,
    narrow: bool = True,
) -> tuple:
    """One row of the table."""
    return kind, key, x, x2, y, y2, text, say, tone, tag, told, wide, narrow


def named_lines(figure: Sharing) -> list[tuple]:
    """What each of the three lines is, at its left; on a phone above it."""
    places = ((ZERO - 6, ZERO - 56), (FLOOR - 70, FLOOR - SIZE_ROOM - 26), (WHOLE + DEEP / 2 - 6, WHOLE + DEEP + 46))
    return [
        line
        for at, ((name, how), (wide, narrow)) in enumerate(zip(figure.lines, places, strict=True))
        for line in (
            drawn_at("labels", at, 0, wide, 0, narrow, text=render(name)),
            drawn_at("ways", at, 0, wide + 19, 0, narrow, text=render(how), tone="muted"),
        )
    ]


def portion(figure: Sharing, at: int) -> list[tuple]:
    """One key: its name, its number as a bar up or down, its size as a bar, the ribbon from there and its part."""
    one, middle = figure.portions[at], at + 0.5
    left, right = part_of(figure.portions, at)
    say, tag = render(one.says), f"|{figure.matrix} 0,{at}|"
    pointed = {"say": say, "tag": tag, "told": True}
    up, high = number_height(figure, one), SIZE_ROOM * one.size
    gap = min(GAP, (right - left) / 4)
    whole = (left + gap, WHOLE, right - gap, WHOLE + DEEP)
    return [
        drawn_at("touch", at, at + 0.04, 28, at + 0.96, FLOOR + 6, **pointed, tone="weight"),
        drawn_at(
            "names", at, middle, 18, text=visible_text(one.key.text), tone="q" if one.key == figure.query else "ink"
        ),
        drawn_at("numbers", at, middle - BAR / 2, ZERO - up, middle + BAR / 2, ZERO),
        drawn_at("values", at, middle, ZERO + (16 if up >= 0 else -12), text=cell_text(one.number)),
        *arrow(figure, at),
        drawn_at("sizes", at, middle - BAR / 2, FLOOR - high, middle + BAR / 2, FLOOR, tone="weight", told=True),
        drawn_at("amounts", at, middle, FLOOR - high - 10, text=tiny_text(one.size), told=True),
        *ribbon(at, middle, left, right),
        drawn_at("whole", at, *whole, **pointed, tone="weight"),
    ]


def number_height(figure: Sharing, one: Portion) -> float:
    """Pixels of the bar of a number, below 0 where it goes down. What is beyond the domain ends with it."""
    return NUMBER_ROOM * min(max(one.number / figure.number_domain, -1.0), 1.0)


def arrow(figure: Sharing, at: int) -> list[tuple]:
    """At the end of a bar whose number is beyond the domain: it goes on."""
    number = figure.portions[at].number
    if abs(number) <= figure.number_domain:
        return []
    beyond = NUMBER_ROOM + 7
    up = number > 0
    return [drawn_at("beyond", at, at + 0.5, ZERO - beyond if up else ZERO + beyond, text="▲" if up else "▼")]


def part_of(portions: tuple[Portion, ...], at: int) -> tuple[float, float]:
    """Where a part of the whole begins and ends, in slots."""
    before = sum(one.share for one in portions[:at])
    return before * len(portions), (before + portions[at].share) * len(portions)


def ribbon(at: int, middle: float, left: float, right: float) -> list[tuple]:
    """From the foot of a bar to its part."""
    pieces = []
    for piece in range(CURVE + 1):
        down = piece / CURVE
        way = down * down * (3 - 2 * down)
        ends = ((middle + side * BAR / 2) * (1 - way) + end * way for side, end in ((-1, left), (1, right)))
        first, second = ends
        y = FLOOR + 3 + (WHOLE - FLOOR - 6) * down
        pieces.append(drawn_at("ribbons", at, first, y, second, tone="weight", told=True))
    return pieces


def frames(figure: Sharing) -> list[tuple]:
    """What stands where the answer will be: empty frames with question marks, and what is asked of the whole."""
    n = len(figure.portions)
    columns = [
        drawn
        for at in range(n)
        for drawn in (
            drawn_at("frames", at, at + 0.5 - BAR / 2, FLOOR - SIZE_ROOM, at + 0.5 + BAR / 2, FLOOR, tone="hatch"),
            drawn_at("marks", at, at + 0.5, FLOOR - SIZE_ROOM / 2, text="?", tone="muted"),
        )
    ]
    asks = drawn_at("asks", 0, n / 2, WHOLE + DEEP / 2, text=render(figure.asks), tone="muted")
    return [*columns, drawn_at("frames", n, 0, WHOLE, n, WHOLE + DEEP, tone="hatch"), asks]


def labels(figure: Sharing) -> list[tuple]:
    """The shares below the parts, and names in them, where a wide or a narrow page has room; the largest come first."""
    shares = [percent(one.share) for one in figure.portions]
    names = [visible_text(one.key.text) for one in figure.portions]
    wide, narrow = (with_room(figure.portions, shares, pixels) for pixels in (WIDE, NARROW))
    drawn = []
    for at, one in enumerate(figure.portions):
        left, right = part_of(figure.portions, at)
        middle, room = (left + right) / 2, [one.share * pixels for pixels in (WIDE, NARROW)]
        fits = [min(letters(names[at]), LEAST_SHOWN) * LABEL_LETTER * 1.2 < pixels - 8 for pixels in room]
        drawn.append(
            drawn_at(
                "shares",
                at,
                middle,
                WHOLE + DEEP + 18,
                text=shares[at],
                tone="weight",
                told=True,
                wide=wide[at],
                narrow=narrow[at],
            )
        )
        drawn.append(
            drawn_at(
                "inside",
                at,
                middle,
                WHOLE + DEEP / 2,
                right - left,
                text=names[at],
                tone="ghost",
                told=True,
                wide=fits[0],
                narrow=fits[1],
            )
        )
    return drawn


def with_room(portions: tuple[Portion, ...], texts: list[str], pixels: int) -> list[bool]:
    """Which labels have room below their parts when the largest choose first."""
    taken, chosen = [], [False] * len(portions)
    for at in sorted(range(len(portions)), key=lambda at: -portions[at].share):
        middle = sum(part_of(portions, at)) / 2 / len(portions) * pixels
        half = len(texts[at]) * LABEL_LETTER / 2 + 3
        if all(middle + half <= left or middle - half >= right for left, right in taken):
            taken.append((middle - half, middle + half))
            chosen[at] = True
    return chosen


def film_of_sharing(figure: Sharing) -> str:
    """A style that plays how each part comes about: its bar grows from its number, and moves into the whole.

    Where a thing comes from is said in parts of its own width and height, so it holds for every width of the page.
    """
    parts = "--lab-grows: lab-from-there; --lab-joins: lab-into-the-whole; --lab-appears: lab-appear"
    rules = [f".st-key-{figure.key} {{ {parts} }}"]
    for at, one in enumerate(figure.portions):
        left, right = part_of(figure.portions, at)
        up, high, wide = number_height(figure, one), SIZE_ROOM * one.size, right - left
        if high >= 1:
            rules.append(rule(figure, "sizes", at, 0, (FLOOR - high - (ZERO - max(up, 0))) / -high, 1, abs(up) / high))
        if high >= 1 and wide > 2 * GAP:
            inner = wide - 2 * min(GAP, wide / 4)
            across, down = (at + 0.5 - BAR / 2 - left - (wide - inner) / 2) / inner, (FLOOR - high - WHOLE) / DEEP
            rules.append(rule(figure, "whole", at, across, down, BAR / inner, high / DEEP))
        else:
            rules.append(rule(figure, "whole", at, 0, 0, 0, 1))
    return "\n".join(rules)


def rule(figure: Sharing, layer: str, at: int, across: float, down: float, wide: float, high: float) -> str:
    """Where the mark of a key begins: how far from its place, and how large, in its own widths and heights."""
    mark = f".st-key-{figure.key} .{layer}_marks path:nth-child({at + 1})"
    shift = f"{100 * across:.3f}% {100 * down:.3f}%"
    return f"{mark} {{ --from: {shift}; --size: {wide:.5f} {high:.5f} }}"
