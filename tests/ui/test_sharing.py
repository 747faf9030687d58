"""The picture of a softmax: lengths and parts are the numbers, frames hide the answer."""

import re

import pytest

from attention_ui.figures.cover import covered_table
from attention_ui.figures.shares.sharing import (
    BAR,
    DEEP,
    FLOOR,
    NUMBER_ROOM,
    SIZE_ROOM,
    WHOLE,
    ZERO,
    film_of_sharing,
    sharing_table,
    with_room,
)
from attention_ui.figures.shares.sharing_chart import sharing_chart
from attention_ui.figures.template import template
from lessons.example.example import Example, run_example
from lessons.one_head.softmax.lesson import Choices, screen, softmax_row
from lessons.screen import percent
from tests.figures import layer
from tests.rounding import SUMS

SENTENCE = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11)


def figure(query=4, temperature=4.0, example=SENTENCE):
    return screen(run_example(example), 0, Choices(query, temperature)).figures[0]


def drawn(kind, one=None, *, covered=False):
    rows = sharing_table(one or figure(), covered=covered).to_pylist()
    return [row for row in rows if row["kind"] == kind]


def test_lengths_are_the_numbers_and_their_direction_is_the_sign():
    row = softmax_row(run_example(SENTENCE).heads.select(0), 4, 4.0)
    longest = max(3.0, 2 * max(abs(4.0 * score) for score in row.scores.tolist()))
    for bar, score in zip(drawn("numbers"), row.scores.tolist(), strict=True):
        assert bar["y2"] == ZERO
        assert ZERO - bar["y"] == pytest.approx(NUMBER_ROOM * score / longest, abs=1e-4)
    for bar, size in zip(drawn("sizes"), row.powers.tolist(), strict=True):
        assert (bar["y2"] - bar["y"]) / SIZE_ROOM == pytest.approx(size, abs=1e-5)
        assert bar["x2"] - bar["x"] == pytest.approx(BAR, abs=SUMS * bar["x2"])


def test_dividing_by_the_temperature_is_seen():
    ones, halves = (drawn("numbers", figure(temperature=heat)) for heat in (1.0, 2.0))
    for one, half in zip(ones, halves, strict=True):
        assert ZERO - half["y"] == pytest.approx((ZERO - one["y"]) / 2, abs=1e-4)


def test_at_a_low_temperature_the_scale_stays_and_an_arrow_says_that_a_bar_goes_on():
    usual, cold = drawn("numbers", figure(temperature=1.0)), figure(temperature=0.1)
    longest = figure(temperature=1.0).number_domain
    assert cold.number_domain == pytest.approx(longest)
    beyond = {row["key"]: row["text"] for row in drawn("beyond", cold)}
    assert beyond == {
        at: "▲" if one.number > 0 else "▼" for at, one in enumerate(cold.portions) if abs(one.number) > longest
    }
    assert beyond and not drawn("beyond", figure(temperature=1.0))
    for at, (one, bar) in enumerate(zip(usual, drawn("numbers", cold), strict=True)):
        length = NUMBER_ROOM if at in beyond else 10 * abs(ZERO - one["y"])
        assert abs(ZERO - bar["y"]) == pytest.approx(length, abs=1e-3)


def test_the_parts_are_the_weights_and_fill_one_whole_without_overlap():
    row, parts = softmax_row(run_example(SENTENCE).heads.select(0), 4, 4.0), drawn("whole")
    before = 0.0
    for part, weight in zip(parts, row.weights.tolist(), strict=True):
        assert 5 * before <= part["x"] <= part["x2"] <= 5 * (before + weight) + 1e-5
        assert part["x2"] - part["x"] == pytest.approx(5 * weight, abs=0.03), "but for the gaps"
        before += weight
    assert before == pytest.approx(1)
    feet = [(piece["x"], piece["x2"]) for piece in drawn("ribbons") if piece["y"] == WHOLE - 3]
    assert [end for end in feet if end[1] < end[0]] == [] and len(feet) == 5
    assert feet[-1][1] == pytest.approx(5)


