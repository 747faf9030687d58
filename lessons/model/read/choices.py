"""What a learner can choose to read: a text, a head, a word, and what is done to them."""

from dataclasses import dataclass
from typing import NamedTuple

from attention_core.base.randomness import MAX_SEED
from lessons.example.real_model import DEFAULT_HEAD, DEFAULT_LAYER, DEFAULT_TEXT
from lessons.screen import Limit, Number, OneOf, OneToken, Text, message

MOST_TOKENS = 48  # that are read: a pass over them keeps some 60 MB
LONGEST_TEXT = 400  # characters
HEADS_DRAWN = 6  # at random, beside the chosen one; of several, as many groups
MOST_PATCHED = 30  # heads together: as many groups of others have to be left
OWN = "own"

VIEW = OneOf(
    "read_view",
    message("What to look at"),
    {
        "one": message("one head"),
        "maps": message("many heads"),
        "sink": message("the first token"),
        "guesses": message("guesses layer by layer"),
        "off": message("switch a head off"),
        "patch": message("patch a head"),
        "flip": message("tired or wide"),
    },
    look="steps",
)
TEXTS = {
    "cat": DEFAULT_TEXT,
    "france": "The capital of France is",
    "names": "When Mary and John went to the store, John gave a drink to",
    "fox": "The quick brown fox jumps over the lazy dog. The quick brown fox",
}
OTHER_NAMES = "When Mary and John went to the store, Mary gave a drink to"
SENTENCE = OneOf("read", message("Text"), {**TEXTS, OWN: message("a text of your own")}, width=520)
OWN_TEXT = Text("read_text", message("Your text, in any language"), LONGEST_TEXT, width=520)
OTHER_TEXT = Text("read_other", message("The text it is patched from"), LONGEST_TEXT, OTHER_NAMES, width=520)
PATCHED = OneOf(
    "patch_heads",
    message("Heads"),
    {"one": message("one head"), "named": message("all with its name"), "several": message("several heads")},
)
OTHER_HEADS = Text("read_heads", message("Other heads, patched with it"), 200)
HEAD = Text("read_head", message("Head"), 8, width=230)  # one of those of the model, by its name
MAPS = OneOf("read_maps", message("Heads"), {"layer": message("of one layer"), "all": message("of all layers")})
WORD = OneToken("word", message("Word that asks"), Limit(1, MOST_TOKENS), width=200)
TOGETHER = Text("together", message("Sum over these words"), 200)
SEED = Number("read_seed", message("Seed of the random heads"), Limit(0, MAX_SEED), 0, typed=True, width=190)


class Begin(NamedTuple):
    """What stands in a view until something else is chosen; the word is the last one where none is named."""

    sentence: str
    head: str
    word: str = ""


BEGINS = {
    "one": Begin("cat", "13.8", " it"),
    "maps": Begin("fox", "18.6"),
    "sink": Begin("cat", "23.0"),
    "guesses": Begin("france", "13.8"),
    "off": Begin("cat", "13.8"),
    "patch": Begin("names", "23.3"),
    "flip": Begin("cat", "13.8"),
}


@dataclass(frozen=True)
class ReadChoices:
    """What the learner chose. Layer, head and tokens count from 0.

    The `word` asks, and its next token is guessed: the last one where there are fewer, or with None. The weights
    that it gives to the tokens `together` are summed. A head is patched with what it finds in the `other` text, and
    so are the heads `patched` with it: their numbers among all heads of the model, layer by layer.
    """

    view: VIEW.type = VIEW.begin
    text: str = DEFAULT_TEXT
    layer: int = DEFAULT_LAYER
    head: int = DEFAULT_HEAD
    word: int | None = None
    together: tuple[int, ...] = ()
    maps: MAPS.type = MAPS.begin
    other: str = OTHER_NAMES
    patched: tuple[int, ...] = ()
    seed: int = SEED.begin
