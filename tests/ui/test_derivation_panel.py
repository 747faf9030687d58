"""The arithmetic of a cell, reached by a click or by the selectors."""

import pytest
from overview_cells import KEYS, matrices_of
from streamlit.testing.v1 import AppTest
from visiting import open_page, texts

from attention_ui.page.derivation import LAST_STEPS
from attention_ui.session import chart, picked_cell
from lessons.example.example import Example, run_example
from lessons.screen import equation, render

WHERE = ("trace_matrix", "trace_row", "trace_column")


def panel(example, head, picked):
    """A page with the panel and nothing else."""
    from attention_ui.page.derivation import derivation_panel
    from lessons.example.example import run_example
    from lessons.start.overview.matrices_view import Choices, screen

    derivation_panel(screen(run_example(example), head, Choices()), picked)


def open_panel(example=None, head=0, picked=None):
    parts = {"example": example or Example(), "head": head, "picked": picked}
    at = AppTest.from_function(panel, default_timeout=30, kwargs=parts)
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    return run(at)


def run(at, **parts):
    at.kwargs = at.kwargs | parts
    at.run()
    assert not at.exception, at.exception
    return at


def choose(at, part, value):
    at.selectbox(key=f"trace_{part}").set_value(value)
    return run(at)


def chosen(at):
    return tuple(at.selectbox(key=key).value for key in WHERE)


def equations(at):
    """The arithmetic on the page, which is the only code in no language."""
    return [code.value for code in at.code if code.language != "python"]


def shows(at, example, head, *cell):
    key, *place = cell
    steps = matrices_of(example, head)[key].derive(*place)
    assert texts(at) == [render(step.meaning) for step in steps]
    assert equations(at) == [equation(step) for step in steps]


@pytest.mark.parametrize("matrix", KEYS)
def test_the_selectors_reach_every_matrix(matrix):
    example = Example(n_heads=2, d_k=3)
    at = open_panel(example, head=1)
    rows, columns = matrices_of(example, 1)[matrix].values.shape
    for part, value in (("matrix", matrix), ("row", rows - 1), ("column", columns - 1)):
        choose(at, part, value)
    assert [len(at.selectbox(key=key).options) for key in WHERE] == [len(KEYS), rows, columns]
    shows(at, example, 1, matrix, rows - 1, columns - 1)


def test_rows_and_columns_are_called_by_their_tokens_or_features():
    at = open_panel(Example(source="sentence", text="no, no `$x$`"), picked=("k_transposed", 0, 1))
    row, column = (at.selectbox(key=key).options for key in WHERE[1:])
    assert row == ["feature 1", "feature 2"]
    assert column[0] == "1 · “no”" and column[2] == "3 · “no”" and len(set(column)) == len(column)
    assert at.selectbox(key="trace_matrix").options == [render(matrix.title) for matrix in matrices_of().values()]


def test_a_closed_panel_is_empty_and_opens_at_a_weight():
    at = open_page()
    assert equations(at) == []
    assert [box.key for box in at.selectbox if box.key in WHERE] == []
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    at.run()
    assert chosen(at) == ("weights", 5, 0)
    assert equations(at) == [equation(step) for step in matrices_of()["weights"].derive(5, 0)]


@pytest.mark.parametrize("opened", [True, False])
def test_a_click_shows_its_cell_and_the_menus_say_which(opened):
    at = open_panel()
    at.session_state["trace_open"] = opened
    run(at, picked=("scores", 3, 1))
    shows(at, Example(), 0, "scores", 3, 1)
    at.session_state["trace_open"] = True
    assert chosen(run(at)) == ("scores", 3, 1)


def test_of_a_long_way_the_end_is_shown_until_all_of_it_is_wanted():
    at = open_panel(picked=("output", 4, 1))
    every = equations(at)
    assert len(every) > LAST_STEPS
    at.toggle(key="trace_all").set_value(False)
    run(at)
    assert equations(at) == every[-LAST_STEPS:]
    assert at.toggle(key="trace_all").label == f"All {len(every)} steps, from the inputs on"


def test_after_a_click_the_selectors_go_their_own_way_until_the_next():
    at = open_panel(picked=("scores", 3, 1))
    choose(at, "row", 5)
    assert chosen(at) == ("scores", 5, 1)
    run(at, picked=("output", 2, 0))
    assert chosen(at) == ("output", 2, 0)
    run(at, picked=None)
    assert chosen(at) == ("output", 2, 0)
    choose(at, "matrix", "x")
    run(at, picked=("output", 2, 0))
    assert chosen(at) == ("output", 2, 0)


def test_a_cell_that_is_gone_gives_way_to_the_nearest():
    at = open_panel(picked=("weights", 5, 4))
    small = Example(source="sentence", text="one two")
    run(at, example=small)
    assert chosen(at) == ("weights", 1, 1)
    shows(at, small, 0, "weights", 1, 1)
    choose(at, "matrix", "q")
    run(at, example=Example(source="sentence", text="one", d_k=1))
    assert chosen(at) == ("q", 0, 0)


def test_the_numbers_follow_the_head_and_the_example():
    at = open_panel(Example(n_heads=2), picked=("output", 4, 1))
    run(at, head=1)
    shows(at, Example(n_heads=2), 1, "output", 4, 1)
    run(at, example=Example(n_heads=2, causal=False, scaling=False, seed=7))
    shows(at, Example(n_heads=2, causal=False, scaling=False, seed=7), 1, "output", 4, 1)


def test_masked_cells_say_so():
    at = open_panel(picked=("weights", 0, 5))
    assert "may not look at" in texts(at)[0]
    assert [line.value for line in at.code] == ["−∞", "e^(−∞ − (−0.8922)) ÷ 1 = 0"]


@pytest.mark.parametrize("text", ["<b>bold</b>", "![x](http://127.0.0.1:9/a.png)", "$x^2$", ":red[no]"])
def test_a_learners_text_never_becomes_markup(text):
    at = open_panel(Example(source="sentence", text=text), picked=("output", 1, 0))
    markup = [element.value for kind in ("markdown", "caption") for element in at.get(kind)]
    assert markup == []
    first = run_example(Example(source="sentence", text=text)).tokens[0]
    assert any(f"“{first}”" in says for says in texts(at))


NO_CELLS = [
    [],
    ["scores", 1],
    ["scores", 1, 2, 3],
    ["scores", -1, 2],
    ["scores", 1, 99999],
    ["scores", True, 1],
    "x",
    None,
    7,
]


@pytest.mark.parametrize("told", NO_CELLS)
def test_what_no_figure_would_report_is_no_cell(told, monkeypatch):
    monkeypatch.setattr(chart, "get_state", {"pipeline_tables": {"picked": told}}.get)
    assert picked_cell("pipeline") is None


def test_a_reported_cell_is_read(monkeypatch):
    monkeypatch.setattr(chart, "get_state", {"pipeline_tables": {"picked": ["k_transposed", 0, 11]}, "no": 5}.get)
    assert picked_cell("pipeline") == ("k_transposed", 0, 11)
    assert picked_cell("another") is None and picked_cell("no") is None


@pytest.mark.parametrize("picked", [("no matrix", 0, 0), ("scores", 9999, 9999)])
def test_an_impossible_pick_is_harmless(picked):
    at = open_panel(picked=picked)
    assert chosen(at)[0] in KEYS
