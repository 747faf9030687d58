"""How a real model cuts a text: into words, each word into its bytes, and these, merge by merge, into tokens."""

import functools
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from attention_core.text import byte_pairs
from attention_core.text.byte_pairs import BYTE_OF, BytePairs, readable, words_of
from attention_core.text.tokens import clean_text, split_characters
from lessons.example.real_model import RealModel
from lessons.example.token_names import parts_of_text, told_apart
from lessons.one_head.tokens.cutting_questions import CUTTING_QUESTIONS, seen, seen_word
from lessons.screen import (
    Argument,
    Code,
    Fixed,
    Integer,
    ListOf,
    Message,
    Screen,
    Table,
    TextToken,
    Token,
    TokenText,
    message,
    plural,
    visible_text,
)
from lessons.shared.questions import question_picker

TEXT_AT_FIRST = "The cat didn't cross 2024 streets unbelievably fast."
MOST_LETTERS = 200
FIRST_FEATURES = 5
# The bytes of all letters in use, in UTF-8: none of control characters, nor of planes of Unicode that are empty.
IN_USE = frozenset((*range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC2, 0xF1)))


@functools.lru_cache(maxsize=4)
def byte_pairs_of(model: RealModel) -> BytePairs:
    """The pieces and merges of a model whose tokenizer is a byte-level BPE."""
    about = json.loads(model.tokenizer.to_str())
    ids, merges = about["model"]["vocab"], about["model"]["merges"]
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in merges)
    return BytePairs(
        tokens=tuple(sorted(ids, key=ids.get)),
        merges=tuple((left, right) for left, right in pairs),
        digits_apart='"Digits"' in json.dumps(about["pre_tokenizer"]),
    )


@functools.lru_cache(maxsize=4)
def is_cut_into_bytes(model: RealModel) -> bool:
    """True where a model cuts texts as this page shows it: GPT-2's words, bytes, merges and nothing else."""
    about = json.loads(model.tokenizer.to_str())
    pieces, before = about["model"], about["pre_tokenizer"] or {}
    steps = before.get("pretokenizers", [before])
    *digits, last = [(step.get("type"), step.get("use_regex", step.get("individual_digits"))) for step in steps]
    as_shown = digits in ([], [("Digits", True)]) and last == ("ByteLevel", True) and not steps[-1]["add_prefix_space"]
    plain = pieces["type"] == "BPE" and not about["normalizer"] and not pieces.get("ignore_merges")
    numbered = sorted(pieces["vocab"].values()) == [*range(len(pieces["vocab"]))]  # a piece stands at its id
    return plain and as_shown and numbered and known_bytes(pieces["vocab"]) >= IN_USE


def known_bytes(pieces: Collection[str]) -> set[int]:
    """The bytes that are pieces by themselves."""
    return {byte for piece, byte in BYTE_OF.items() if piece in pieces}


@dataclass(frozen=True)
class CutWord:
    """A word that no token crosses: its pieces at first and after each merge, and its `first` token in the text."""

    text: str
    steps: tuple[tuple[str, ...], ...]
    first: int

    @property
    def tokens(self) -> tuple[str, ...]:
        """What its bytes have become."""
        return self.steps[-1]


@dataclass(frozen=True, eq=False)
class Cutting:
    """A text that a model has cut: its words, its ids, and what each token is called."""

    model: RealModel
    pairs: BytePairs
    text: str
    words: tuple[CutWord, ...]
    ids: tuple[int, ...]
    parts: tuple[str, ...]

    @property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        called = told_apart(self.parts)
        return tuple(Token(text, place, called.count(text) > 1) for place, text in enumerate(called))

    @property
    def letters(self) -> int:
        """How many characters a reader counts: 👍🏽 is one."""
        return len(split_characters(self.text))

    def without_space(self, token: int) -> tuple[str, int] | None:
        """A token without the space before it, as a text and its id, where there is a space and that is one token."""
        piece = self.pairs.tokens[self.ids[token]]
        alone, other = readable(piece[1:]), self.pairs.ids.get(piece[1:])
        begins_with_space = readable(piece[:1]) == " "
        return (alone, other) if begins_with_space and alone and self.pairs.encode(alone) == [other] else None

    @property
    def longest(self) -> int:
        """The word that takes most merges; the first of them."""
        return max(range(len(self.words)), key=lambda place: (len(self.words[place].steps), -place))

    def word_of(self, token: int) -> int:
        """The word that a token belongs to."""
        return max(place for place, word in enumerate(self.words) if word.first <= token)


