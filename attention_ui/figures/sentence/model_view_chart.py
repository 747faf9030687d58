"""The template of a sentence as a real model reads it: ribbons, guesses, a map of all heads with its legend and a card.

One chart, because the head that is pointed at changes the ribbons without the server: signals do not cross charts.
Between the sentence and the map a band is left free, and so is room for a list and a button: controls stand there.
"""

import functools

from attention_ui.figures.pixels import SERIF, layer, picture, rect, shape, text
from attention_ui.figures.roles import MARK
from lessons.shared.head_jobs import JOBS

NARROW = 860  # pixels of the picture: below it the sentence runs down
KINDS = len(JOBS) + 1  # with the mixture
LOOKS = {  # of filled marks: shape and role of the colour; each shape once but the circle, small where it means little
    "it_to_noun": ("circle", "weight"),
    "name_again": ("cross", "ink"),
    "same": ("triangle-up", "muted"),
    "previous": ("square", "muted"),
    "punctuation": ("triangle-down", "ink"),
    "first": ("circle", "hatch"),
    "unmeasured": ("circle", "hatch"),
}
HEIGHT, BAND, MAP = 690, 58, 252  # pixels: all of a wide picture, its free band, what stands below that
LARGE_HEIGHT, LARGE_MAP = 536, 226  # on a projector
DOWN = {"row": 30, "words": 312, "band": 470, "card": 642, "map": 866, "legend": 1084, "height": 1114 + 30 * KINDS}
PERCENT = (
    "(datum.w > 0 && datum.w <= 0.005 ? '< ' + format(0.01, '.0%') : datum.w >= 0.995 && datum.w < 0.999999"
    " ? '> ' + format(0.99, '.0%') : format(datum.w, '.0%'))"
)


def signals(n_heads: int, most: int, large: bool) -> dict[str, str | float | bool]:
    """The sizes of everything, from the width of the picture and from what is chosen and pointed at."""
    height, below = (LARGE_HEIGHT, LARGE_MAP) if large else (HEIGHT, MAP)
    now = "length(data('now')) ? data('now')[0]"
    return {
        "narrow": f"width < {NARROW}",
        "height": f"narrow ? {DOWN['height']} : {height}",
        "kept": f"{now}.head : 0",
        "shown": "isValid(over.what) && over.what[0] === 'head' ? over.i[0] : kept",
        "ask": f"isValid(over.what) && over.what[0] === 'word' ? over.i[0] : {now}.query : 0",
        "lit": "isValid(over.what) && over.what[0] === 'job' ? over.i[0] : -1",
        "n": "max(length(data('words')), 1)",
        "tot": "length(data('words')) ? data('words')[0].ems : 1",
        "side": "clamp(width * 0.22, 210, 290)",
        "row": f"min({DOWN['row']}, {DOWN['words']} / n)",
        "f": "narrow ? row * 0.74 : min(54, (width - side - 56) / tot)",
        "fl": "narrow ? 15 : " + ("19" if large else "clamp(width / 80, 13, 17)"),
        "s": f"{height - below - BAND}",
        "base": "s - f * 1.25 - fl * 2 - 6",
        "full": "narrow ? row * 1.3 : f * 1.18",
        "asks_at": "narrow || !length(data('words')) ? 0 : data('words')[ask].at * f",
        "rise": "clamp((base - 8 - full - 12 * ask) / max(asks_at, 1), 0.02, 0.26)",
        "top": f"narrow ? {DOWN['map']} : s + {BAND} + 22",
        "cell": f"narrow ? min(width / {most}, 20) : min((width * 0.5 - 56) / {most}, {15 if large else 20})",
        "x0": "narrow ? 0 : 52",
        "y0": "narrow ? top + 66 : top + 26",
        "lx": "narrow ? 0 : width * 0.5 + clamp(width / 56, 10, 24)",
        "ly": f"narrow ? {DOWN['legend'] + 14} : top + 16",
        "lr": f"narrow ? 30 : {(below - 62) / KINDS}",
        "cx": "narrow ? 0 : width * 0.75 + 8",
        "cy": f"narrow ? {DOWN['card']} : top",
        "small": "true" if large else "!narrow && width - cx < 310",
        "letters": "narrow ? 16 : " + ("19" if large else "clamp((width - cx) / 22, 13, 15)"),
        "gx": "narrow ? 196 : width - side",
        "gr": "narrow ? 26 : clamp((base - 60) / 6, 24, 32)",
        "gy": f"narrow ? min(n, {DOWN['words']} / row) * row + 52 : base + f * 0.68 - 3 * gr",
        "bar": "narrow ? 0 : gr * 2.9",
        "bars": "narrow ? 96 : max(side - bar - 100, 40)",
        "n_heads": n_heads,
        "large": large,
    }


