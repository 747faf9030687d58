"""The report on the catalogues: what was said is not unseen, what nobody said is, and words are counted right."""

import pytest

from tests.words_report import listening, texts_of, unseen_of, use, walk_lesson, words_in

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")


@pytest.fixture
def heard():
    with listening() as templates:
        yield templates


def test_words_are_counted_and_where_none_stand_apart_letters():
    assert words_in("{query} looks most at {key}: 2 tokens.") == 5
    assert words_in("关注 {key} 最多") == 4
    assert words_in("トークン数n") == 6


def test_every_language_says_as_many_texts_as_it_has_forms():
    assert len(texts_of("en")) == len(texts_of("de")) > len(texts_of("ja"))


def test_what_a_lesson_says_was_seen_and_an_error_nobody_caused_was_not(heard):
    before = unseen_of(heard)
    walk_lesson("scores")
    after = unseen_of(heard)
    assert set(after) < set(before) and "scores" in set(before) - set(after)
    assert "query {query} has no key to look at; allow it at least one" in after


def test_a_control_is_given_every_option(heard):
    use("one_head/mask", "button_group", "masking")
    assert {"difference", "window"} <= heard
