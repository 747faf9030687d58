"""A sentence, read by the language model that ships with the app: what every lesson on it computes from."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.head_patterns import MEASURED_ON_LISTS, NAME_PAIRS, PatternScore, last_piece, pattern_scores
from attention_core.language_model import (
    Encoded,
    LanguageModel,
    language_model,
    measured_model,
    scores_after_layers,
)
from attention_core.model import ModelTrace
from attention_core.pieces import SPACE, START, UNKNOWN
from lessons.screen.message import ListOf, Message, Percent, Token, message, plural

LONGEST_TEXT = 280  # characters
SENTENCES_READ = {
    "bread": "When Mary went to the shop, she bought some bread, some cheese and an apple.",
    "cat": "The cat sat on the mat because it was tired.",
    "names": "Mary sat with John by the fire and she told a story.",
    "keys": "The keys to the house are on the table in the kitchen.",
    "king": "The king had a son, and the son of the king had a horse.",
}

PATTERN_NAMES = {
    "previous token": message("previous token"),
    "start": message("start"),
    "punctuation": message("punctuation"),
    "induction": message("induction"),
    "same token": message("same token"),
}
NO_NAME = message("no name")
UNREAD_TEXT, RANDOM_PIECES = message("text it has not read"), message("random pieces, repeated")


@dataclass(frozen=True)
class ReadChoices:
    """What the learner chose: a text, and what to do to it and to the model. Layer, head and word count from 0.

    `word` is the token whose prediction is looked at: the last one where the text has fewer tokens, or with None.
    """

    text: str = SENTENCES_READ["bread"]
    twice: bool = False
    swapped: bool = False
    layer: int = 0
    head: int = 0
    off: bool = False
    word: int | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """A text and all that the model computes for it, whole and with one head switched off."""

    asked: ReadChoices
    text: str
    encoded: Encoded
    whole: ModelTrace
    less: Float[Tensor, "tokens vocabulary"]  # the scores without the head

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them: a piece that goes on a word begins with a dot."""
        texts = tuple(map(shown, self.encoded.tokens))
        return tuple(Token(text, position, texts.count(text) > 1) for position, text in enumerate(texts))

    @property
    def query(self) -> int:
        """The token that is looked at."""
        last = len(self.encoded.ids) - 1
        return last if self.asked.word is None else min(self.asked.word, last)

    @cached_property
    def weights(self) -> Float[Tensor, "layers heads queries keys"]:
        """What every head of the whole model looks at."""
        return torch.stack([layer.attention.heads.weights for layer in self.whole.layers])

    @cached_property
    def scores(self) -> dict[str, PatternScore]:
        """What the heads do on this very text."""
        reader = language_model()
        with torch.inference_mode():
            return pattern_scores(reader.model, reader.pieces, [list(self.encoded.ids)])

    @cached_property
    def early(self) -> Float[Tensor, "steps vocabulary"]:
        """The scores for what follows the query, after the embedding and after each layer."""
        with torch.inference_mode():
            return scores_after_layers(language_model().model, self.whole, self.query)

    def surprise(self, logits: Float[Tensor, "tokens vocabulary"]) -> float | None:
        """The mean −ln p of each token that follows another on this text; None for a single token."""
        following = torch.tensor(self.encoded.ids[1:])
        if not len(following):
            return None
        return float(torch.nn.functional.cross_entropy(logits[:-1], following))


@functools.lru_cache(maxsize=3)  # each takes some megabytes
def read(asked: ReadChoices) -> Reading:
    """The text as it was asked for, read by the model. Kept for all who ask for the same."""
    reader = language_model()
    text = swap_names(asked.text) if asked.swapped else asked.text
    encoded = said_twice(reader, text) if asked.twice else reader.encode(text)
    whole = reader.trace(encoded.ids)
    return Reading(asked, text, encoded, whole, reader.trace(encoded.ids, {(asked.layer, asked.head)}).logits)


