"""Text → pieces of words → ids, as the language model reads it: byte-pair encoding.

A word starts as single characters; then the pair of neighbours that was learned first is merged, again and again, until
no pair that was learned is left. Frequent words end as one piece, rare ones as several. Sennrich et al. 2016,
https://arxiv.org/abs/1508.07909. Which pairs, `training` learns; reading them needs no more than what stands here.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

START, UNKNOWN = "<start>", "<unk>"
SPACE = "▁"  # stands before a piece that begins a word
ALPHABET = SPACE + "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()-"
SAME_CHARACTER = str.maketrans(
    {"“": '"', "”": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "`": "'", "—": "-", "–": "-"}
)
WORD = re.compile(f"{SPACE}?(?:[a-z]+|[0-9]|[^a-z0-9{SPACE}])")


def plain(text: str) -> str:
    """Lower case, no accents, straight quotation marks, one `SPACE` before each word: all that the model can see."""
    lower = unicodedata.normalize("NFKD", text.translate(SAME_CHARACTER).lower())
    words = "".join(c for c in lower if unicodedata.category(c) != "Mn").replace(SPACE, " ").split()
    return "".join(SPACE + word for word in words)


@dataclass(frozen=True)
class Pieces:
    """The pieces that were learned, and their ids. `merges` are pairs, those learned first in front."""

    merges: tuple[tuple[str, str], ...]

    @functools.cached_property
    def tokens(self) -> tuple[str, ...]:
        """All pieces, each at its id: two special ones, the single characters, then what the merges make."""
        return tuple(dict.fromkeys([START, UNKNOWN, *ALPHABET, *(a + b for a, b in self.merges)]))

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """The id of each piece."""
        return {token: i for i, token in enumerate(self.tokens)}

    @functools.cached_property
    def rank(self) -> dict[tuple[str, str], int]:
        """How early each pair was learned."""
        return {pair: i for i, pair in enumerate(self.merges)}

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without `START`. What the model has never seen is `UNKNOWN`, character by character."""
        return [
            self.ids.get(piece, self.ids[UNKNOWN]) for word in WORD.findall(plain(text)) for piece in self.split(word)
        ]

    def split(self, word: str) -> list[str]:
        """The pieces of a word."""
        *_, last = merge_pairs(word, self.rank)
        return list(last)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these ids, in lower case."""
        return "".join(self.tokens[i] for i in ids).replace(SPACE, " ").strip()


def merge_pairs(word: Iterable[str], rank: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, ...]]:
    """The pieces of a word, at first as they come, then after each merge, until no pair that was learned is left."""
    pieces = list(word)
    yield tuple(pieces)
    while len(pieces) > 1:
        pairs = list(itertools.pairwise(pieces))
        first = min(pairs, key=lambda pair: rank.get(pair, len(rank)))
        if first not in rank:
            break
        at = pairs.index(first)
        pieces[at : at + 2] = ["".join(first)]
        yield tuple(pieces)