def rows_of_query(most_tokens: int) -> list[dict]:
    """From the wide table of rows to a row for each key of the one that is shown."""
    return [
        {"filter": "datum.head === shown && datum.query === ask"},
        {"fold": [f"w{at}" for at in range(most_tokens)], "as": ["column", "w"]},
        {"filter": "isValid(datum.w)"},
        {"calculate": "toNumber(substring(datum.column, 1))", "as": "j"},
        {"calculate": "datum.j === ask ? 0 : datum.w", "as": "away"},
        {"window": [{"op": "sum", "field": "away", "as": "upto"}], "sort": [{"field": "j", "order": "descending"}]},
        {"joinaggregate": [{"op": "max", "field": "w", "as": "most"}]},
        {"lookup": "j", "from": {"data": {"name": "words"}, "key": "i", "fields": ["at", "word"]}},
        {"calculate": "max(datum.w * full, 0.6)", "as": "wide"},
        {"calculate": "round(datum.w * 100) === round(datum.most * 100)", "as": "leads"},
        {"calculate": "narrow ? (datum.j + 0.5) * row : datum.at * f", "as": "along"},
        {"calculate": "narrow ? (ask + 0.5) * row : asks_at", "as": "asker"},
        {"calculate": f"narrow ? {down()} : {across()}", "as": "path"},
    ]


def across() -> str:
    """The path of a ribbon above the sentence: all leave the query side by side, and none crosses another."""
    left, right = "(datum.along - datum.wide / 2)", "(asks_at - full / 2 + datum.upto * full)"
    high = "(rise * (asks_at - datum.along) + datum.upto * full + 12 * (ask - datum.j))"
    outer = f"'A' + (({right} - {left}) / 2) + ',' + {high} + ' 0 0 1 ' + {right} + ',' + base"
    inner = (
        f"'A' + max(({right} - {left}) / 2 - datum.wide, 0.5) + ',' + max({high} - datum.wide, 0.5)"
        f" + ' 0 0 0 ' + ({left} + datum.wide) + ',' + base + 'Z'"
    )
    return f"'M' + {left} + ',' + base + {outer} + 'L' + ({right} - datum.wide) + ',' + base + {inner}"


def down() -> str:
    """The same at the right of a sentence that runs down."""
    foot = "(datum.asker - full / 2 + (1 - datum.upto) * full)"
    far = "max((ask - datum.j) * min(row * 0.78, (min(width, 420) - 206) / max(ask, 1)), 8)"
    begin, end = "(datum.along - datum.wide / 2)", "(datum.along + datum.wide / 2)"
    outer = f"'A' + {far} + ',' + (({foot} + datum.wide - {begin}) / 2) + ' 0 0 1 196,' + ({foot} + datum.wide)"
    inner = f"'A' + max({far} - datum.wide, 0.5) + ',' + max(({foot} - {end}) / 2, 0.5) + ' 0 0 0 196,' + {end} + 'Z'"
    return f"'M196,' + {begin} + {outer} + 'L196,' + {foot} + {inner}"


