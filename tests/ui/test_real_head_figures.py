"""Strips and products by feature: what is drawn are the numbers, and a covered figure tells none of them."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from attention_ui.figures.cover import covered_table
from attention_ui.figures.features.by_feature import pairs_numbers, tables_of_pairs
from attention_ui.figures.features.by_feature_chart import pairs_template
from attention_ui.figures.features.strips import LONGEST, bars_path, strips_numbers, tables_of_strips
from attention_ui.figures.features.strips_chart import strips_template
from lessons.example.example import Example, run_example
from lessons.one_head.projections.lesson import Choices, screen

SHIPPED = Example(source="language", text="", layer=14)


def figures(query=7, key=1, **choices):
    return screen(run_example(replace(SHIPPED, **choices)), 8, Choices("head", query, key)).figures


def heights(path):
    """How high each bar of a path ends above the middle, read from left to right."""
    y, found = 0.0, []
    for letter, number in re.findall(r"([vh])(-?[\d.]+)", path.removeprefix("M0,0").removesuffix("Z")):
        if letter == "v":
            y += float(number)
        else:
            assert number == "1", "every number is equally wide"
            found.append(-y)
    assert abs(y) < 1e-6, "it ends where it began"
    return found


def test_a_bar_is_as_long_as_its_number_up_to_the_limit_and_points_where_its_sign_says():
    assert heights(bars_path([1.0, -0.5, 0.0, 3.0, -9.0], 2.0)) == pytest.approx(
        [LONGEST / 2, -LONGEST / 4, 0.35, LONGEST, -LONGEST], abs=0.06
    )


def test_each_row_of_each_matrix_is_one_path_with_a_bar_for_each_number():
    strips, *_ = figures()
    rows = tables_of_strips(strips)["bars"].to_pylist()
    assert len(rows) == 4 * 10
    for row in rows:
        one = strips.strips[row["strip"]]
        numbers = one.values[row["i"]].tolist()
        drawn = [height / LONGEST for height in heights(row["path"])]
        cut = [max(-1, min(1, number / one.limit)) for number in numbers]
        assert drawn == pytest.approx(cut, abs=0.04)
    assert strips_numbers(strips).num_rows == 10 * (576 + 3 * 64)


def test_where_nothing_is_cut_it_is_not_said():
    strips, *_ = figures()
    said = {row["name"]: row["cut"] for row in tables_of_strips(strips)["titles"].to_pylist()}
    for one in strips.strips:
        assert said[one.name].startswith("cut at ±" if float(one.values.abs().max()) > one.limit else "up to ±")


def test_products_go_left_and_right_of_the_same_zero_on_one_scale():
    _, pairs, _ = figures()
    rows = tables_of_pairs(pairs)["products"].to_pylist()
    values = [part.value for key in pairs.keys for part in key.parts]
    whole = max(values) - min(values)
    zero = -min(values) / whole
    for row, value in zip(rows, values, strict=True):
        assert row["end"] - row["begin"] == pytest.approx(abs(value) / whole, abs=1e-5)
        assert (row["begin"] if value > 0 else row["end"]) == pytest.approx(zero, abs=1e-5)
    assert pairs_numbers(pairs).num_rows == len(values)


@pytest.mark.parametrize("turned", [True, False])
def test_each_term_begins_where_the_last_one_ended_and_the_last_ends_at_the_score(turned):
    _, pairs, _ = figures(turned=turned)
    *parts, score, scaled = tables_of_pairs(pairs)["terms"].to_pylist()
    assert [row["kind"] for row in parts] == ["term"] * 8 + ["others"]
    for one, following in pairwise(parts):
        assert following["begin"] == pytest.approx(one["end"], abs=1e-6)
    assert parts[-1]["end"] == pytest.approx(score["end"], abs=1e-5) and score["begin"] == scaled["begin"]
    assert scaled["end"] - scaled["begin"] == pytest.approx((score["end"] - score["begin"]) / 8, abs=1e-5)
    number = [round(100 * float(row["said"].replace("−", "-"))) for row in (*parts, score)]
    assert sum(number[:-1]) == number[-1]


def test_while_it_is_covered_only_x_and_what_things_are_is_seen():
    strips, pairs, _ = figures()
    seen = {name: covered_table(table) for name, table in tables_of_strips(strips).items()}
    assert {row["strip"] for row in seen["bars"].to_pylist()} == {0}
    left = {name: covered_table(table).num_rows for name, table in tables_of_pairs(pairs).items()}
    assert left == {"keys": 8, "scores": 0, "columns": 9, "products": 0, "terms": 0, "texts": 1}


def test_all_numbers_of_the_same_sizes_share_a_template_and_a_learners_words_stay_data():
    assert strips_template((576, 64, 64, 64), 10, 0) is strips_template((576, 64, 64, 64), 10, 0)
    assert pairs_template(8, 9, 11, 0) is pairs_template(8, 9, 11, 0)
    hostile = run_example(Example(source="sentence", text="<script> two"))
    strips, pairs = screen(hostile, 0, Choices("head", 1, 0)).figures
    assert "<script>" in [row["word"] for row in tables_of_strips(strips)["tokens"].to_pylist()]
    assert "<script>" in [row["word"] for row in tables_of_pairs(pairs)["keys"].to_pylist()]
    assert "<script" not in json.dumps([strips_template((4, 2, 2, 2), 2, 0), pairs_template(2, 2, 4, 0)])
