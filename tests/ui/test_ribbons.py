"""The tables of a sentence and its ribbons: widths are weights, together one whole, and every word has room."""

import itertools

import pytest

from attention_ui.figures.sentence.ribbons import (
    MOST_EMS,
    lanes,
    ribbon_numbers,
    ribbon_says,
    ribbon_weights,
    ribbon_words,
    slots_of,
)
from attention_ui.figures.sentence.ribbons_chart import ribbons_template
from lessons.example.example import Example, learnt_example, run_example
from lessons.screen import render
from lessons.start.overview.sentence_view import Choices, screen

UNMASKED = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11, causal=False)
SENTENCES = [
    "one",
    "a b",
    "the cat sat on the mat",
    "abcdefghij" * 9 + " x",
    " ".join(["W" * 40] * 12),
    "iiii WWWW",
    "\u6f22\u5b57 \u304b\u306a",
    "\U0001f469\u200d\U0001f467 ok",
]


def figure_of(example, query=None):
    return screen(run_example(example), 0, Choices(query)).figures[0]


def rows_of(figure, **fixed):
    rows = ribbon_weights(figure).to_pylist()
    return [row for row in rows if all(row[name] == value for name, value in fixed.items())]


@pytest.mark.parametrize("example", [learnt_example("pronouns"), UNMASKED])
def test_every_weight_of_every_moment_is_in_the_table(example):
    figure = figure_of(example)
    for place, moment in enumerate(figure.moments):
        for query, row in enumerate(moment.rows):
            drawn = rows_of(figure, moment=place, query=query)
            assert [one["place"] for one in drawn] == list(range(len(figure.tokens)))
            assert [one["share"] for one in drawn] == pytest.approx(row.shares)
            assert [one["text"] == "masked" for one in drawn] == [not sees for sees in row.visible]


def test_ribbons_leave_the_query_side_by_side_and_fill_one_whole():
    shares, query = (0.1, 0.3, 0.05, 0.35, 0.2), 2
    places = zip(lanes(shares, query), shares, strict=True)
    edges = sorted((lane - share / 2, lane + share / 2, key) for key, (lane, share) in enumerate(places))
    assert edges[0][0] == pytest.approx(-0.5) and edges[-1][1] == pytest.approx(0.5)
    for (_, end, _), (begin, _, _) in itertools.pairwise(edges):
        assert begin == pytest.approx(end)
    assert [key for _, _, key in edges] == [1, 0, 2, 4, 3], "the farther on each side is the outer one: none crosses"


def test_words_that_lead_have_the_colour_of_keys_and_nearly_even_rows_have_none():
    figure = figure_of(learnt_example("pronouns"))
    trained = {row["place"]: row["tone"] for row in rows_of(figure, moment=15, query=6)}
    assert trained == dict.fromkeys(range(1, 6), "muted") | {0: "k", 6: "q"}
    assert {row["tone"] for row in rows_of(figure, moment=0, query=6)} == {"ink", "q"}


@pytest.mark.parametrize("text", SENTENCES)
def test_every_word_has_room_and_none_lies_on_another(text):
    words = ribbon_words(figure_of(Example(source="sentence", text=text))).to_pylist()
    assert words[0]["left"] == 0 and words[-1]["right"] == pytest.approx(words[0]["ems"], rel=1e-5)
    assert words[0]["ems"] <= MOST_EMS * 1.0001
    for before, after in itertools.pairwise(words):
        assert before["right"] == pytest.approx(after["left"], rel=1e-5)
    assert all(word["left"] < word["at"] < word["right"] for word in words)


def test_short_words_keep_their_room_where_long_ones_give_way():
    short, several = slots_of(["a"]), slots_of(["a", *["W" * 40] * 3])
    assert several[0] == short[0] and max(several) == MOST_EMS / 4


def test_what_is_said_of_each_row_and_moment_is_the_lessons_own_sentence():
    figure = figure_of(learnt_example("pronouns"))
    said = {(row["moment"], row["query"]): row for row in ribbon_says(figure).to_pylist()}
    for place, moment in enumerate(figure.moments):
        assert said[place, -1]["wide"] == render(moment.says)
        for query, row in enumerate(moment.rows):
            assert said[place, query]["wide"].replace("\n", " ") == render(row.says)
            assert max(map(len, said[place, query]["narrow"].splitlines())) <= 46


def test_the_chart_is_built_once_and_only_a_training_has_a_film():
    assert ribbons_template(7, 16, False) is ribbons_template(7, 16, False)
    moving = {param["name"] for param in ribbons_template(7, 16, False)["params"]}
    still = {param["name"]: param.get("value") for param in ribbons_template(9, 1, False)["params"]}
    assert {"moment", "playing"} <= moving and "playing" not in still and still["words"] == 9


def test_the_numbers_as_a_file_are_the_last_weights_without_what_is_masked():
    figure = figure_of(learnt_example("pronouns"))
    rows = ribbon_numbers(figure).to_pylist()
    assert len(rows) == 28
    for row in rows:
        assert row["weight"] == pytest.approx(figure.moments[-1].rows[row["query"] - 1].shares[row["key"] - 1])