def sentence_layers(most_tokens: int) -> list[dict]:
    """Ribbons, words and shares; what the query cannot see is grey."""
    rows = rows_of_query(most_tokens)
    here = {"x": "narrow ? 182 : datum.along", "y": "narrow ? datum.along : base + f * 0.68 + 8"}
    side = "narrow ? 'right' : 'center'"
    off = "length(data('now')) && data('now')[0].off && shown === kept ? 0.25 : 1"
    limit = {"limit": {"expr": "narrow ? 122 : 2000"}}
    return [
        shape(
            "ribbons",
            "rows",
            "datum.path",
            role="'weight'",
            steps=rows,
            where="datum.j !== ask",
            key="j",
            opacity=f"(datum.w < 0.005 ? 0.35 : 1) * ({off})",
        ),
        rect(
            "asker",
            "now",
            "narrow ? 196 : asks_at - full / 2",
            "narrow ? 201 : asks_at + full / 2",
            "narrow ? (ask + 0.5) * row - full / 2 : base + 3",
            "narrow ? (ask + 0.5) * row + full / 2 : base + 9",
            role="'q'",
            look={"cornerRadius": 1},
        ),
        text(
            "later",
            "words",
            "datum.word",
            "narrow ? 182 : datum.at * f",
            "narrow ? (datum.i + 0.5) * row : base + f * 0.68 + 8",
            "f",
            role="'muted'",
            where="datum.i > ask",
            font=SERIF,
            align=side,
            opacity=0.62,
            look=limit,
        ),
        text(
            "sentence",
            "rows",
            "datum.word",
            here["x"],
            here["y"],
            "f",
            role="datum.j === ask ? 'q' : datum.leads ? 'k' : 'ink'",
            steps=rows,
            key="j",
            font=SERIF,
            align=side,
            weight="datum.j === ask || datum.leads ? 600 : 400",
            look=limit,
        ),
        text(
            "shares",
            "rows",
            PERCENT,
            "narrow ? 56 : datum.along",
            "narrow ? datum.along : base + f * 1.28 + fl",
            "max(13, datum.leads ? fl * 1.3 : narrow ? min(15, row * 0.7) : min(fl, f / 3))",
            role="datum.leads ? 'weight' : 'muted'",
            steps=rows,
            key="j",
            align=side,
            weight="datum.leads ? 600 : 400",
        ),
    ]


def guess_layers() -> list[dict]:
    """What may come next, beside the sentence; while the head is off, what it was and what it is."""
    y = "(gy + datum.k * gr)"
    hidden = {"where": "!narrow || datum.k < 4"}
    begin = "(gx + bar)"
    end = f"max({begin} + datum.share * datum.scale * bars, {begin} + 2)"
    frame = f"max({begin} + datum.was * datum.scale * bars, {begin} + 2)"
    return [
        rect(
            "blank",
            "next",
            "narrow ? 106 : tot * f + f * 0.3",
            "narrow ? 182 : max(tot * f + f * 0.3, min(gx - 12, tot * f + f * 1.2))",
            "narrow ? gy - 38 : base + f * 1.1",
            "narrow ? gy - 35 : base + f * 1.1 + 3",
            role="'hatch'",
            where="datum.k === 0",
        ),
        text(
            "next_title",
            "now",
            "narrow ? datum.next_title_small : datum.next_title",
            "gx",
            "narrow ? gy - 30 : gy - gr * 0.5 - fl * 2.1",
            "fl",
            role="'muted'",
            look={"baseline": "top", "lineHeight": {"expr": "fl * 1.2"}},
        ),
        text(
            "guesses",
            "next",
            "datum.word",
            "narrow ? 182 : gx",
            y,
            "narrow ? 19 : gr * 0.74",
            font=SERIF,
            align="narrow ? 'right' : 'left'",
            look={"limit": {"expr": "narrow ? 122 : gr * 2.8"}},
            **hidden,
        ),
        rect(
            "before",
            "next",
            begin,
            frame,
            f"{y} - 8",
            f"{y} + 8",
            role="'hatch'",
            look={"cornerRadius": 2},
            where=f"datum.off && ({hidden['where']})",
            opacity=0.8,
        ),
        rect("chances", "next", begin, end, f"{y} - 8", f"{y} + 8", look={"cornerRadius": 2}, key="k", **hidden),
        text(
            "odds",
            "next",
            "datum.said",
            f"max({end}, datum.off ? {frame} : 0) + 8",
            y,
            "fl",
            role="datum.off ? 'ink' : 'muted'",
            key="k",
            **hidden,
        ),
    ]


