"""Arcs above a sentence: the tables of the words, and of the arcs from each query to the keys it looks at."""

import pyarrow as pa

from lessons.screen import Arcs, number, quote_token, text_width

WIDEST_WORD, NARROWEST_WORD = 64, 19  # pixels of a word's share of the line
LETTERS_OF_WORDS, LETTER_WIDTH = 13, 0.58  # pixels of the letters of words, and the width of one in its height
ARCS_ROUNDED = 4  # words
MOST_SAID = 3  # keys that pointing at a word names


def word_width(figure: Arcs) -> int:
    """The pixels of the line that each word has."""
    return max(NARROWEST_WORD, min(WIDEST_WORD, figure.width // len(figure.tokens)))


def slanted(figure: Arcs, letters: int = 0) -> bool:
    """Whether the words have no room side by side; their letters have so many pixels at least."""
    letter = LETTER_WIDTH * max(LETTERS_OF_WORDS, letters)
    return max(text_width.letters(token.text) for token in figure.tokens) * letter > word_width(figure)


def longest_arc(figure: Arcs) -> int:
    """How many words the longest arc spans, rounded up, so that few templates do."""
    drawn = (figure.shares >= figure.least).nonzero()
    return -(-int((drawn[:, 0] - drawn[:, 1]).max()) // ARCS_ROUNDED) * ARCS_ROUNDED


def words_table(figure: Arcs) -> pa.Table:
    """A row for each word, with what pointing at it says."""
    shares = figure.shares.tolist()
    return pa.table(
        {
            "token": pa.array(range(len(figure.tokens)), pa.int16()),
            "text": pa.array([token.text for token in figure.tokens], pa.string()),
            "say": pa.array([top_keys(figure, shares[i], i) for i in range(len(figure.tokens))], pa.string()),
            "chosen": pa.array([i == figure.chosen for i in range(len(figure.tokens))]),
        }
    )


def top_keys(figure: Arcs, row: list[float], query: int) -> str:
    """What a word looks at, the largest weights first."""
    order = sorted(range(query + 1), key=lambda key: -row[key])[:MOST_SAID]
    return f"{quote_token(figure.tokens[query])} → " + ", ".join(
        f"{quote_token(figure.tokens[key])} {number(row[key])}" for key in order
    )


def arcs_table(figure: Arcs) -> pa.Table:
    """A row for each weight that is drawn: an arc, or a dot where a token looks at itself."""
    pairs = [
        (query, key, weight)
        for query, row in enumerate(figure.shares.tolist())
        for key, weight in enumerate(row[: query + 1])
        if weight >= figure.least
    ]
    width = word_width(figure)
    return pa.table(
        {
            "token": pa.array([query for query, _, _ in pairs], pa.int16()),
            "key": pa.array([key for _, key, _ in pairs], pa.float32()),
            "middle": pa.array([(query + key) / 2 for query, key, _ in pairs], pa.float32()),
            "size": pa.array([((query - key) * width) ** 2 for query, key, _ in pairs], pa.float32()),
            "weight": pa.array([weight for _, _, weight in pairs], pa.float32()),
            "text": pa.array([number(weight) for _, _, weight in pairs], pa.string()),
            "self": pa.array([query == key for query, key, _ in pairs]),
            "chosen": pa.array([query == figure.chosen for query, _, _ in pairs]),
        }
    )
