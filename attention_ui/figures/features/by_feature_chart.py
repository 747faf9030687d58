"""The template of a query and each key, feature by feature, and of one score as it adds up.

Wide, they stand side by side; elsewhere the sum stands below, and on a phone each of its terms is a line.
"""

import functools

from attention_ui.figures.pixels import SERIF, picture, rect, text

BESIDE, AS_LINES = 860, 560  # pixels of the picture: from here on side by side; below it lines
HEAD, LINE, TERM_LINE = 64, 29, 30  # of the titles, of a key, of a term on a phone
LEAST, SUM = 300, 290  # of the whole picture, and of a sum that stands below

FEATURE, QUERY_LINE, KEY_LINE = "(sy + 46)", "(sy + 46 + step)", "(sy + 46 + 2 * step)"
BARS_TOP, BARS_FLOOR = "(sy + 90 + 2 * step)", "(sh - 28)"  # of the bars


def pairs_signals(n_keys: int, n_columns: int, n_terms: int, letters: int) -> dict[str, str | float | bool]:
    """The sizes of everything."""
    table = HEAD + n_keys * LINE
    return {
        "narrow": f"width < {AS_LINES}",
        "beside": f"width >= {BESIDE if not letters else 2 * BESIDE}",
        "fl": f"narrow ? 14 : {max(16, letters)}",
        "small": f"narrow ? 13 : {max(13, letters)}",
        "step": "small * 2.6",
        "tw": "beside ? clamp(width * 0.37, 350, 430) : min(width, 620)",
        "x0": f"narrow ? 66 : {82 + 2 * letters}",
        "x1": f"tw - {60 + letters}",
        "cw": f"(x1 - x0) / {n_columns}",
        "sx": "beside ? tw + 36 : 0",
        "sy": f"beside ? 0 : {table + 28}",
        "sh": f"beside ? {max(table, LEAST)} : sy + {SUM + 3 * letters}",
        "tx": f"sx + {92 + 2 * letters}",
        "tc": f"(width - tx) / {n_terms}",
        "fs": f"clamp(tc / 3.5, 13, {max(17, letters)})",
        "bx": "264",
        "height": f"narrow ? sy + {HEAD} + {n_terms} * {TERM_LINE} : sh",
    }


def pair_layers() -> list[dict]:
    """The table: a row a key, a column a feature; a bar from 0 to the left or the right is their product."""
    y = f"({HEAD} + (datum.i + 0.5) * {LINE})"
    cell = "(x0 + datum.c * cw)"
    begin, end = (f"{cell} + 3 + datum.{which} * (cw - 8)" for which in ("begin", "end"))
    word = "datum.word"
    title = {"weight": "600", "look": {"limit": {"expr": "tw"}}}
    return [
        rect(
            "chosen",
            "keys",
            "0",
            "tw",
            f"{y} - 14",
            f"{y} + 14",
            role="'weight'",
            where="datum.chosen",
            opacity=0.14,
            look={"cornerRadius": 4},
        ),
        text("title", "texts", "datum.title", "0", "12", "fl", **title),
        text(
            "columns",
            "columns",
            "datum.name",
            f"{cell} + cw / 2",
            f"{HEAD - 6} - (indexof(datum.name, '\\n') < 0 ? 0 : small * 1.05)",
            "small",
            role="'muted'",
            align="center",
            look={"baseline": "line-bottom", "lineHeight": {"expr": "small * 1.05"}},
        ),
        text(
            "score_title",
            "texts",
            "datum.score",
            "tw - 4",
            f"{HEAD - 6}",
            "small",
            role="'muted'",
            align="right",
            look={"baseline": "line-bottom"},
        ),
        text(
            "keys",
            "keys",
            word,
            "x0 - 10",
            y,
            "fl",
            role="datum.tone",
            align="right",
            font=SERIF,
            weight="datum.chosen ? 600 : 400",
            look={"limit": {"expr": "x0 - 14"}},
        ),
        rect(
            "cells",
            "products",
            f"{cell} + 1",
            f"{cell} + cw - 2",
            f"{y} - 11",
            f"{y} + 11",
            role="'ghost'",
            opacity=0.45,
            look={"cornerRadius": 2},
        ),
        rect(
            "bars",
            "products",
            begin,
            f"max({end}, {begin} + 1)",
            f"{y} - 10",
            f"{y} + 10",
            role="datum.others ? 'muted' : 'ink'",
        ),
        text("scores", "scores", "datum.said", "tw - 4", y, "fl", align="right", weight="datum.chosen ? 600 : 400"),
    ]