def map_layers(most: int) -> list[dict]:
    """A mark for each head, whose shape and colour are its job; a ring around the one that is shown."""
    place = [
        {"calculate": "floor(datum.i / n_heads)", "as": "layer"},
        {"calculate": "x0 + (datum.layer + 0.5) * cell", "as": "x"},
        {"calculate": "y0 + (datum.i % n_heads + 0.5) * cell", "as": "y"},
    ]
    part = "datum.kind === 'first' ? 0.1 + 0.8 * max(datum.share - 0.5, 0) : datum.kind === 'unmeasured' ? 0.1"
    size = f"pow(cell, 2) * ({part} : 0.58)"
    dim = "lit >= 0 && lit !== datum.job ? 0.15 : 1"
    shapes, roles = (
        " : ".join(f"datum.kind === '{kind}' ? '{look[part]}'" for kind, look in LOOKS.items()) + f" : '{other}'"
        for part, other in enumerate(("circle", "ink"))
    )
    filled = {"filled": True, "strokeWidth": 0}
    ring = {"filled": False, "strokeWidth": 1.3}
    diamond = {**filled, "color": MARK}
    seen = "datum.kind !== 'mixture' && datum.kind !== 'induction'"

    def marks(name: str, data: str, x: str, y: str, area: str, opacity: str, steps: list[dict]) -> list[dict]:
        more = {"x": x, "y": y, "opacity": opacity, "steps": steps}
        mark = layer(
            "point",
            f"{name}_marked",
            data,
            shape="'diamond'",
            size=area,
            look=diamond,
            where="datum.kind === 'induction'",
            **more,
        )
        del mark["encoding"]["color"]
        return [
            layer("point", name, data, shape=shapes, size=area, role=roles, look=filled, where=seen, **more),
            mark,
            layer(
                "point",
                f"{name}_rings",
                data,
                shape="'circle'",
                size=area.replace("0.58", "0.13"),
                role="'hatch'",
                look=ring,
                where="datum.kind === 'mixture'",
                **more,
            ),
        ]

    small = "max(13, fl * 0.85)"
    return [
        text("heading", "now", "datum.heading", "0", "top", "fl", weight="600", where="datum.mapped"),
        *marks("heads", "heads", "datum.x", "datum.y", size, dim, place),
        rect(
            "ring",
            "heads",
            "datum.x - cell / 2 - 2",
            "datum.x + cell / 2 + 2",
            "datum.y - cell / 2 - 2",
            "datum.y + cell / 2 + 2",
            steps=place,
            where="datum.i === shown",
            look={"fillOpacity": 0, "cornerRadius": 5, "filled": False, "strokeWidth": 2.5},
        ),
        text(
            "first_head",
            "now",
            "datum.first_head",
            "x0 - 6",
            "y0 + cell * 0.5",
            small,
            role="'muted'",
            align="right",
            where="datum.mapped && !narrow",
        ),
        text(
            "last_head",
            "now",
            "'' + (n_heads - 1)",
            "x0 - 6",
            "y0 + cell * (n_heads - 0.5)",
            small,
            role="'muted'",
            align="right",
            where="datum.mapped && !narrow",
        ),
        text(
            "first_layer",
            "now",
            "datum.first_layer",
            "x0",
            "y0 + cell * n_heads + 12",
            small,
            role="'muted'",
            where="datum.mapped",
        ),
        text(
            "last_layer",
            "now",
            f"'{most - 1}'",
            f"x0 + cell * {most}",
            "y0 + cell * n_heads + 12",
            small,
            role="'muted'",
            align="right",
            where="datum.mapped",
        ),
        text(
            "legend_title",
            "now",
            "datum.legend",
            "lx",
            f"narrow ? {DOWN['legend']} : top",
            "fl",
            weight="600",
            where="datum.measured",
        ),
        *marks("legend", "jobs", "lx + 12", "ly + (datum.i + 0.5) * lr", "190 + 0 * 0.58", "1", []),
        text("job_names", "jobs", "datum.name", "lx + 32", "ly + (datum.i + 0.5) * lr", "max(13, fl * 0.94)"),
        text(
            "job_counts",
            "jobs",
            "'' + datum.count",
            "narrow ? min(width, 420) : cx - clamp(width / 40, 20, 34)",
            "ly + (datum.i + 0.5) * lr",
            "max(13, fl * 0.94)",
            role="'muted'",
            align="right",
        ),
        *card_layers(),
    ]


