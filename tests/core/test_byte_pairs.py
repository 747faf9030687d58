"""Byte-level BPE: the core's few lines and the package `tokenizers` read random texts of many scripts alike."""

import functools
import json
import random
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from attention_core.text.byte_pairs import BYTE_OF, BytePairs, readable, words_of

SCRIPTS = {
    "Latin": (0x20, 0x17F),
    "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x4FF),
    "Hebrew": (0x590, 0x5F4),
    "Arabic": (0x600, 0x6FF),
    "Devanagari": (0x900, 0x97F),
    "Thai": (0xE01, 0xE5B),
    "Hangul": (0xAC00, 0xD7A3),
    "Kana": (0x3040, 0x30FF),
    "Han": (0x4E00, 0x9FFF),
    "signs": (0x2000, 0x2BFF),
    "emoji": (0x1F300, 0x1F64F),
    "numbers": (0x2150, 0x218B),
    "control": (0x00, 0x1F),
    "mathematics": (0x1D400, 0x1D7FF),
}
SAMPLES = (
    "It's 1984, and we'll see what they've read: don't you'd think I'm 42 % sure?\n\n\tdef f(x): return x**2 # naïve",
    "Ça va? Zürich, 東京。 Ελλάδα Привет мир שלום مرحبا नमस्ते สวัสดี 안녕하세요 ½ ² Ⅷ ٣٤ 🙂👍🏽 e\u0301",
    "  two  spaces\u00a0and\u3000others \u2003 \r\n end   ",
    "the cat sat on the mat because it was tired " * 3,
)


def characters():
    """Those of all scripts that Unicode had ten years ago, so that every library knows what they are."""
    old = unicodedata.ucd_3_2_0
    ranges = [
        st.characters(min_codepoint=a, max_codepoint=b, exclude_categories=("Cs", "Cn")) for a, b in SCRIPTS.values()
    ]
    return st.one_of(ranges).filter(lambda c: ord(c) > 0xFFFF or old.category(c) == unicodedata.category(c))


@functools.cache
def trained(digits_apart):
    """A tokenizer of the package that has learned its merges from a text of many scripts, and the same for the core."""
    tokenizer = Tokenizer(models.BPE())
    digits = [pre_tokenizers.Digits(individual_digits=True)] if digits_apart else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    draw = random.Random(3)
    noise = ["".join(chr(draw.randint(a, b)) for _ in range(200)) for a, b in SCRIPTS.values()]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([*SAMPLES, *noise], trainer)
    vocabulary = tokenizer.get_vocab()
    merges = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    return tokenizer, BytePairs(tuple(sorted(vocabulary, key=vocabulary.get)), tuple(merges), digits_apart)


@pytest.mark.parametrize("digits_apart", [False, True])
@given(text=st.text(characters(), max_size=60))
@example(text=SAMPLES[0])
@example(text=SAMPLES[1])
@example(text=SAMPLES[2])
@example(text="'s 'S 'll'x '' 'é  's")
@example(text="")
def test_the_same_ids_as_the_package_on_random_texts(text, digits_apart):
    theirs, ours = trained(digits_apart)
    ids = ours.encode(text)
    assert ids == theirs.encode(text).ids
    assert ours.decode(ids) == text == theirs.decode(ids)
    assert "".join(words_of(text, digits_apart)) == text


def test_merges_are_played_one_by_one():
    pairs = BytePairs(("h", "u", "g", "s", "ug", "hug"), (("u", "g"), ("h", "ug")))
    assert pairs.steps("hugs") == [("h", "u", "g", "s"), ("h", "ug", "s"), ("hug", "s")]
    assert pairs.encode("hugs") == [5, 3] and pairs.decode([5, 3]) == "hugs"


def test_words_by_hand():
    assert list(words_of("I'm  here, in 2024!\n")) == ["I", "'m", " ", " here", ",", " in", " 2024", "!", "\n"]
    assert list(words_of("in 2024", digits_apart=True)) == ["in", " ", "2", "0", "2", "4"]
    assert list(words_of("λόγος東京½")) == ["λόγος東京", "½"]


def test_each_byte_has_a_character_that_can_be_seen():
    assert sorted(BYTE_OF.values()) == list(range(256))
    assert all(character.isprintable() and not character.isspace() for character in BYTE_OF)
    assert readable("Ġcat") == " cat" and readable("Ã©") == "é" and readable("Ã") == "�"
