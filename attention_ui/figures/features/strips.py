"""Matrices of many features as strips: the tables of their bars, their titles and their tokens."""

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from lessons.screen import Numeral, Strip, Strips, render, translate, visible_text

LONGEST = 11  # of a bar, in widths of a bar
THINNEST = 0.35  # so long is the bar of 0
INT, WORDS = pa.int16(), pa.dictionary(pa.int8(), pa.string())


def bars_path(numbers: Sequence[float], limit: float) -> str:
    """One row as a path around all its bars, from left to right; a bar is 1 wide and starts at height 0."""
    heights = [0.0, *(height_of(number, limit) for number in numbers), 0.0]
    steps = (f"v{short(before - after)}h1" for before, after in pairwise(heights[:-1]))
    return f"M0,0{''.join(steps)}v{short(heights[-2])}Z"


def height_of(number: float, limit: float) -> float:
    """How far up a bar goes, down where it is below 0; what is beyond the limit is cut."""
    height = round(max(min(abs(number) / limit, 1.0) * LONGEST, THINNEST), 1)
    return -height if number < 0 else height


def short(number: float) -> str:
    """A number of a path in as few letters as it takes."""
    return f"{number:.1f}".removesuffix(".0")


def bars_of_strips(figure: Strips) -> pa.Table:
    """A row for each token of each matrix."""
    rows = [
        (place, token, bars_path(numbers, one.limit), one.colour, not one.given)
        for place, one in enumerate(figure.strips)
        for token, numbers in enumerate(one.values.tolist())
    ]
    return table_of(("strip", "i", "path", "tone", "told"), rows)


def lit_in_strips(figure: Strips) -> pa.Table:
    """What stands out: a row for each strip that does."""
    rows = [(place, token, tone, False) for place, one in enumerate(figure.strips) for token, tone in one.lit]
    return table_of(("strip", "i", "tone", "told"), rows)


def titles_of_strips(figure: Strips) -> pa.Table:
    """The name of each matrix, its shape, and where its bars are cut."""
    rows = [
        (place, one.name, render(one.shape), cut_of(one), one.colour, one.values.shape[1], False)
        for place, one in enumerate(figure.strips)
    ]
    return table_of(("strip", "name", "shape", "cut", "tone", "features", "told"), rows)


def cut_of(one: Strip) -> str:
    """Where its bars end."""
    limit = Numeral(f"{one.limit:g}")
    if float(abs(one.values).max()) > one.limit:
        return translate("cut at ±{limit}", limit=limit)
    return translate("up to ±{limit}", limit=limit)


def tokens_of_strips(figure: Strips) -> pa.Table:
    """The tokens at the left."""
    tones = {figure.meets: "k", figure.query: "q"}
    rows = [
        (place, visible_text(token.text), tones.get(place, "ink"), False) for place, token in enumerate(figure.tokens)
    ]
    return table_of(("i", "word", "tone", "told"), rows)


def table_of(names: Sequence[str], rows: Sequence[Sequence]) -> pa.Table:
    """Rows as a table."""
    kinds = {"strip": INT, "i": INT, "features": INT, "tone": WORDS, "told": pa.bool_()}
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pa.table(
        {name: pa.array(column, kinds.get(name, pa.string())) for name, column in zip(names, columns, strict=True)}
    )


def tables_of_strips(figure: Strips) -> dict[str, pa.Table]:
    """All of them."""
    return {
        "bars": bars_of_strips(figure),
        "lit": lit_in_strips(figure),
        "titles": titles_of_strips(figure),
        "tokens": tokens_of_strips(figure),
    }


def strips_numbers(figure: Strips) -> pa.Table:
    """Every number, for a spreadsheet: tokens and features by their positions, from 1."""
    rows = [
        (one.name, token + 1, feature + 1, value)
        for one in figure.strips
        for token, numbers in enumerate(one.values.tolist())
        for feature, value in enumerate(numbers)
    ]
    matrices, tokens, features, values = zip(*rows, strict=True)
    return pa.table(
        {
            "matrix": pa.array(matrices, WORDS),
            "token": pa.array(tokens, INT),
            "feature": pa.array(features, INT),
            "value": pa.array(values, pa.float32()),
        }
    )
