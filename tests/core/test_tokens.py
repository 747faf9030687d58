import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention_core.text.tokens import (
    Vocabulary,
    clean_text,
    is_invisible,
    split_characters,
    split_punctuation,
    tokenize,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates included
JOINER, VARIATION = "\u200d", "\ufe0f"
ASTRONAUT = f"\U0001f469{JOINER}\U0001f680"
FAMILY = f"\U0001f468{JOINER}\U0001f469{JOINER}\U0001f467"
THUMB = "\U0001f44d\U0001f3fd"
HEART = f"❤{VARIATION}"


# Words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat sat on the mat", ["The", "cat", "sat", "on", "the", "mat"]),
        ("Hello, world!", ["Hello", ",", "world", "!"]),
        ("don't", ["don't"]),
        ("well-known", ["well-known"]),
        ("3.14 or 1,000.", ["3.14", "or", "1,000", "."]),
        ("(“Yes?!”)", ["(", "“", "Yes", "?", "!", "”", ")"]),
        ("...", [".", ".", "."]),
        ("¿Qué?", ["¿", "Qué", "?"]),
        ("你好，世界。", ["你好，世界", "。"]),
        ("a  b\t\nc", ["a", "b", "c"]),
        ("", []),
        ("   ", []),
    ],
)
def test_words_and_the_punctuation_around_them_are_tokens(text, tokens):
    assert tokenize(text, "words") == tokens


def test_right_to_left_text_keeps_the_order_in_which_it_is_written():
    assert tokenize("שלום, עולם!", "words") == ["שלום", ",", "עולם", "!"]
    assert tokenize("كيف حالك؟", "words") == ["كيف", "حالك", "؟"]


@pytest.mark.parametrize("markup", ["<b>", "<script>alert(1)</script>", "{{x}}", "$x$", "&amp;", "\\n", "`c`"])
def test_markup_stays_literal(markup):
    assert clean_text(markup).text == markup
    assert "".join(tokenize(markup, "words")) == markup
    assert "".join(tokenize(markup, "characters")) == markup


@given(chunk=ANY_TEXT)
def test_splitting_punctuation_loses_nothing(chunk):
    assert "".join(split_punctuation(chunk)) == chunk
    assert all(split_punctuation(chunk))


@pytest.mark.parametrize("emoji", [ASTRONAUT, FAMILY, THUMB, HEART, f"‼{VARIATION}", f"#{VARIATION}\u20e3"])
def test_an_emoji_stays_whole_among_words(emoji):
    assert emoji in tokenize(f"so {emoji} it is", "words")


# Characters


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("cat", ["c", "a", "t"]),
        ("a b", ["a", " ", "b"]),
        ("é", ["é"]),
        ("e\u0301a", ["e\u0301", "a"]),
        (f"a{ASTRONAUT}b", ["a", ASTRONAUT, "b"]),
        (FAMILY + THUMB, [FAMILY, THUMB]),
        (HEART, [HEART]),
        ("नमस्ते", ["न", "म", "स्", "ते"]),
        ("", []),
    ],
)
def test_characters_are_those_a_reader_would_count(text, characters):
    assert tokenize(text, "characters") == characters


def test_a_flag_is_one_character():
    assert split_characters("🇩🇪🇫🇷!") == ["🇩🇪", "🇫🇷", "!"]


@given(text=ANY_TEXT)
def test_splitting_into_characters_loses_nothing(text):
    assert "".join(split_characters(text)) == text


# Cleaning


def test_an_ordinary_text_passes_without_a_note():
    clean = clean_text("The cat sat.")
    assert clean.text == "The cat sat."
    assert clean.notes == ()


def test_white_space_of_every_kind_becomes_one_space():
    clean = clean_text("  a\t\tb\r\nc\u00a0d\u2003e\u2028f  ")
    assert clean.text == "a b c d e f"
    assert clean.notes == ()


@pytest.mark.parametrize(
    "hidden",
    ["\x00", "\x1b", "\x7f", "\u200b", "\u200e", "\u202e", "\u2066", "\u2069", "\ufeff", "\ud800", "\udfff", "\ue000"],
    ids=ascii,
)
def test_what_cannot_be_shown_is_left_out_with_a_note(hidden):
    clean = clean_text(f"a{hidden}b")
    assert clean.text == "ab"
    assert list(map(str, clean.notes)) == ["Invisible characters were left out: 1."]


def test_the_note_counts_what_was_left_out():
    assert list(map(str, clean_text("\u202ea\ud800b\x00").notes)) == ["Invisible characters were left out: 3."]