@functools.lru_cache(maxsize=64)
def cut(model: RealModel, raw: str) -> Cutting:
    """A text in words and tokens; what stands there at first, where nothing is left of it."""
    pairs = byte_pairs_of(model)
    text = known_letters(clean_text(raw, MOST_LETTERS).text, pairs) or TEXT_AT_FIRST
    words, first = [], 0
    for word in words_of(text, pairs.digits_apart):
        words.append(CutWord(word, tuple(pairs.steps(word)), first))
        first += len(words[-1].tokens)
    ids = tuple(pairs.ids[piece] for word in words for piece in word.tokens)
    return Cutting(model, pairs, text, tuple(words), ids, parts_of_text(model, ids))


def known_letters(text: str, pairs: BytePairs) -> str:
    """A text without letters of which the model knows not every byte: its tokenizer drops such bytes."""
    known = known_bytes(pairs.ids)
    return "".join(letter for letter in text if known.issuperset(letter.encode()))


def cutting_screen(cutting: Cutting, word: int, step: int) -> Screen:
    """The whole text, the pieces of one word after so many merges, which pair comes next, and the rows of the table."""
    return Screen(
        figures=(
            text_cut(cutting, word),
            pieces_now(cutting, word, step),
            pairs_now(cutting, word, step),
            rows(cutting),
        ),
        remarks=tuple(what_is_seen(cutting)),
        code=Code((words_of, BytePairs.encode, BytePairs.steps, byte_pairs.merge_pairs, byte_pairs.readable)),
        ask=question_picker("tokens", CUTTING_QUESTIONS, len(cutting.ids), cutting),
    )


def text_cut(cutting: Cutting, word: int) -> TokenText:
    """Each token with its id; those of the chosen word are marked."""
    chosen = cutting.words[word]
    marked = range(chosen.first, chosen.first + len(chosen.tokens))
    n_bytes = len(cutting.text.encode())
    notice = message(
        "Characters: {characters}. Bytes: {bytes}. Tokens: {tokens}, from a vocabulary of {size}. Below "
        "each token is its id.",
        characters=cutting.letters,
        bytes=n_bytes,
        tokens=len(cutting.ids),
        size=Integer(len(cutting.pairs.tokens)),
    )
    spaces = (message("␣ stands for a space."),) if " " in cutting.text else ()
    return TokenText(
        key="cut_text_figure",
        name=message("The tokens of the text and their ids"),
        notice=(notice, *spaces),
        picks="merge_word",
        tokens=tuple(
            TextToken(
                text=visible_text(name.text),
                below=str(token_id),
                says=message("{token} has the id {id}. Click to see how its word is merged.", token=name, id=token_id),
                marked=place in marked,
                chooses=1 + cutting.word_of(place),
            )
            for place, (name, token_id) in enumerate(zip(cutting.names, cutting.ids, strict=True))
        ),
    )


def pieces_now(cutting: Cutting, word: int, step: int) -> TokenText:
    """The pieces of a word after so many merges; the pair that is merged next is marked."""
    steps = cutting.words[word].steps
    now, following = steps[step], next_pair(cutting.pairs, steps, step)
    return TokenText(
        key="pieces_figure",
        name=message("The pieces of one word"),
        heading=message("From bytes to tokens"),
        notice=(said_of_step(cutting, word, step),),
        tokens=tuple(
            TextToken(
                text=seen(piece),
                below=str(cutting.pairs.ids[piece]),
                says=message("{piece} has the id {id}.", piece=seen(piece), id=cutting.pairs.ids[piece]),
                marked=following is not None and following <= place <= following + 1,
            )
            for place, piece in enumerate(now)
        ),
    )


def next_pair(pairs: BytePairs, steps: Sequence[tuple[str, ...]], step: int) -> int | None:
    """Where the first piece of the pair stands that is merged next; None after the last merge."""
    if step == len(steps) - 1:
        return None
    ranks = [pairs.rank.get(pair, len(pairs.rank)) for pair in pairwise(steps[step])]
    return ranks.index(min(ranks))


def said_of_step(cutting: Cutting, word: int, step: int) -> Message:
    """Where the word has come to, and what comes next."""
    steps = cutting.words[word].steps
    about = {"word": seen_word(cutting.words[word].text), "step": step, "last": len(steps) - 1}
    place = next_pair(cutting.pairs, steps, step)
    if place is None:
        return plural(
            "{word}, merges done: {step} of {last}. No neighbouring pair is left to merge, so it is {count} token.",
            "{word}, merges done: {step} of {last}. No pair of neighbours is in the list of merges, so it "
            "stays {count} tokens.",
            len(steps[step]),
            **about,
        )
    one, other = steps[step][place : place + 2]
    return message(
        "{word}, merges done: {step} of {last}. Next, {one} and {other} are merged: of all neighbouring "
        "pairs, theirs comes first in the list of merges, as number {number}.",
        one=seen(one),
        other=seen(other),
        number=Integer(1 + cutting.pairs.rank[one, other]),
        **about,
    )


