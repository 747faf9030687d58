"""Questions on how a real model cuts a text: one is read off the text as it is cut, the others go beyond it."""

from itertools import pairwise
from typing import TYPE_CHECKING

from torch import Generator

from attention_core.text.byte_pairs import BYTE_OF, readable
from attention_core.text.tokens import split_characters
from lessons.example.token_names import typed
from lessons.screen import Card, Integer, Message, Token, message, visible_text
from lessons.shared.questions import Asked, Kinds, below, beyond_figure, multiple_choice, multiple_choice_of_counts

if TYPE_CHECKING:
    from lessons.one_head.tokens.cutting import Cutting


def seen_word(text: str) -> str:
    """A part of the text as it can be seen; a ␣ that was typed is no space."""
    return visible_text(typed(text))


def seen(piece: str) -> str:
    """A piece as it can be seen: its text, or its bytes in hexadecimal where they are no whole character."""
    text, own_bytes = readable(piece), bytes(BYTE_OF[character] for character in piece)
    return seen_word(text) if text.encode() == own_bytes else f"<{own_bytes.hex().upper()}>"


def tokens_of_word(cutting: "Cutting", random: Generator) -> Asked:
    """A word may be one token or several, and how many is neither that of its letters nor that of its merges."""
    found = [word for word in cutting.words if word.text.strip().isalpha() and len(word.text.strip()) > 1]
    found = [word for word in found if len(word.tokens) > 1] or found
    if not found:
        return None
    word = found[below(len(found), random)]
    tokens, merges, letters = len(word.tokens), len(word.steps) - 1, len(split_characters(word.text.strip()))
    return multiple_choice_of_counts(
        message("Into how many tokens is “{word}” cut?", word=seen_word(word.text)),
        (tokens, message("Each part with an id below it is one token.")),
        (1, message("A word is one token only if merges join all its bytes.")),
        (letters, message("That counts letters.")),
        (tokens - 1, message("That counts the cuts within the word.")),
        (len(word.text.encode()), message("That counts bytes.")),
        (merges, message("That counts merges.")),
    )


@beyond_figure
def merged_first(cutting: "Cutting", random: Generator) -> Asked:
    """Of several pairs the one learned first, wherever it stands."""
    word = cutting.words[below(len(cutting.words), random)]
    step = word.steps[below(len(word.steps), random)]
    rank = cutting.pairs.rank
    known = [pair for pair in dict.fromkeys(pairwise(step)) if pair in rank]
    if len(known) < 2:
        return None
    best = min(known, key=rank.__getitem__)

    def called(pair: tuple[str, str]) -> Message:
        one, other = map(seen, pair)
        return message("{one} + {other} (number {number})", one=one, other=other, number=Integer(1 + rank[pair]))

    wrong = (
        (known[0], message("It is first in the word, but the place in the list decides.")),
        (
            max(known, key=rank.__getitem__),
            message("Of these pairs, that one was learned last: rare pairs have to wait."),
        ),
        *((pair, message("Another pair comes earlier in the list.")) for pair in known),
    )
    return multiple_choice(
        message(
            "Partway through its merges, “{word}” has these neighbouring pairs, each with its number in the "
            "list of merges. Which is merged first?",
            word=seen_word(word.text),
        ),
        Card(called(best), message("The pair that was learned first, so the smallest number.")),
        *(Card(called(pair), reply) for pair, reply in wrong if pair != best),
    )


@beyond_figure
def with_and_without_space(cutting: "Cutting", random: Generator) -> Asked:
    """The token of a word with its space in front is not that of the word alone."""
    found = [token for token in cutting.names if cutting.without_space(token.position) is not None]
    if not found:
        return None
    token = found[below(len(found), random)]
    text, other = cutting.without_space(token.position) or ("", 0)
    alone = Token(typed(text), token.position)
    return multiple_choice(
        message(
            "{token} is one token. What if a text begins with {alone}, with no space before it?",
            token=token,
            alone=alone,
        ),
        Card(
            message("another token, with its own id"),
            message("Its id is {id}: a space is part of the token after it.", id=other),
            message("the space is a part of the token"),
        ),
        Card(
            message("the same token"),
            message("The model has two rows for the word and has to learn that they are alike."),
            message("the same word is the same token"),
        ),
        Card(
            message("no token: it is unknown"),
            message("Nothing is unknown to a model that starts from bytes."),
            message("only what was in the text is known"),
        ),
    )


@beyond_figure
def fewest_tokens(cutting: "Cutting", random: Generator) -> Asked:
    """No token crosses the border of a word, and each word is one at least."""
    words = len(cutting.words)
    return multiple_choice_of_counts(
        message(
            "Before merging, this text is cut into words, marks and digits, {words} in all. How many tokens would a "
            "model with a far longer list of merges need at least?",
            words=words,
        ),
        (words, message("At best, each word becomes one token, since no merge goes beyond a word.")),
        (1, message("No merge goes beyond a word, however long the list of merges.")),
        (cutting.letters, message("That counts characters.")),
        (len(cutting.text.encode()), message("That counts bytes.")),
    )


@beyond_figure
def tokens_of_number(cutting: "Cutting", random: Generator) -> Asked:
    """Digits are cut one by one. Always possible."""
    digits = 5 + below(4, random)
    number = "".join(str(1 + below(9, random)) for _ in range(digits))
    if not cutting.pairs.digits_apart:
        return None
    return multiple_choice_of_counts(
        message("How many tokens does {number} become, at the beginning of a text?", number=number),
        (digits, message("Each digit is a token: digits are cut apart before anything is merged.")),
        (1, message("This tokenizer cuts digits apart before it merges.")),
        (-(-digits // 3), message("Some tokenizers cut digits into groups of three; this one cuts them one by one.")),
        (2 * digits, message("A digit is one byte, so it is one token.")),
    )


CUTTING_QUESTIONS: Kinds = {
    "look": (tokens_of_word,),
    "predict": (
        merged_first,
        with_and_without_space,
    ),
    "generalise": (
        tokens_of_number,
        fewest_tokens,
    ),
}