def test_a_letter_and_its_accent_become_one_letter():
    assert clean_text("e\u0301").text == "é"


@pytest.mark.parametrize("emoji", [ASTRONAUT, FAMILY, THUMB, HEART])
def test_emoji_survive_cleaning(emoji):
    assert clean_text(emoji).text == emoji
    assert clean_text(emoji).notes == ()


def test_an_emoji_newer_than_the_table_of_characters_is_not_called_invisible():
    newer = "\U0001fa77"  # the pink heart of Unicode 15; an older table does not know it
    assert "invisible" not in " ".join(map(str, clean_text(f"I {newer} attention").notes))


@pytest.mark.parametrize("nothing", [JOINER, f"a {JOINER} b", VARIATION, f"a {VARIATION}{JOINER}"], ids=ascii)
@pytest.mark.parametrize("unit", ["words", "characters"])
def test_no_token_consists_of_joiners_alone(nothing, unit):
    for token in tokenize(clean_text(nothing).text, unit):
        assert token.strip(JOINER + VARIATION), ascii(token)


def test_a_text_that_is_too_long_is_cut_with_a_note():
    clean = clean_text("word " * 2_500)
    assert clean.text == ("word " * 400).strip()
    assert list(map(str, clean.notes)) == ["The text has 12,500 characters; the first 2,000 are used."]


def test_a_text_of_exactly_the_limit_is_not_cut():
    assert clean_text("a" * 11, max_characters=11).notes == ()
    assert clean_text("a" * 12, max_characters=11).text == "a" * 11


@given(raw=ANY_TEXT)
@example("\ud800\U0001f469\u200d")
@example("\u202e<b>\x00")
def test_a_clean_text_can_be_sent_and_shown(raw):
    text = clean_text(raw).text
    text.encode("utf-8")
    assert not any(is_invisible(c) for c in text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)
    assert text == " ".join(text.split())


@given(raw=ANY_TEXT)
def test_a_clean_text_is_clean(raw):
    once = clean_text(raw)
    assert clean_text(once.text).text == once.text
    assert clean_text(once.text).notes == ()


@given(raw=ANY_TEXT, unit=st.sampled_from(["words", "characters"]))
def test_tokenising_never_fails_and_yields_no_empty_token(raw, unit):
    for text in (raw, clean_text(raw).text):
        tokens = tokenize(text, unit)
        assert all(tokens)
        kept = "".join(tokens)
        assert kept == (text if unit == "characters" else "".join(text.split()))


# Vocabulary


@given(tokens=st.lists(ANY_TEXT, max_size=20))
def test_encoding_and_decoding_give_the_tokens_back(tokens):
    for make in (Vocabulary.in_order_of_appearance, Vocabulary.in_alphabetical_order):
        vocabulary = make(tokens)
        assert vocabulary.decode(vocabulary.encode(tokens)) == tokens
        assert len(vocabulary) == len(set(tokens))


@given(tokens=st.lists(st.text(max_size=3), max_size=20), more=st.lists(st.text(max_size=3), max_size=20))
def test_adding_words_at_the_end_changes_no_id(tokens, more):
    before = Vocabulary.in_order_of_appearance(tokens)
    after = Vocabulary.in_order_of_appearance(tokens + more)
    assert after.encode(tokens) == before.encode(tokens)


def test_ids_are_given_in_order_of_appearance():
    assert Vocabulary.in_order_of_appearance(["the", "cat", "the", "mat"]).encode(["the", "cat", "mat"]) == [0, 1, 2]


def test_ids_are_given_in_alphabetical_order_as_in_the_notebook():
    vocabulary = Vocabulary.in_alphabetical_order(list("hello world"))
    assert vocabulary.tokens == (" ", "d", "e", "h", "l", "o", "r", "w")
    assert vocabulary.encode(list("hello world")) == [3, 2, 4, 4, 5, 0, 7, 5, 6, 4, 1]


def test_unknown_tokens_are_named():
    vocabulary = Vocabulary.in_order_of_appearance(["a", "b"])
    with pytest.raises(ValueError, match=r"not in the vocabulary of 2: 'x', 'y'$"):
        vocabulary.encode(["a", "x", "y", "x"])


def test_of_many_unknown_tokens_the_first_five_are_named():
    with pytest.raises(ValueError, match=r"'c', 'd', 'e', 'f', 'g', …$"):
        Vocabulary.in_order_of_appearance(["a", "b"]).encode(list("abcdefgh"))
