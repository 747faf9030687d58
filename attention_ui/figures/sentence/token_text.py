"""A text in tokens: their table, laid out for a few widths of the page, and the template, which takes one of them."""

from collections.abc import Sequence

import pyarrow as pa

from attention_ui.figures.roles import COLOUR_ROLES
from lessons.screen import TextToken, TokenText, letters, render

WIDTHS = (320, 440, 640, 980)  # pixels of the lines that are laid out; the widest that fits the page is drawn
LETTERS, LARGE_LETTERS = 19, 29  # pixels
SMALL = 0.82  # of these are the letters below a token: 16 pixels
WIDE = 0.62  # of its height is a letter, where all are as wide
AROUND, GAP = 8, 3  # pixels within a box, and between two
FONT = "'Source Code Pro', 'Noto Sans Mono', monospace"
BAR = 34  # pixels of the longest bar
HATCHED_FIELD = 0.25  # how much is seen of the field of a hatched bar
SLANTED = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75)  # where its lines begin, in widths and heights of the bar
LINES_OF_LETTERS = 3.1  # from one line of tokens to the next, in letters, without the bars


def token_places(texts: Sequence[tuple[str, str]], width: int, size: int) -> list[tuple[int, float, float]]:
    """For each token, with what stands below it: its line, and where its box begins and ends, in pixels."""
    places, line, right = [], 0, 0.0
    for text, below in texts:
        wide = min(width, WIDE * size * max(letters(text), SMALL * letters(below)) + AROUND)
        if right and right + wide > width:
            line, right = line + 1, 0.0
        places.append((line, right, right + wide))
        right += wide + GAP
    return places


def token_table(figure: TokenText, size: int = LETTERS) -> pa.Table:
    """A row for each token, with its place in lines of each of the `WIDTHS`."""
    tokens = figure.tokens
    columns = {
        "token": pa.array(range(len(tokens)), pa.int16()),
        "text": pa.array([token.text for token in tokens], pa.string()),
        "below": pa.array([token.below for token in tokens], pa.string()),
        "say": pa.array([render(token.says) for token in tokens], pa.string()),
        "share": pa.array([token.share for token in tokens], pa.float32()),
        "bar": pa.array([tone_of(token) for token in tokens], pa.string()),
        "marked": pa.array([token.marked for token in tokens]),
    }
    for at, width in enumerate(WIDTHS):
        places = token_places([(token.text, token.below) for token in tokens], width, size)
        for name, values in zip(("line", "left", "right"), zip(*places, strict=True), strict=True):
            columns[f"{name}_{at}"] = pa.array(values, pa.float32())
    return pa.table(columns)


def tone_of(token: TextToken) -> str:
    """The role whose colour the bar of a token has."""
    return "hatch" if token.beyond else "weight"


def lines_at(table: pa.Table) -> tuple[int, ...]:
    """How many lines the text takes at each of the `WIDTHS`."""
    return tuple(1 + int(table[f"line_{at}"][-1].as_py()) for at in range(len(WIDTHS)))


def token_text_chart(lines: Sequence[int], *, shares: bool, picks: bool, size: int = LETTERS) -> dict:
    """The template for a text of so many lines at each width. Between two texts of as many only data change."""
    line, box = round(LINES_OF_LETTERS * size) + (BAR if shares else 0), round(1.6 * size)
    widest_first = [*enumerate(WIDTHS)][:0:-1]
    layout = " : ".join(f"width >= {width} ? {at}" for at, width in widest_first) + " : 0"
    below = f"datum.y2 + {0.62 * size}" + (f" + {BAR} * datum.share" if shares else "")
    places = pixels(line, box)
    layers = [
        mark("boxes", "rect", "tint", places, opacity=0.3, cornerRadius=3),
        mark("frames", "rect", "weight", [{"filter": "datum.marked"}, *places], filled=False, strokeWidth=2.5),
        written("words", "text", "ink", f"datum.y + {box / 2}", size, places, fontWeight=600),
        *([hanging_bars(places), hatches(places)] if shares else []),
        written("numbers", "below", "ink", below, round(SMALL * size), places),
        to_point_at(places, line, picks=picks),
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.4.1.json",
        "params": [
            {"name": "layout", "expr": layout},
            {"name": "height", "expr": f"{[line * count for count in lines]}[layout]"},
        ],
        "layer": [UNSEEN, *layers],
        "height": 200,
        "autosize": {"type": "none", "contains": "padding"},
        "padding": {"left": 2, "right": 2, "top": 2, "bottom": 2},
        "view": {"stroke": None},
        "usermeta": {"embedOptions": {"renderer": "svg", "actions": False}},
    }