def test_a_covered_figure_shows_scores_and_frames_and_nothing_of_the_answer():
    table = covered_table(sharing_table(figure(), covered=True)).to_pylist()
    kinds = {row["kind"] for row in table}
    assert kinds == {"labels", "ways", "names", "numbers", "values", "frames", "marks", "asks"}
    assert len([row for row in table if row["kind"] == "frames"]) == 6, "one for each key, one for the whole"
    assert not any(row["say"] or row["told"] for row in table)
    assert not re.search(r"%", "".join(row["text"] for row in table))
    told = {row["kind"] for row in sharing_table(figure(), covered=False).to_pylist()} - kinds
    assert told == {"touch", "sizes", "amounts", "ribbons", "whole", "shares", "inside"}


def test_a_click_names_the_cell_of_the_weight():
    assert [row["cell_tag"] for row in drawn("whole")] == [f"|weights 0,{key}|" for key in range(5)]
    assert [row["cell_tag"] for row in drawn("touch")] == [f"|weights 0,{key}|" for key in range(5)]


def began(style, name, at):
    mark = rf"{re.escape(layer(name))} path:nth-child\({at + 1}\) \{{ --from: (\S+)% (\S+)%; --size: (\S+) (\S+) \}}"
    return [float(found) for found in re.search(mark, style).groups()]


def test_the_film_begins_each_mark_where_it_comes_from():
    one = figure()
    style, sizes, numbers = film_of_sharing(one), drawn("sizes"), drawn("numbers")
    for at, (size, number, part) in enumerate(zip(sizes, numbers, drawn("whole"), strict=True)):
        for name, here, there in (("sizes", size, number), ("whole", part, size)):
            x, y, wide, high = began(style, name, at)
            top, bottom = min(here["y"], here["y2"]), max(here["y"], here["y2"])
            left, width, height = here["x"], here["x2"] - here["x"], bottom - top
            assert left + x / 100 * width == pytest.approx(there["x"], abs=1e-3)
            assert width * wide == pytest.approx(there["x2"] - there["x"], abs=1e-3)
            assert top + y / 100 * height == pytest.approx(min(there["y"], there["y2"]), abs=1e-2)
            assert height * high == pytest.approx(abs(there["y2"] - there["y"]), abs=1e-2)
    assert sizes[0]["y2"] == FLOOR and WHOLE + DEEP > FLOOR


def test_keys_without_any_weight_break_nothing():
    certain = figure(temperature=0.01)
    assert min(portion.share for portion in certain.portions) == 0
    assert "inf" not in film_of_sharing(certain) and "nan" not in film_of_sharing(certain)
    for kind in ("numbers", "sizes", "whole", "ribbons"):
        assert len(drawn(kind, certain)) == len(drawn(kind))


@pytest.mark.parametrize("pixels", [340, 700])
def test_labels_never_lie_on_each_other_and_the_largest_part_has_one(pixels):
    portions = figure(temperature=0.1, example=Example(source="sentence", text=" ".join("abcdefghijkl"))).portions
    shown = with_room(portions, [percent(one.share) for one in portions], pixels)
    assert any(shown) and shown[max(range(len(portions)), key=lambda at: portions[at].share)]


def test_only_the_table_changes_with_temperature_and_a_learners_words_stay_data():
    assert template(sharing_chart) is template(sharing_chart)
    hostile = figure(0, 1.0, Example(source="sentence", text="<script>{{x}} two"))
    assert "<script>" in "".join(row["text"] for row in sharing_table(hostile, covered=False).to_pylist())
    assert "script" not in film_of_sharing(hostile)


def test_on_a_phone_what_a_line_is_stands_clear_of_the_bars_above_it():
    names = sorted(row["y2"] for row in drawn("labels"))  # of letters 14 pixels high, around this line
    assert names[0] + 7 <= ZERO - NUMBER_ROOM
    assert names[1] - 7 >= ZERO + NUMBER_ROOM and names[1] + 7 <= FLOOR - SIZE_ROOM - 10 - 4
