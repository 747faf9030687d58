"""Arcs above a sentence, as the browser draws them: its words, and the weights that are large enough."""

from typing import Any

from attention_ui.figures.sentence.ribbons import DIGITS
from lessons.screen import Arcs, number, quote_token, render, visible_text

MOST_SAID = 3  # keys that pointing at a word names


def arcs_of(figure: Arcs, *, covered: bool = False) -> dict[str, Any]:
    """Everything that is drawn of a figure: of each weight its query, its key, and how it is written.

    Where it is `covered`, the words alone.
    """
    rows = figure.shares.tolist()

    def said(row: list[float], query: int) -> str:
        return "" if covered else top_keys(figure, row, query)

    return {
        "name": render(figure.name),
        "hint": render(figure.hint),
        "chosen": figure.chosen,
        "words": [
            {"text": visible_text(token.text), "name": quote_token(token), "says": said(row, query)}
            for query, (token, row) in enumerate(zip(figure.tokens, rows, strict=True))
        ],
        "arcs": [
            [query, key, round(weight, DIGITS), number(weight)]
            for query, row in enumerate(rows)
            for key, weight in enumerate(row[: query + 1])
            if weight >= figure.least and not covered
        ],
    }


def top_keys(figure: Arcs, row: list[float], query: int) -> str:
    """What a word looks at, the largest weights first."""
    order = sorted(range(query + 1), key=lambda key: -row[key])[:MOST_SAID]
    return f"{quote_token(figure.tokens[query])} → " + ", ".join(
        f"{quote_token(figure.tokens[key])} {number(row[key])}" for key in order
    )
