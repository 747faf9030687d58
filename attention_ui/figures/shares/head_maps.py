"""The maps of many heads on one sentence, as the browser draws them."""

from typing import Any

from lessons.screen import HeadMaps, labelled, number, quote_token, render

DIGITS = 4


def maps_of(figure: HeadMaps, *, covered: bool = False) -> dict[str, Any]:
    """Everything that is drawn of a figure: of each weight its query, its key, and how it is written.

    Where it is `covered`, the names of the heads alone.
    """
    return {
        "name": render(figure.name),
        "hint": render(figure.hint),
        "names": [quote_token(token) for token in figure.tokens],
        "in_a_row": figure.in_a_row,
        "told": labelled("{head}", "{query} → {key} {weight}"),
        "maps": [
            {
                "name": render(one.name),
                "score": "" if covered or one.score is None else render(one.score),
                "chosen": one.chosen,
                "weights": [
                    [query, key, round(float(one.shares[query, key]), DIGITS), number(float(one.shares[query, key]))]
                    for query, key in (one.shares >= figure.least).nonzero().tolist()
                    if not covered
                ],
            }
            for one in figure.maps
        ],
    }
