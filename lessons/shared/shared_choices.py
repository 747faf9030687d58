"""Choices that several lessons offer: of the token that asks, and of a mask."""

from dataclasses import dataclass, replace

from lessons.example.real_model import MAX_TOKENS
from lessons.screen import DrawnMask, Limit, Number, OneToken, Text, message


@dataclass(frozen=True, eq=False)
class SecondSentence(Text):
    """A sentence beside that of the example, where sentences can be typed."""


PLACES = Limit(1, MAX_TOKENS)
QUERY = OneToken("asks", message("Query token"), PLACES)
UNMASKED_QUERY = replace(QUERY, masked=False)
MASK = DrawnMask(
    "mask",
    message("Mask"),
    {
        "causal": message("causal"),
        "none": message("no mask"),
        "window": message("window"),
        "padding": message("padding"),
        "hand": message("drawn by hand"),
    },
)
HIDDEN_FROM = Number("width", message("Hide keys at least this many positions away"), PLACES, 2)
REAL_TOKENS = Number("real", message("Real tokens before the padding"), PLACES, MAX_TOKENS)
MASK_CODE = Text("drawn", message("Code of this mask: one number per row"), 200)
