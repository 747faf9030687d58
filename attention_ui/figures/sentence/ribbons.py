"""A sentence and its ribbons: the tables of its words, of all weights at all moments, and of what is said of them.

Places along the sentence are in ems, the size of its letters, which the browser chooses by the width of the page.
"""

import pyarrow as pa

from lessons.screen import (
    RibbonMoment,
    RibbonRow,
    Ribbons,
    has_no_width,
    is_wide_letter,
    percent,
    quote_token,
    render,
    translate,
    visible_text,
    wrapped,
)

NARROW_LETTERS, WIDE_LETTERS = frozenset("iljftrI.,;:!|'`()[] "), frozenset("mwMW@%")
EMS = {"narrow": 0.34, "usual": 0.53, "wide": 0.84, "full": 1.0}  # of a letter, a little more than it needs
WORD_GAP = 0.5  # ems
LEAST_SLOT = 1.7  # ems: room for a percentage
MOST_EMS = 62  # of a sentence
LINES_SAID = {"wide": (90, 2), "narrow": (46, 4)}  # letters of each line of what is said, and how many lines
FAINT = 0.05  # of the whole: words that get less recede


def letter_ems(letter: str) -> float:
    """About how wide a letter of the words is."""
    if has_no_width(letter):
        return 0.0
    if letter in NARROW_LETTERS:
        return EMS["narrow"]
    if letter in WIDE_LETTERS:
        return EMS["wide"]
    return EMS["full" if is_wide_letter(letter) else "usual"]


def slots_of(words: list[str]) -> list[float]:
    """The ems that each word has of the line, with the gap beside it; long ones give way where the line is too long."""
    slots = [max(LEAST_SLOT, sum(map(letter_ems, word)) + WORD_GAP) for word in words]
    return slots if sum(slots) <= MOST_EMS else [min(slot, MOST_EMS / len(words)) for slot in slots]


def ribbon_words(figure: Ribbons) -> pa.Table:
    """A row for each word: where it stands, and whether it is the query that was chosen."""
    words = [visible_text(token.text) for token in figure.tokens]
    slots, at = slots_of(words), 0.0
    rows = []
    for place, (token, word, slot) in enumerate(zip(figure.tokens, words, slots, strict=True)):
        rows.append((place, word, quote_token(token), at, at + slot / 2, at + slot, sum(slots), figure.query))
        at += slot
    names = ("token", "word", "name", "left", "at", "right", "ems", "standing")
    return typed_table(rows, names)


def ribbon_weights(figure: Ribbons) -> pa.Table:
    """A row for each query and key at each moment: the weight, where its ribbon leaves the query, its words."""
    rows = [
        (moment, query, figure.query, key, share, lane, text, tone)
        for moment, one in enumerate(figure.moments)
        for query, row in enumerate(one.rows)
        for key, (share, lane, text, tone) in enumerate(
            zip(row.shares, lanes(row.shares, query), *labels_of_keys(row, query), strict=True)
        )
    ]
    return typed_table(rows, ("moment", "query", "standing", "place", "share", "lane", "text", "tone"))


def lanes(shares: tuple[float, ...], query: int) -> list[float]:
    """Where the middle of each ribbon leaves the query, from −½ to ½ of the whole.

    Side by side, so that none crosses another: to the left the nearest key first, then the query itself, and to the
    right the nearest last.
    """
    order = [*range(query - 1, -1, -1), query, *range(len(shares) - 1, query, -1)]
    found, before = [0.0] * len(shares), -0.5
    for key in order:
        found[key] = before + shares[key] / 2
        before += shares[key]
    return found


def labels_of_keys(row: RibbonRow, query: int) -> tuple[list[str], list[str]]:
    """What stands below each word while one asks, and the role that the word plays."""
    masked = translate("masked")
    texts = [short_percent(share) if sees else masked for share, sees in zip(row.shares, row.visible, strict=True)]
    tones = [
        "q" if key == query else "k" if key in row.leads else "ink" if share >= FAINT else "muted"
        for key, share in enumerate(row.shares)
    ]
    return texts, tones


def short_percent(share: float) -> str:
    """A percentage below a word, where there is little room."""
    known = percent(min(max(share, 0.01), 0.99)) if 0 < share < 1 - 1e-6 else percent(share)
    return f"< {known}" if 0 < share <= 0.005 else f"> {known}" if 0.995 <= share < 1 - 1e-6 else known


def ribbon_says(figure: Ribbons) -> pa.Table:
    """What is said of each row at each moment, and of the moment (a query of −1), in lines that fit the page."""
    rows = []
    for place, one in enumerate(figure.moments):
        rows.append((place, -1, figure.query, *in_lines(render(one.says))))
        for query, row in enumerate(one.rows):
            rows.append((place, query, figure.query, *in_lines(render(row.says))))
    return typed_table(rows, ("moment", "query", "standing", "wide", "narrow"))


def in_lines(text: str) -> tuple[str, ...]:
    """A sentence in lines that fit a wide page, and a narrow one."""
    lines_of = (wrapped(text, most, lines) for most, lines in LINES_SAID.values())
    return tuple("\n".join(lines) for lines in lines_of)


def typed_table(rows: list[tuple], names: tuple[str, ...]) -> pa.Table:
    """A table of few bytes: words once each, numbers short."""
    kinds = {str: pa.dictionary(pa.int16(), pa.string()), float: pa.float32(), int: pa.int16(), bool: pa.bool_()}
    columns = zip(*rows, strict=True)
    return pa.table(
        {name: pa.array(column, kinds[type(column[0])]) for name, column in zip(names, columns, strict=True)}
    )


def ribbon_numbers(figure: Ribbons) -> pa.Table:
    """The weights at the last moment, for a spreadsheet: queries and keys by their positions, from 1."""
    last: RibbonMoment = figure.moments[-1]
    rows = [
        (query + 1, key + 1, share)
        for query, row in enumerate(last.rows)
        for key, (share, visible) in enumerate(zip(row.shares, row.visible, strict=True))
        if visible
    ]
    return typed_table(rows, ("query", "key", "weight"))
