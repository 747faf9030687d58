"""A visitor's words in headlines and on cards: each sign is kept from meaning anything."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_ui.session import ROLE_COLOURS, literal, marked
from lessons.screen import Fixed, ListOf, Token, message, render
from words import speaking

TEXTS = [
    "![seen](http://a.b/c.png)",
    "<img src=x onerror=y>",
    "<script>z</script>",
    "[seen](javascript:x)",
    ":red[no]",
    ":material/home:",
    ":smile:",
    ":streamlit:",
    "$\\href{http://a}{x}$",
    "$$x$$",
    "**bold**",
    "`code`",
    "~~gone~~",
    "# head",
    "1. list",
    "- list",
    "| a | b |",
    "http://a.b",
    "www.a.bc",
    "me@a.bc",
    "a -> b",
    "a <- b",
    "a -- b",
    "&lt;",
    "\\\\",
    "]",
    ":red-background[x]",
    ":small[x]",
    "{x}",
    "{0}",
]


def plainly(markdown):
    return re.sub(r"\\(.)", r"\1", markdown.replace("\u2060", ""))


@pytest.mark.parametrize("text", TEXTS)
def test_every_sign_is_apart_from_its_neighbours_and_the_text_reads_the_same(text):
    found = literal(text)
    assert plainly(found) == text
    assert not re.search(r"(?<!\u2060\\)[!-/:-@\[\]-`{-~]", re.sub(r"\u2060\\\\", "", found))


@given(st.text())
def test_any_text_stays_on_one_line(text):
    found = literal(text)
    assert len(found.splitlines()) <= 1 and plainly(found) == " ".join(text.split())


@pytest.mark.parametrize("text", TEXTS)
def test_words_in_a_sentence_are_literal_and_coloured_by_role(text):
    token = Token(text, 0)
    sentence = message(
        "{query} gives {key} {n} of {all}: {inner}, d_k",
        query=token,
        key=token,
        n=Fixed(-0.5),
        all=ListOf((token, token)),
        inner=message("x of {other}", other=token),
    )
    found, word = marked(sentence, ROLE_COLOURS), literal(f"“{text.replace(' ', '␣')}”")
    assert found == f":blue[{word}] gives :orange[{word}] −0.50 of {word} and {word}: x of {word}, d\\_k"
    assert plainly(marked(sentence)) == render(sentence)


def test_a_long_name_of_our_own_may_break_after_its_parts_and_nothing_of_a_visitor_may():
    """On a phone the name of a function is wider than a headline."""
    said = message("F.scaled_dot_product_attention takes d_k and attn_mask of {key}", key="my_own_looong_wordinesses")
    found = marked(said)
    assert plainly(found).replace("\u200b", "") == render(said)
    assert found.split("\u200b")[0].endswith("scaled\\_") and found.count("\u200b") == 3


def test_no_line_of_a_chinese_headline_ends_in_a_word():
    asked = message("On which key does {query} put its largest weight?", query=Token("it", 0))
    with speaking("zh"):
        said, plain = marked(asked), render(asked)
    assert "权\u2060重" in said and "最\u2060大" in said and said.replace("\u2060", "") == plain
    with speaking("ja"):
        assert "\u2060" not in marked(message("Rows are queries, columns are keys. Click a heatmap to see it large."))
