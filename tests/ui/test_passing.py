"""A row read block by block: at every moment lengths and parts are the numbers of that moment."""

import pytest

from attention_ui.figures.cover import covered_table
from attention_ui.figures.shares.passing import (
    EVER,
    NUMBER_ZERO,
    NUMBERS_UP,
    OUTPUT_UP,
    OUTPUT_ZERO,
    SIZE_FLOOR,
    SIZES_UP,
    passing_table,
)
from attention_ui.figures.shares.passing_chart import passing_template
from lessons.example.example import Example, run_example
from lessons.today.cost.lesson import Choices, screen

EXAMPLE = run_example(Example(source="sentence", text="a b c d e f g", d_k=3, d_v=5, causal=False))


def figure(block=3):
    return screen(EXAMPLE, 0, Choices("blocks", query=4, block=block)).figures[0]


def drawn(kind, moment, one=None):
    rows = passing_table(one or figure()).to_pylist()
    return [row for row in rows if row["kind"] == kind and row["moment"] in (moment, EVER)]


@pytest.mark.parametrize("moment", [0, 1, 2])
def test_at_each_moment_the_bars_are_the_numbers_of_the_keys_so_far(moment):
    one, end = figure(), min(3 * moment + 3, 7)
    scores = EXAMPLE.heads.masked[0, 4, :end]
    largest = float(scores.max())
    powers = (scores - largest).exp().tolist()
    domain = one.number_domain
    for bar, score in zip(drawn("numbers", moment), scores.tolist(), strict=True):
        assert (NUMBER_ZERO - bar["y"]) / NUMBERS_UP * domain == pytest.approx(score, abs=1e-4)
    (level,) = drawn("largest", moment)
    assert (NUMBER_ZERO - level["y"]) / NUMBERS_UP * domain == pytest.approx(largest, abs=1e-4)
    for bar, power in zip(drawn("sizes", moment), powers, strict=True):
        assert (SIZE_FLOOR - bar["y"]) / SIZES_UP == pytest.approx(power, abs=1e-5)
    before = 0.0
    for part, power in zip(drawn("whole", moment), powers, strict=True):
        assert part["x"] == pytest.approx(before, abs=1e-4)
        before += 7 * power / sum(powers)
        assert part["x2"] == pytest.approx(before, abs=1e-4)
    output = (scores - largest).exp() @ EXAMPLE.heads.v[0, :end] / sum(powers)
    for bar, value in zip(drawn("output", moment), output.tolist(), strict=True):
        assert (OUTPUT_ZERO - bar["y"]) / OUTPUT_UP * one.output_domain == pytest.approx(value, abs=1e-4)
    assert len(drawn("waiting", moment)) == 7 - end


def test_what_an_answer_would_tell_is_covered():
    kinds = {row["kind"] for row in covered_table(passing_table(figure())).to_pylist()}
    assert kinds == {"names", "titles", "block", "numbers", "values", "waiting"}


def test_a_thing_is_found_again_at_the_next_moment():
    rows = passing_table(figure()).to_pylist()
    for moment in range(3):
        places = [row["place"] for row in rows if row["moment"] in (moment, EVER)]
        assert len(set(places)) == len(places)
    assert passing_template(7, 3) is passing_template(7, 3)


def test_one_block_needs_nothing_to_move_it():
    params = {param["name"]: param for param in passing_template(7, 1)["params"]}
    assert "bind" not in params["moment"] and params["slots"]["value"] == 7 and len(figure(12).moments) == 1