def across_layers() -> list[dict]:
    """The sum from left to right: the numbers of query and key, and bars that begin where the last one ended."""
    middle, wide = "(tx + (datum.t + 0.5) * tc)", {"where": "!narrow"}
    below, above = (
        f"({BARS_FLOOR} - datum.begin * ({BARS_FLOOR} - {BARS_TOP}))",
        f"({BARS_FLOOR} - datum.end * ({BARS_FLOOR} - {BARS_TOP}))",
    )
    part = "datum.kind === 'term' || datum.kind === 'others'"
    number = f"datum.up ? min({below}, {above}) - 11 : max({below}, {above}) + 12"
    total = "datum.kind === 'score' || datum.kind === 'scaled'"
    lines = {"look": {"lineHeight": {"expr": "small * 1.15"}, "limit": {"expr": "tx - sx - 6"}}, **wide}
    heads = {"align": "center", "role": "'muted'", "look": {"lineHeight": {"expr": "small * 1.05"}}, **wide}
    return [
        text("feature_title", "texts", "datum.feature", "sx", FEATURE, "small", role="'muted'", **lines),
        text("query_title", "texts", "datum.of_query", "sx", f"{QUERY_LINE} - 7", "small", role="'q'", **lines),
        text("key_title", "texts", "datum.of_key", "sx", f"{KEY_LINE} - 7", "small", role="'k'", **lines),
        text("products_title", "texts", "datum.products", "sx", f"{BARS_TOP} + 6", "small", **lines),
        text("features", "terms", "datum.name", middle, FEATURE, "small", **heads),
        text("queries", "terms", "datum.query", middle, QUERY_LINE, "fs", role="'q'", align="center", **wide),
        text("factors", "terms", "datum.key", middle, KEY_LINE, "fs", role="'k'", align="center", **wide),
        rect(
            "links",
            "terms",
            middle,
            f"{middle} + tc",
            f"{above} - 0.5",
            f"{above} + 0.5",
            role="'hatch'",
            where=f"!narrow && ({part})",
        ),
        rect(
            "sum_bars",
            "terms",
            f"{middle} - tc * 0.32",
            f"{middle} + tc * 0.32",
            f"min({below}, {above}) - 0.5",
            f"max({below}, {above}) + 0.5",
            role="datum.kind === 'others' ? 'muted' : 'ink'",
            look={"cornerRadius": 2},
            **wide,
        ),
        text(
            "sums",
            "terms",
            "datum.said",
            middle,
            number,
            f"fs * ({total} ? 1.15 : 1)",
            align="center",
            weight=f"{total} ? 600 : 400",
            **wide,
        ),
    ]


def down_layers() -> list[dict]:
    """The same on a phone, a line a term."""
    y = f"(sy + {HEAD} + (datum.t + 0.5) * {TERM_LINE})"
    narrow, right = {"where": "narrow"}, {"align": "right", "where": "narrow"}
    total = "datum.kind === 'score' || datum.kind === 'scaled'"
    begin, end = (f"(bx + datum.{which} * (width - bx))" for which in ("begin", "end"))
    titles = {"q": ("'q'", "124"), "k": ("'k'", "188"), "product": ("'ink'", "252")}
    heads = [
        text(f"{name}_head", "texts", f"datum.{name}", x, f"sy + {HEAD - 14}", "13", role=role, **right)
        for name, (role, x) in titles.items()
    ]
    return [
        text("feature_head", "texts", "datum.feature", "0", f"sy + {HEAD - 14}", "13", role="'muted'", **narrow),
        *heads,
        text(
            "names",
            "terms",
            "replace(datum.name, '\\n', ' ')",
            "0",
            y,
            "14",
            role=f"{total} ? 'ink' : 'muted'",
            weight=f"{total} ? 600 : 400",
            **narrow,
        ),
        text("queries_down", "terms", "datum.query", "124", y, "14", role="'q'", **right),
        text("keys_down", "terms", "datum.key", "188", y, "14", role="'k'", **right),
        text(
            "products_down",
            "terms",
            "datum.said",
            "252",
            y,
            f"{total} ? 16 : 14",
            weight=f"{total} ? 600 : 400",
            **right,
        ),
        rect(
            "bars_down",
            "terms",
            f"min({begin}, {end})",
            f"max({begin}, {end}, min({begin}, {end}) + 1)",
            f"{y} - 9",
            f"{y} + 9",
            role="datum.kind === 'others' ? 'muted' : 'ink'",
            look={"cornerRadius": 2},
            **narrow,
        ),
    ]


def touch_pairs() -> dict:
    """Unseen rooms of all products: pointing at one says its number, and a click chooses its key."""
    y = f"({HEAD} + (datum.i + 0.5) * {LINE})"
    wide = "(datum.c === 0 ? x0 : 0)"
    last = "(datum.others ? tw - x0 - (datum.c + 1) * cw : 0)"
    pick = {"type": "point", "fields": ["i"], "toggle": False, "on": "@touch_marks:click", "clear": False}
    rooms = rect(
        "touch",
        "products",
        f"x0 + datum.c * cw - {wide}",
        f"x0 + (datum.c + 1) * cw + {last}",
        f"{y} - 14.5",
        f"{y} + 14.5",
        look={"fillOpacity": 0, "cursor": "pointer"},
        params=[{"name": "pick", "select": pick}],
    )
    rooms["encoding"]["tooltip"] = {"field": "say", "type": "nominal", "title": " "}
    return rooms


@functools.lru_cache(maxsize=64)
def pairs_template(n_keys: int, n_columns: int, n_terms: int, letters: int) -> dict:
    """The whole specification, without data. Shared by all: never change it."""
    layers = [*pair_layers(), *across_layers(), *down_layers(), touch_pairs()]
    limit = {"limit": {"expr": "width - sx"}}
    layers.insert(1, text("pair", "texts", "datum.pair", "sx", "sy + 12", "fl", weight="600", look=limit))
    return picture(layers, pairs_signals(n_keys, n_columns, n_terms, letters))