def card_layers() -> list[dict]:
    """What is said of the head that is shown: of the one that is chosen, where there is room, all that was measured."""
    job = {"lookup": "job", "from": {"data": {"name": "jobs"}, "key": "i", "fields": ["title", "says", "says_small"]}}
    now, name = "data('now')[0]", "floor(datum.i / n_heads) + '.' + datum.i % n_heads"
    title = f"replace(replace(small ? {now}.card_small : {now}.card, '{{head}}', {name}), '{{job}}', datum.title)"
    said = f"shown === kept && !large && {now}.about ? (small ? {now}.about_small : {now}.about)"
    said += " : replace(small ? datum.says_small : datum.says, '{share}', format(datum.share, '.0%'))"
    line = {"baseline": "top", "lineHeight": {"expr": "letters * 1.3"}}
    head = {"lineHeight": {"expr": "letters * 1.6"}}
    more = {"where": "datum.i === shown && isValid(datum.title)", "steps": [job]}
    return [
        text("card", "heads", title, "cx", "cy", "narrow ? 20 : letters * 1.3", font=SERIF, look=head, **more),
        text("tells", "heads", said, "cx", "cy + letters * (small ? 2.9 : 1.3)", "letters", look=line, **more),
    ]


def touch_layer(most: int) -> dict:
    """Unseen rooms of all words, heads and jobs: whatever is pointed at is shown, and what is clicked is chosen."""
    fields = {"type": "point", "fields": ["what", "i"], "toggle": False}
    over = {"name": "over", "select": {**fields, "on": "@touch_marks:pointerover", "clear": "pointerout"}}
    pick = {"name": "pick", "select": {**fields, "on": "@touch_marks:click", "clear": False}}
    steps = [
        {"lookup": "i", "from": {"data": {"name": "words"}, "key": "i", "fields": ["at", "half"]}},
        {"calculate": "x0 + floor(datum.i / n_heads) * cell", "as": "hx"},
        {"calculate": "y0 + datum.i % n_heads * cell", "as": "hy"},
    ]

    def either(word: str, upright: str, head: str, job: str) -> str:
        return f"datum.what === 'word' ? (narrow ? {upright} : {word}) : datum.what === 'head' ? {head} : {job}"

    x = either("(datum.at - datum.half) * f", "0", "datum.hx", "lx")
    x2 = either("(datum.at + datum.half) * f", "190", "datum.hx + cell", "(narrow ? min(width, 420) : cx - 24)")
    y = either("base + 10", "datum.i * row", "datum.hy", "ly + datum.i * lr")
    y2 = either("base + f * 1.28 + fl * 2", "(datum.i + 1) * row", "datum.hy + cell", "ly + (datum.i + 1) * lr")
    look = {"fillOpacity": 0, "cursor": {"expr": "datum.what === 'job' ? 'default' : 'pointer'"}}
    return rect("touch", "touch", x, x2, y, y2, steps=steps, look=look, params=[over, pick])


@functools.lru_cache(maxsize=8)
def model_view_template(n_layers: int, n_heads: int, most_tokens: int, large: bool) -> dict:
    """The whole specification, without data. Shared by all: never change it."""
    layers = [*sentence_layers(most_tokens), *guess_layers(), *map_layers(n_layers), touch_layer(n_layers)]
    return picture(layers, signals(n_heads, n_layers, large))
