"""A sentence and its ribbons as the browser draws them: its words, all weights at all moments, what is said of them."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from attention_ui.figures.playing import film_words
from lessons.screen import (
    RibbonRow,
    Ribbons,
    labelled,
    percent,
    quote_token,
    render,
    translate,
    visible_text,
)
from words import language

FAINT = 0.05  # of the whole: words that get less recede
DIGITS = 7  # of a weight: all that 32 bits tell


def ribbons_of(figure: Ribbons) -> dict[str, Any]:
    """Everything that is drawn of a sentence."""
    names = {"play": translate("Watch it learn"), "moment": translate("training"), "pace": ""}
    return {
        "name": render(figure.name),
        "words": [{"text": visible_text(token.text), "name": quote_token(token)} for token in figure.tokens],
        "query": figure.query,
        "moments": [
            {"says": render(moment.says), "rows": [row_of(row, query) for query, row in enumerate(moment.rows)]}
            for moment in figure.moments
        ],
        "told": labelled("{query} → {key}", "{share}"),
        "decimal": language().decimal,
        "film": film_words(len(figure.moments), **names),
    }


def row_of(row: RibbonRow, query: int) -> dict[str, Any]:
    """What one query looks at: of a key that is masked there is no weight."""
    masked, keys = translate("masked"), list(zip(row.shares, row.visible, strict=True))
    return {
        "says": render(row.says),
        "shares": [round(share, DIGITS) if sees else None for share, sees in keys],
        "texts": [short_percent(share) if sees else masked for share, sees in keys],
        "roles": [
            "q" if key == query else "k" if key in row.leads else "ink" if share >= FAINT else "muted"
            for key, share in enumerate(row.shares)
        ],
    }


def short_percent(share: float) -> str:
    """A percentage below a word, where there is little room."""
    known = percent(min(max(share, 0.01), 0.99)) if 0 < share < 1 - 1e-6 else percent(share)
    return f"< {known}" if 0 < share <= 0.005 else f"> {known}" if 0.995 <= share < 1 - 1e-6 else known


def ribbon_numbers(figure: Ribbons) -> pa.Table:
    """The weights at the last moment, for a spreadsheet."""
    rows = figure.moments[-1].rows
    return weights_table(
        (query, key, share)
        for query, row in enumerate(rows)
        for key, (share, visible) in enumerate(zip(row.shares, row.visible, strict=True))
        if visible
    )


def weights_table(cells: Iterable[tuple[int, int, float]]) -> pa.Table:
    """Weights by the positions of their query and key, from 0 here and from 1 in the table."""
    queries, keys, weights = zip(*((query + 1, key + 1, weight) for query, key, weight in cells), strict=True)
    places = (pa.array(column, pa.int16()) for column in (queries, keys))
    return pa.table([*places, pa.array(weights, pa.float32())], ["query", "key", "weight"])