def pairs_now(cutting: Cutting, word: int, step: int) -> Table:
    """All neighbours, with their place in the list of merges; the smallest number is merged next."""
    cells = []
    for one, other in pairwise(cutting.words[word].steps[step]):
        rank = cutting.pairs.rank.get((one, other))
        number: Argument = message("not in the list") if rank is None else Integer(1 + rank)
        cells.append((seen(one), seen(other), seen(one + other), number))
    return Table(
        key="merges_table",
        name=message("Neighbours and their place in the list of merges"),
        columns=(
            message("piece"),
            message("next piece"),
            message("both as one piece"),
            message("place in the list of merges"),
        ),
        cells=tuple(cells) or ((seen(cutting.words[word].steps[step][0]), "–", "–", "–"),),
    )


def rows(cutting: Cutting) -> Table:
    """The row of the embedding table that each different token fetches: its first features, and its length."""
    table = cutting.model.transformer.token_table
    size, d_model = table.shape
    cells = []
    for token_id in dict.fromkeys(cutting.ids):
        row = table[token_id].float()
        name = visible_text(cutting.names[cutting.ids.index(token_id)].text)
        cells.append((name, token_id, *(Fixed(float(x), 3) for x in row[:FIRST_FEATURES]), Fixed(float(row.norm()))))
    features = (message("feature {feature}", feature=feature + 1) for feature in range(FIRST_FEATURES))
    return Table(
        key="rows_table",
        name=message("Tokens and their rows of the embedding table"),
        heading=message("Their rows of the embedding table"),
        notice=(
            message(
                "Each id fetches one of {size} rows of {features} numbers. Shown are the first {first} of these "
                "numbers and the length of the whole row.",
                size=Integer(size),
                features=d_model,
                first=FIRST_FEATURES,
            ),
        ),
        columns=(message("token"), message("id"), *features, message("length of the row")),
        cells=tuple(cells),
    )


# What there is to see in this text.


def what_is_seen(cutting: Cutting) -> list[Message]:
    """Why these tokens are cut as they are: spaces, apostrophes, digits, characters of several tokens."""
    said = (about_spaces(cutting), about_apostrophes(cutting), about_digits(cutting), about_characters(cutting))
    return [sentence for sentence in said if sentence is not None]


def about_spaces(cutting: Cutting) -> Message | None:
    """A space belongs to the token behind it: so a word has two ids."""
    for word in cutting.words:
        alone = cutting.without_space(word.first) if len(word.tokens) == 1 else None
        if alone is not None and alone[0].isalpha():
            return message(
                "A space belongs to the token after it: {token} has the id {id}; without its space it would be "
                "another token, with the id {other}.",
                token=cutting.names[word.first],
                id=cutting.ids[word.first],
                other=alone[1],
            )
    return None


def about_apostrophes(cutting: Cutting) -> Message | None:
    """Words are cut apart before anything is merged, and 's, 't, 're, 've, 'm, 'll, 'd are words of their own."""
    for before, word in pairwise(cutting.words):
        if word.text in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d") and before.text[-1:].isalpha():
            return message(
                "{before} and {word} stay apart because the text is cut into words first, and {word} counts as a "
                "word. No merge goes beyond a word.",
                before=Token(before.text, 0),
                word=Token(word.text, 0),
            )
    return None


def about_digits(cutting: Cutting) -> Message | None:
    """Each digit is a word of its own."""
    digits = [word.text for word in cutting.words if word.text.isascii() and word.text.isdigit()]
    if not cutting.pairs.digits_apart or len(digits) < 2:
        return None
    return message("Digits are cut one by one: {digits}. So a number is read digit by digit.", digits=" ".join(digits))


def about_characters(cutting: Cutting) -> Message | None:
    """Characters of several tokens: the model knows their bytes, and not each as a whole."""
    several = characters_cut_apart(cutting)
    if not several:
        return None
    return message(
        "Cut into several tokens: {characters}. A character outside ASCII has two to four bytes, and "
        "here not all of them are merged into one token. Small figures count the tokens of a character.",
        characters=ListOf(tuple(map(seen_word, dict.fromkeys(several)))),
    )


def characters_cut_apart(cutting: Cutting) -> list[str]:
    """The characters within whose bytes a token ends. Each character of a piece stands for a byte."""
    ends = set(accumulate(len(cutting.pairs.tokens[token_id]) for token_id in cutting.ids))
    found, begin = [], 0
    for character in cutting.text:
        end = begin + len(character.encode())
        if not ends.isdisjoint(range(begin + 1, end)):
            found.append(character)
        begin = end
    return found
