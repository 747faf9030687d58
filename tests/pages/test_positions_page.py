"""The lesson on order as a visitor uses it."""

import inspect

import pytest
from visiting import answer, cells, chart, in_drawer, open_page, source_shown, texts

from attention_core.measured.permutation import attend_in_both_orders, attend_with_positions, random_permutation
from attention_core.text.positions import similarity_of_rows
from lessons.example.example import Example, run_example
from lessons.model.positions.lesson import Choices, screen
from lessons.screen import format_value, render_all
from lessons.trace.head import head_inputs

VIEWS = ["output", "weights", "rows", "distance"]
KINDS = ["none", "sinusoidal", "learned", "rotary"]
TWELVE = "a b a c d e f g h i j k l"


def open_positions(**query):
    return open_page("model/positions", **query)


def expected(permutation, kind="none", causal=False, view="output", token=0, **example):
    """The screen, its matrices by key, and what there is to notice."""
    made = screen(run_example(Example(**example)), 0, Choices(permutation, view, kind, causal, token))
    matrices = {matrix.key: matrix.values for matrix in getattr(made.figures[0], "matrices", ())}
    return made, matrices, render_all(made.figures[0].notice)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_cold_link_opens_every_view_of_all_kinds(view, kind):
    for example in ({}, {"example": "sentence", "text": "one"}, {"example": "sentence", "text": TWELVE, "d_k": 6}):
        at = open_positions(order_view=view, positions=kind, order_mask="causal", shuffle=3, **example)
        assert at.number_input(key="shuffle").value == 3
        shown = [at.segmented_control(key=key).value for key in ("order_view", "positions", "order_mask")]
        assert shown == [view, kind, "causal"]
        assert chart(at)[2] in (None, *texts(at))


def test_the_figure_holds_the_output_in_both_orders():
    at = open_positions(shuffle=5)
    order = random_permutation(6, 5)
    _, matrices, caption = expected(order)
    tokens = run_example(Example()).tokens
    assert caption in texts(at) and "does not know the order" in caption
    table = cells(at)
    for i in range(6):
        for j in range(2):
            assert table[f"own {i},{j}"]["v"] == pytest.approx(float(matrices["own"][i, j]))
            assert table[f"then {i},{j}"]["v"] == pytest.approx(float(matrices["own"][order[i], j]))
            assert table[f"first {i},{j}"]["v"] == pytest.approx(float(matrices["first"][i, j]))
            assert abs(table[f"gap {i},{j}"]["v"]) < 1e-5
            assert f"|own {order[i]},{j}|" in table[f"first {i},{j}"]["lights"]
            assert f"|then {i},{j}|" in table[f"own {order[i]},{j}"]["lights"]
    named = [row["text"] for row in chart(at)[1]["cells"] if row["kind"] in ("row", "axis")]
    moved = [tokens[old] for old in order]
    assert named == ["queries ↓", *tokens] + 3 * ["queries ↓", *moved]


def test_weights_move_in_rows_and_columns():
    at = open_positions(order_view="weights", order_mask="causal", order="6 5 4 3 2 1")
    _, matrices, caption = expected((5, 4, 3, 2, 1, 0), causal=True, view="weights")
    assert caption in texts(at) and "only the causal mask" in caption
    table = cells(at)
    assert table["then 0,5"]["v"] == pytest.approx(float(matrices["own"][5, 0]))
    assert table["then 5,0"]["kind"] == "masked" and table["first 0,5"]["kind"] == "masked"
    assert "|own 5,0|" in table["first 0,5"]["lights"]


def test_every_control_changes_what_is_shown():
    at = open_positions()
    first = expected(random_permutation(6, 0))[2]
    assert first in texts(at)
    at.button(key="shuffle_again").click().run()
    assert at.number_input(key="shuffle").value == 1
    _, matrices, caption = expected(random_permutation(6, 1))
    assert caption in texts(at)
    assert cells(at)["first 0,0"]["v"] == pytest.approx(float(matrices["first"][0, 0]))
    at.number_input(key="shuffle").set_value(7).run()
    at.segmented_control(key="order_mask").set_value("causal").run()
    assert expected(random_permutation(6, 7), causal=True)[2] in texts(at)
    for kind in KINDS[1:]:
        at.segmented_control(key="positions").set_value(kind).run()
        assert expected(random_permutation(6, 7), kind, True)[2] in texts(at)
    at.text_input(key="order").set_value("2, 1, 3, 4, 5, 6").run()
    assert expected((1, 0, 2, 3, 4, 5), "rotary", True)[2] in texts(at)
    at.button(key="shuffle_again").click().run()
    assert at.text_input(key="order").value == "" and at.number_input(key="shuffle").value == 8
    assert expected(random_permutation(6, 8), "rotary", True)[2] in texts(at)


