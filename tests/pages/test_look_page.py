"""The pictures of a small model as a visitor uses them: a head at work, and the whole computation one click away."""

import pytest
from visiting import asked, chart, open_page, read_plainly, texts

from lessons.example.example import learnt_example, run_example
from lessons.screen import render, render_all
from lessons.start.overview import row_view as carried
from lessons.start.overview.row_view import CHAPTER
from lessons.start.overview.sentence_view import Choices, screen

SENTENCE = "boy found lamp near girl when"


def first(**link):
    return open_page(**({"example": "pronouns", "picture": None if "step" in link else "sentence"} | link))


def pronouns(query=None, **choices):
    return screen(run_example(learnt_example("pronouns", **choices)), 0, Choices(query))


def test_it_opens_with_a_trained_head_at_work_and_says_what_it_does():
    at, shown = first(), pronouns()
    assert asked(at) == render(shown.headline)
    assert render_all(shown.lead) in [read_plainly(element.value) for element in at.markdown]
    assert chart(at)[2] == render_all(shown.figures[0].notice)
    assert ":blue[" in at.header[0].value and ":orange[" in at.header[0].value


def test_the_whole_computation_is_one_click_away_and_its_link_says_so():
    at = first()
    at.segmented_control(key="picture").set_value("steps").run()
    assert "cells" in chart(at)[1] and at.button(key="step_Next")
    assert "cells" in chart(first(picture="All steps"))[1]


def test_opened_up_one_row_is_carried_through_five_chapters():
    at = first(picture="row")
    titles = [asked(at)]
    for _ in [*CHAPTER.options][1:]:
        at.button(key="chapter_Next").click().run()
        titles.append(asked(at))
    trace = run_example(learnt_example("pronouns"))
    assert titles == [render(carried.screen(trace, 0, carried.Choices(one, 6)).headline) for one in CHAPTER.options]
    assert not any(title in texts(at) for title in titles), "nothing is said twice"
    at.selectbox(key="asks").set_value(2).run()
    assert "“found”" in asked(at)
    assert "over 99%" in asked(first(picture="row", chapter="share"))


@pytest.mark.parametrize("link", [{"step": "X"}, {"step": "scores", "example": "journey"}, {"picture": "steps"}])
def test_a_link_to_a_step_opens_the_whole_computation(link):
    assert "cells" in chart(first(**link))[1]


def test_who_opens_a_link_to_a_step_can_go_to_the_sentence():
    at = first(step="scores")
    at.segmented_control(key="picture").set_value("sentence").run()
    assert "ribbons" in chart(at)[1]


def test_another_query_changes_headline_and_data_but_not_the_chart():
    at = first()
    before = chart(at)
    at.selectbox(key="asks").set_value(5).run()
    assert asked(at) == render(pronouns(4).headline)
    after = chart(at)
    assert after[0] == before[0] and after[1]["query"] == 4


def test_the_last_word_can_be_changed_and_the_head_follows():
    at = first()
    before = chart(at)[0]
    for word in ("it", "she"):
        at.segmented_control(key="last_word").set_value(word).run()
        assert asked(at) == render(pronouns(text=f"{SENTENCE} {word}").headline)
        assert at.query_params["says_pronouns"] == at.text_input(key="says_pronouns").value == f"{SENTENCE} {word}"
        assert chart(at)[0] == before, "the picture changes in place"
    assert at.segmented_control(key="last_word").value == "she"


def test_updates_take_the_film_back_to_its_beginning():
    at = first(trained_for=40)
    assert len(chart(at)[1]["moments"]) == 3
    at.select_slider(key="trained_for").set_value(0).run()
    assert "equally" in asked(at) and "Untrained" in read_plainly(at.markdown[1].value)


LINKS = [
    {"example": "sentence", "text": "one"},
    {"example": "sentence", "text": "a b c d e f g h i j k l", "causal": "false", "heads": 3},
    {"example": "sentence", "text": "<b>bold</b> ![x](http://127.0.0.1:9/a.png) $x^2$ :red[no] {0}"},
    {"example": "sentence", "text": "word" * 60},
    {"example": "mat"},
    {"example": "batch"},
    {"example": "language"},
    {"example": "induction"},
    {"example": "lookup", "says_lookup": "b2"},
    {"example": "pronouns", "large": "true", "asks": 99},
    {"example": "pronouns", "model_heads": 2, "head": 2},
]


@pytest.mark.parametrize("link", LINKS)
def test_it_opens_with_every_source_mask_and_sentence(link):
    at = first(**link)
    assert not at.exception and chart(at)[1]["words"]
    said = " ".join(read_plainly(element.value) for element in at.markdown)
    assert ("Untrained" in said) == (link["example"] in ("sentence", "mat", "batch"))


def test_numbers_changed_by_hand_are_told():
    at = first(example="journey", edits="q1,2=0.5")
    assert any("changed by hand" in text for text in texts(at))