def said_twice(reader: LanguageModel, text: str) -> Encoded:
    """The text, then once more; where it is too long for that, as much of it as can be said twice."""
    once, room = reader.encode(text), (reader.model.config.context - 1) // 2
    ids, tokens = once.ids[1 : room + 1], once.tokens[1 : room + 1]
    cut = once.cut + len(once.ids) - 1 - len(ids)
    return Encoded((once.ids[0], *ids, *ids), (START, *tokens, *tokens), cut)


def shown(token: str) -> str:
    """A token as it is read."""
    if token == SPACE:
        return "␣"
    if token in (START, UNKNOWN) or token.startswith(SPACE) or not token[0].isalnum():
        return token.removeprefix(SPACE)
    return f"·{token}"


def name_of_head(layer: int, head: int) -> Message:
    """What the head has earned to be called."""
    name = measured_model().heads.name_of(layer, head)
    return NO_NAME if name is None else PATTERN_NAMES[name]


def texts_measured(pattern: str) -> Message:
    """What the heads were measured on for a pattern."""
    return RANDOM_PIECES if pattern in MEASURED_ON_LISTS else UNREAD_TEXT


def all_heads() -> list[tuple[int, int]]:
    """Layer and head of every head, from 0."""
    scores = next(iter(measured_model().heads.naming.values())).heads
    return [(layer, head) for layer, row in enumerate(scores) for head in range(len(row))]


def first_head_named(name: str) -> tuple[int, int]:
    """The head that earned this name with the largest weight; the first head of all where none did."""
    kept = measured_model().heads
    named = [place for place in all_heads() if kept.name_of(*place) == name]
    return max(named, key=lambda place: kept.naming[name].heads[place[0]][place[1]], default=(0, 0))


def names_in(text: str) -> tuple[str, str] | None:
    """The pair of names, hers and his, that the text has, each known as one token; or None."""
    pieces = language_model().pieces
    ids = pieces.encode(text)
    for pair in NAME_PAIRS:
        both = [last_piece(pieces, name) for name in pair]
        if None not in both and all(one in ids for one in both):
            return pair
    return None


def swap_names(text: str) -> str:
    """Each of the two names in the place of the other; without such a pair, the text as it is."""
    pair = names_in(text)
    if pair is None:
        return text
    her, his = (name.split()[-1] for name in pair)
    other = {her: his, his: her}
    return re.sub(rf"\b(?:{her}|{his})\b", lambda found: other[found[0].lower()], text, flags=re.IGNORECASE)


# What is said of it where it writes.


NOT_A_WRITER = message("It is tiny: it does not understand what it reads, and it does not write well.")


def trained_on() -> Message:
    """Whose weights these are, and how well the model predicts."""
    kept = measured_model()
    return message(
        "Trained on ten novels and on generated stories, {steps} steps from seed {seed}: in novels that it had "
        "not read, it predicts {share} of {count} next tokens correctly.",
        steps=kept.steps,
        seed=kept.seed,
        share=Percent(kept.right),
        count=kept.n,
    )


def changes(text: str, encoded: Encoded) -> tuple[Message, ...]:
    """Where a text was changed or split before the model could read it."""
    notes = [message("The model knows lower-case letters only.")] if text != text.lower() else []
    split = words_in_pieces(encoded.tokens)
    if split:
        notes.append(
            plural(
                "{words}: {count} word that it reads in pieces, a dot before each but the first.",
                "{words}: {count} words that it reads in pieces, a dot before each but the first.",
                len(split),
                words=ListOf(tuple(split)),
            )
        )
    if encoded.unknown:
        notes.append(
            plural(
                "{count} character that it has never seen is shown as {unknown}.",
                "{count} characters that it has never seen are shown as {unknown}.",
                encoded.unknown,
                unknown=UNKNOWN,
            )
        )
    return tuple(notes)


def words_in_pieces(tokens: Sequence[str]) -> list[str]:
    """The words of several pieces as they are split, each once."""
    words: list[str] = []
    for token in map(shown, tokens):
        if token.startswith("·") and words and words[-1][-1].isalnum():
            words[-1] += token
        else:
            words.append(token)
    return list(dict.fromkeys(word for word in words if "·" in word[1:]))