UNSEEN = {  # carries the alternative text: see `alt_layer`
    "data": {"name": "alt"},
    "mark": {"type": "text", "opacity": 0},
    "encoding": {"description": {"field": "text", "type": "nominal"}, "text": {"value": ""}},
}


def pixels(line: int, box: int) -> list[dict]:
    """The corners of each token's box, as the layout has it."""
    chosen = {name: f"datum['{name}_' + layout]" for name in ("line", "left", "right")}
    places = {
        "x": chosen["left"],
        "x2": chosen["right"],
        "y": f"{line} * {chosen['line']} + 2",
        "y2": f"datum.y + {box}",
        "weight": "'weight'",
        "ink": "'ink'",
        "tint": "datum.token % 2 ? 'ghost' : 'muted'",
    }
    return [{"calculate": formula, "as": name} for name, formula in places.items()]


def bars_of_shares(places: list[dict]) -> list[dict]:
    """Each bar hangs below its token, as long as its share."""
    return [
        *places,
        {"calculate": f"datum.y2 + {BAR} * datum.share", "as": "end"},
        {"calculate": "datum.y2", "as": "y"},
        {"calculate": "datum.end", "as": "y2"},
    ]


def hanging_bars(places: list[dict]) -> dict:
    """The bar of each token; of one that is cut off, faint."""
    faint = {"expr": f"datum.bar === 'hatch' ? {HATCHED_FIELD} : 1"}
    return mark("bars", "rect", "bar", bars_of_shares(places), fillOpacity=faint)


def hatches(places: list[dict]) -> dict:
    """Slanted lines across the bars of what is cut off, each as a path in pixels."""

    def at(x: float, y: float) -> str:
        return f"(datum.x + {x:g} * (datum.x2 - datum.x)) + ',' + (datum.y + {y:g} * (datum.y2 - datum.y))"

    lines = (
        f"'M' + {at(max(0, part - 1), min(1, part))} + 'L' + {at(min(1, part), max(0, part - 1))}" for part in SLANTED
    )
    steps = [
        {"filter": "datum.bar === 'hatch'"},
        *bars_of_shares(places),
        {"calculate": " + ".join(lines), "as": "path"},
        *({"calculate": "0", "as": axis} for axis in ("x", "y")),
    ]
    drawn = {"type": "point", "aria": False, "filled": False, "strokeWidth": 1.5}
    drawn |= {"shape": {"expr": "datum.path"}, "size": 4}  # of 4, a shape is drawn in pixels
    return layer("hatches", drawn, steps, {"color": in_role("bar")})


def mark(name: str, kind: str, role: str, transform: list[dict], **look: object) -> dict:
    """A box for each token."""
    ends = {axis: {"field": axis} for axis in ("x2", "y2")}
    drawn = {"type": kind, "aria": False, "tooltip": None} | look
    return layer(name, drawn, transform, {"color": in_role(role), **ends})


def written(name: str, field: str, role: str, y: str, size: int, transform: list[dict], **look: object) -> dict:
    """A text for each token, in the middle of its room."""
    middle = [{"calculate": "(datum.x + datum.x2) / 2", "as": "x"}, {"calculate": y, "as": "y"}]
    drawn = {"type": "text", "aria": False, "baseline": "middle", "font": FONT, "fontSize": size} | look
    return layer(name, drawn, [*transform, *middle], {"color": in_role(role), "text": {"field": field}})


def to_point_at(places: list[dict], line: int, *, picks: bool) -> dict:
    """The room of each token, which says what it is; a click picks it."""
    whole = [*places, {"calculate": f"datum.y + {line} - 4", "as": "y2"}]
    look = {"aria": True, "opacity": 0} | ({"cursor": "pointer"} if picks else {})
    room = mark("room", "rect", "ink", whole, **look)
    room["encoding"] |= {"tooltip": {"field": "say", "title": " "}, "description": {"field": "say"}}
    if picks:
        select = {"type": "point", "fields": ["token"], "on": "click", "toggle": False}
        room["params"] = [{"name": "pick", "select": select}]
    return room


def layer(name: str, drawn: dict, transform: list[dict], encoding: dict) -> dict:
    """A layer over the table of tokens; its places are pixels."""
    places = {axis: {"field": axis, "type": "quantitative", "scale": None, "axis": None} for axis in ("x", "y")}
    return {
        "name": name,
        "data": {"name": "token_text"},
        "transform": transform,
        "mark": drawn,
        "encoding": places | encoding,
    }


def in_role(field: str) -> dict:
    """The colour of the role that this field names."""
    scale = {"domain": list(COLOUR_ROLES), "range": "category"}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}