def test_the_own_order_is_recognised():
    assert any("sentence's own order" in line for line in texts(open_positions(order="1 2 3 4 5 6")))


def test_all_residuals_stand_in_the_table():
    at = open_positions(shuffle=2, positions="learned")
    made, *_ = expected(random_permutation(6, 2), "learned")
    table = made.figures[1]
    rows = at.dataframe[0].value
    assert list(rows.columns) == ["positions", "no mask", "causal mask"]
    assert rows.values.tolist() == [[format_value(cell) for cell in row] for row in table.cells]
    assert any(render_all(table.notice) in line for line in texts(at))
    assert len(open_positions(d_k=3).dataframe[0].value) == 3


@pytest.mark.parametrize("text", ["1 2 3", "6 5 4 3 2 2", "0 1 2 3 4 5", "<b>1</b>", "a" * 500, "1;2", "٣"])
def test_a_bad_order_is_said_and_stays_to_be_mended(text):
    at = open_positions(order=text)
    assert any(line.startswith("This order cannot be used: ") for line in texts(at))
    assert expected(random_permutation(6, 0))[2] in texts(at)
    at = open_positions()
    at.text_input(key="order").set_value(text[:60]).run()
    assert not at.exception and at.text_input(key="order").value == text[:60]
    assert any(line.startswith("This order cannot be used: ") for line in texts(at))


def test_rotary_positions_need_an_even_d_k_and_say_so():
    at = open_positions(d_k=3, positions="rotary")
    assert any("d_k must be even, but it is 3" in line for line in texts(at))
    assert expected(random_permutation(6, 0), d_k=3)[2] in texts(at)
    at.slider(key="d_k").set_value(4).run()
    assert at.segmented_control(key="positions").value == "rotary"
    assert not any("must be even" in line for line in texts(at))


def test_what_is_added_adds_up():
    at = open_positions(order_view="rows", positions="learned", seed=9)
    table = cells(at)
    for i in range(6):
        for j in range(3):
            total = table[f"x {i},{j}"]["v"] + table[f"p {i},{j}"]["v"]
            assert table[f"sum {i},{j}"]["v"] == pytest.approx(total, abs=1e-6)
    at.segmented_control(key="positions").set_value("rotary").run()
    inputs = head_inputs(run_example(Example(seed=9)), 0)
    q = attend_with_positions(**inputs, kind="rotary", seed=9).head.q
    assert cells(at)["q_turned 3,1"]["v"] == pytest.approx(float(q[3, 1]), abs=1e-6)
    assert cells(at)["angle 4,0"]["v"] == 4
    at.segmented_control(key="positions").set_value("none").run()
    assert {key.split()[0] for key in cells(at)} == {"x"}


def test_the_curve_is_likeness_over_distance():
    at = open_positions(order_view="distance", positions="sinusoidal", example="sentence", d_model=8)
    similarity = similarity_of_rows("sinusoidal", 8, 42)
    rows = chart(at)[1]["curves"]
    assert [row["x"] for row in rows] == list(range(-32, 33))
    for column, name in (("y", "mean"), ("low", "least"), ("high", "most")):
        assert [row[column] for row in rows] == pytest.approx(list(getattr(similarity, name)), abs=1e-6)
    *_, caption = expected((0,), "sinusoidal", view="distance", source="sentence", text="one", d_model=8)
    assert caption in texts(at)


def test_the_query_and_key_of_the_chosen_token_are_compared():
    at = open_positions(order_view="distance", positions="rotary", asks=3)
    *_, caption = expected(random_permutation(6, 0), "rotary", view="distance", token=2)
    assert caption in texts(at)


def test_the_code_that_ran_is_shown():
    shown = source_shown(open_positions())
    for function in (attend_in_both_orders, attend_with_positions):
        assert inspect.getsource(inspect.unwrap(function)).rstrip() in shown


def test_a_question_is_answered_and_a_class_can_hide_it():
    at = open_positions()
    answer(at, "positions", "A")
    assert any(line.startswith(("Yes.", "Not right.")) for line in texts(at))
    at = open_positions(hide="predict,code,trace")
    assert not [button for button in at.button if button.label == "Another question"]
    assert in_drawer(at) == ["Numbers and pictures"] and "The code that ran" in in_drawer(open_positions())


def test_the_lessons_before_and_after_are_one_press_away():
    labels = [button.label for button in open_positions().button]
    assert "← Heads" in labels and "Generate →" in labels
