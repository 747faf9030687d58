"""What the browser is given of a sentence and its ribbons: every weight, and what is said of each row."""

import pytest

from attention_ui.figures.sentence.ribbons import ribbon_numbers, ribbons_of
from lessons.example.example import Example, learnt_example, run_example
from lessons.screen import render
from lessons.start.overview.sentence_view import Choices, screen

UNMASKED = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11, causal=False)


def figure_of(example, query=None):
    return screen(run_example(example), 0, Choices(query)).figures[0]


@pytest.mark.parametrize("example", [learnt_example("pronouns"), UNMASKED])
def test_every_weight_of_every_moment_and_what_is_said_of_it_is_there(example):
    figure = figure_of(example)
    drawn = ribbons_of(figure)
    assert len(drawn["moments"]) == len(figure.moments) == drawn["film"]["count"]
    for now, moment in zip(drawn["moments"], figure.moments, strict=True):
        assert now["says"] == render(moment.says) and len(now["rows"]) == len(moment.rows)
        for one, row in zip(now["rows"], moment.rows, strict=True):
            assert one["says"] == render(row.says)
            for share, text, weight, sees in zip(one["shares"], one["texts"], row.shares, row.visible, strict=True):
                assert share == (pytest.approx(weight, abs=5e-6) if sees else None)
                assert (text == "masked") is not sees


def test_words_that_lead_have_the_colour_of_keys_and_nearly_even_rows_have_none():
    moments = ribbons_of(figure_of(learnt_example("pronouns")))["moments"]
    assert moments[15]["rows"][6]["roles"] == ["k", *["muted"] * 5, "q"]
    assert set(moments[0]["rows"][6]["roles"]) == {"ink", "q"}


def test_a_learners_words_are_data_and_the_query_is_one_of_them():
    drawn = ribbons_of(figure_of(Example(source="sentence", text="<b>a</b> iiii WWWW"), query=1))
    assert [word["text"] for word in drawn["words"]] == ["<b>a</b>", "iiii", "WWWW"]
    assert [word["name"] for word in drawn["words"]] == ["“<b>a</b>”", "“iiii”", "“WWWW”"] and drawn["query"] == 1


def test_the_numbers_as_a_file_are_the_last_weights_without_what_is_masked():
    figure = figure_of(learnt_example("pronouns"))
    rows = ribbon_numbers(figure).to_pylist()
    assert len(rows) == 28
    for row in rows:
        assert row["weight"] == pytest.approx(figure.moments[-1].rows[row["query"] - 1].shares[row["key"] - 1])
