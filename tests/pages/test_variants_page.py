"""The page of variants: each choice is drawn, and a second sentence is typed, kept and spoken about."""

import pytest
from visiting import open_page, texts

from lessons.example.example import learnt_example, run_example
from lessons.screen import render
from lessons.today.variants.lesson import VARIANT, Choices, screen

PAGE = "today/variants"


def open_variants(**query):
    return open_page(PAGE, **{"example": "pronouns", "cover": "false"} | query)


@pytest.mark.parametrize("variant", VARIANT.options)
def test_every_variant_says_what_its_screen_says(variant):
    at = open_variants(variant=variant)
    assert not at.exception
    shown = screen(run_example(learnt_example("pronouns")), 0, Choices(variant))
    said = " ".join(texts(at))
    assert all(render(sentence) in said for figure in shown.figures for sentence in figure.notice)


def test_a_second_sentence_asks_the_first_and_the_link_keeps_it():
    at = open_variants(variant="cross")
    assert "asks (tokens: 4); its beginning is another, which is looked at (tokens: 3)" in " ".join(texts(at))
    at.text_input(key="second").set_value("aunt saw lamp below monk").run()
    said = " ".join(texts(at))
    assert not at.exception
    assert "asks (tokens: 5); its beginning is another, which is looked at (tokens: 7)" in said
    again = open_variants(variant="cross", second="aunt saw lamp below monk")
    assert "asks (tokens: 5); its beginning is another, which is looked at (tokens: 7)" in " ".join(texts(again))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("aunt saw zebra", "This model has never met “zebra”, so it is left out."),
        ("zebra", "There is nothing to show yet: type something it knows."),
        ("aunt saw lamp below monk when she near boat girl near king found it", "the first 12 are used"),
    ],
)
def test_what_cannot_be_read_of_it_is_said(typed, told):
    at = open_variants(variant="cross", second=typed)
    assert not at.exception
    assert told in " ".join(texts(at))


def test_where_a_notebook_fixes_the_tokens_its_halves_ask_and_answer():
    at = open_variants(example="journey", variant="cross", second="a b")
    assert not at.exception and not [field for field in at.text_input if field.key == "second"]
    assert "asks (tokens: 3); its beginning is another, which is looked at (tokens: 3)" in " ".join(texts(at))
