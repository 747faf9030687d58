"""Numbers changed by hand, as a visitor does it: by link, by the field, by the tables, and back again."""

import math

import pytest
from visiting import cells, chart, open_page, texts

from attention_ui.controls import editing
from lessons.example.edits import Edit, edits_code
from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from lessons.screen import render, render_all
from lessons.shared.edit_notices import edit_remarks, tensors_of
from tests.printed import readings
from tests.rounding import SUMS, assert_close_for_size

LESSONS = ["tokens", "dot_product", "projections", "scores", "mask", "softmax", "output"]
TWO = (Edit("W_q", 0, 1, 0.5), Edit("x", 2, 0, -1.0))
LINK = "q1,2=0.5;x3,1=-1"


def table(at):
    return chart(at)[1]["cells"]


def shown(at, key, shape):
    """The numbers of one matrix as they stand in the figure."""
    by_tag = {row["cell_tag"]: row["v"] for row in table(at) if row["cell_tag"]}
    return [[by_tag[f"|{key} {i},{j}|"] for j in range(shape[1])] for i in range(shape[0])]


def marked(at):
    """The cells that carry a mark."""
    return {row["cell_tag"].strip("|") for row in table(at) if row["cell_tag"] and row["marked"]}


def expected_marks(edits, keys, **choices):
    now, then = (tensors_of(run_example(Example(edits=e, **choices)), 0) for e in (edits, ()))
    for tensors in (now, then):
        tensors |= {"k_transposed": tensors["k"].mT, "xx": tensors["x"] @ tensors["x"].mT}
    marks = {key: now[key] != then[key] for key in now}
    return {f"{key} {i},{j}" for key in keys for i, j in marks[key].nonzero().tolist()}


def cancelled(edits, **choices):
    """The cells of the output in which what has changed in V cancels: there the last binary place decides."""
    now, then = (tensors_of(run_example(Example(edits=e, **choices)), 0) for e in (edits, ()))
    weights, moved = now["weights"].double(), (now["v"] - then["v"]).double()
    left = (weights @ moved).abs() < SUMS * (weights @ moved.abs())
    return {f"output {i},{j}" for i, j in left.nonzero().tolist()}


def reset_line(at):
    return [text.value for text in at.sidebar.text if text.value.endswith("changed by hand")]


def button(at, label):
    return next(b for b in at.button if b.label == label)


# By link


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_computes_with_the_changed_numbers_and_offers_the_way_back(lesson):
    at = open_page(f"one_head/{lesson}", edits=LINK)
    assert reset_line(at) == ["2 numbers changed by hand"]
    before = chart(at)[1]
    at.button(key="edits_reset").click().run()
    assert not at.exception and reset_line(at) == []
    assert at.text_input(key="edits").value == ""
    assert lesson == "scores" or chart(at)[1] != before


def test_the_overview_shows_what_follows_and_marks_it():
    at = open_page(edits=LINK)
    trace = run_example(Example(edits=TWO))
    for key in ("q", "k", "v", "scores", "output"):
        tensor = getattr(trace.heads, key)[0]
        assert_close_for_size(shown(at, key, tensor.shape), tensor, trace.heads.scaled[0] if key == "output" else 0.0)
    keys = ("x", "q", "k", "v", "k_transposed", "scores", "scaled", "masked", "weights", "output")
    assert marked(at) == expected_marks(TWO, keys)
    assert render_all(edit_remarks(trace, 0)) in texts(at)
    was = run_example(Example()).heads.scores[0, 4, 2]
    assert cells(at)["scores 4,2"]["say"].endswith(tuple(f" Changed: it was {text}." for text in readings(was)))


def test_without_changes_there_is_neither_mark_nor_sentence():
    at = open_page()
    assert marked(at) == set() and reset_line(at) == []
    assert not any("hanged" in line for line in texts(at))


@pytest.mark.parametrize("role", ["q", "k", "v"])
def test_projections_mark_what_follows(role):
    at = open_page("one_head/projections", edits=LINK, role=role)
    assert marked(at) == expected_marks(TWO, ("x", f"W_{role}", role))


def test_the_mirror_marks_both_maps():
    at = open_page("one_head/projections", edits="q1,2=0.5", role="mirror")
    assert marked(at) == expected_marks(TWO[:1], ("xx", "scores"))
    at = open_page("one_head/projections", edits="x3,1=-1", role="mirror")
    assert {f"xx 2,{j}" for j in range(6)} | {f"xx {i},2" for i in range(6)} <= marked(at)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("q1,2=nan", "“nan” is not a number from −1000 to 1000"),
        ("q1,2=inf", "“inf” is not a number"),
        ("q1,2=1e308", "1e+308 is too large: numbers go from −1000 to 1000"),
        ("q1,2=", "the cell is empty"),
        ("q1,2=<b>x</b>", "“<b>x</b>” is not a number"),
        ("nonsense", "write it like q1,2=0.5"),
        ("v9,9=1", "W_v is 3×2 now, and 1 number changed by hand lies outside it."),
        ("q1,1=1;" * 900, "6,300 characters"),
    ],
)
def test_a_hostile_link_says_what_is_wrong_and_changes_nothing(code, sentence):
    at = open_page(edits=code)
    assert any(sentence in line for line in texts(at))
    assert marked(at) == set()
    assert at.text_input(key="edits").value == code, "nothing the learner wrote is lost"
    assert not [m.value for m in at.markdown if "<b>" in m.value]


def test_a_change_waits_while_the_matrix_is_too_small():
    at = open_page("one_head/projections", edits="q1,5=2", d_k=5)
    assert "W_q 0,4" in marked(at)
    at.slider(key="d_k").set_value(2).run()
    assert marked(at) == set() and any("lies outside it" in line for line in texts(at))
    at.slider(key="d_k").set_value(5).run()
    assert "W_q 0,4" in marked(at)


def test_changes_go_along_to_another_example_and_seed():
    at = open_page(edits="v1,1=7")
    for key in PRESETS:
        at.selectbox(key="example").set_value(key).run()
        assert not at.exception and reset_line(at) == ["1 number changed by hand"]
        keys, edits = ("x", "q", "k", "v", "scores", "output"), (Edit("W_v", 0, 0, 7.0),)
        assert marked(at) ^ expected_marks(edits, keys, source=key) <= cancelled(edits, source=key)


@pytest.mark.parametrize("kind", ["normal", "small", "linear"])
def test_the_formula_and_the_shapes_follow_every_kind_of_weights(kind):
    label = {"normal": "standard normal", "small": "0.1 × normal", "linear": "PyTorch's Linear default"}[kind]
    at = open_page("one_head/projections", init=label, d_k=5, d_v=3, role="v")
    assert at.selectbox(key="init").value == kind
    trace = run_example(Example(weight_kind=kind, d_k=5, d_v=3))
    assert shown(at, "W_v", (3, 3)) == [pytest.approx(row, rel=1e-6) for row in trace.W_v.tolist()]
    assert shown(at, "v", (6, 3)) == [pytest.approx(row, abs=1e-6) for row in trace.heads.v[0].tolist()]
    assert r"(6\times3)\cdot(3\times5) = (6\times5)" in at.latex[0].value
    assert r"(6\times3)\cdot(3\times3) = (6\times3)" in at.latex[0].value
    assert {row["text"] for row in table(at) if "×" in row["text"]} == {"6×3", "3×3"}


# By the field and the buttons


def test_undo_and_reset_of_one_matrix_and_of_all():
    at = open_page("one_head/projections", edits=LINK)
    at.session_state["editing_open"] = True
    at.run()
    button(at, "Reset W_q").click().run()
    assert at.text_input(key="edits").value == "x3,1=-1"
    assert button(at, "Reset W_q").disabled
    button(at, "Reset all").click().run()
    assert at.text_input(key="edits").value == "" and marked(at) == set()
    button(at, "Undo").click().run()
    assert at.text_input(key="edits").value == "x3,1=-1"
    button(at, "Undo").click().run()
    assert at.text_input(key="edits").value == LINK
    assert button(at, "Undo").disabled and not at.exception


@pytest.mark.parametrize("role", ["q", "k", "v", "mirror"])
@pytest.mark.parametrize("preset", ["journey", "mat"])
def test_the_tables_open_for_every_view(role, preset):
    at = open_page("one_head/projections", role=role, example=preset)
    at.session_state["editing_open"] = True
    at.run()
    assert not at.exception
    headings = [line for line in texts(at) if "rows are" in line]
    titles = {"mirror": ["W_q", "W_k", "X"]}.get(role, [f"W_{role}", "X"])
    assert [line.split(":")[0] for line in headings] == titles


def test_a_class_need_not_see_the_tables():
    at = open_page("one_head/projections", hide="edit")
    assert "Change numbers by hand" not in [panel.label for panel in at.expander]


def test_a_learners_token_is_data_in_the_table_and_never_markup():
    at = open_page("one_head/projections", example="sentence", text="<b>bold</b> :red[no] <b>bold</b>")
    at.session_state["editing_open"] = True
    at.run()
    assert not at.exception
    assert not any("bold" in element.value for kind in ("markdown", "caption", "latex") for element in at.get(kind))


# By the tables: what is called when something was typed


@pytest.fixture
def kept(monkeypatch):
    """What one visitor has, without a page."""
    store = {}
    monkeypatch.setattr(editing, "get_state", store.get)
    monkeypatch.setattr(editing, "set_state", store.__setitem__)
    return store


def type_into(store, trace, matrix, rows, head=0):
    store["table"] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    editing.take_typed(trace, head, matrix, "table")


def test_a_typed_number_becomes_part_of_the_link_and_the_table_stays(kept):
    type_into(kept, run_example(Example()), "W_q", {0: {"2": 0.5}})
    assert kept["edits"] == "q1,2=0.5" and kept["edits_refused"] == ()
    first = editing.generation()
    type_into(kept, run_example(Example(edits=TWO[:1])), "x", {2: {"1": -1}})
    assert kept["edits"] == LINK
    assert editing.generation() == first, "the table is not drawn anew under the learner's hands"
    editing.change_to(())
    assert editing.generation() == first + 1, "after a reset the table forgets what was typed"
    editing.undo()
    assert kept["edits"] == LINK and editing.generation() == first + 2


def test_columns_of_another_head_are_those_of_all_heads_side_by_side(kept):
    trace = run_example(Example(n_heads=3, d_k=5, d_v=2))
    type_into(kept, trace, "W_k", {1: {"4": 0.25}}, head=2)
    assert kept["edits"] == edits_code((Edit("W_k", 1, 13, 0.25),))
    type_into(kept, trace, "W_v", {1: {"1": 0.25}}, head=1)
    assert kept["edits"] == edits_code((Edit("W_v", 1, 2, 0.25),))


@pytest.mark.parametrize("value", [None, "", "text", math.nan, math.inf, 1e308, -1000.5, True, [1]])
def test_a_hostile_cell_is_refused_and_the_table_is_drawn_anew_with_the_old_number(kept, value):
    kept["edits"] = "q1,2=0.5"
    count = editing.generation()
    type_into(kept, run_example(Example(edits=TWO[:1])), "W_q", {0: {"2": value}})
    assert kept["edits"] == "q1,2=0.5"
    assert len(kept["edits_refused"]) == 1 and render(kept["edits_refused"][0]).endswith("The old number stays.")
    assert editing.generation() == count + 1


@pytest.mark.parametrize("state", [None, {}, "text", {"edited_rows": {}}, {"edited_rows": {0: {"name": 1.0}}}])
def test_a_state_without_numbers_changes_nothing(kept, state):
    kept["table"] = state
    editing.take_typed(run_example(Example()), 0, "W_q", "table")
    assert "edits" not in kept and kept["edits_refused"] == ()


def test_a_row_of_a_repeated_word_changes_everywhere_so_the_table_is_drawn_anew(kept):
    trace = run_example(Example(source="sentence", text="the cat the dog"))
    count = editing.generation()
    type_into(kept, trace, "x", {2: {"1": 3.0}})
    assert kept["edits"] == "x1,1=3"
    assert editing.generation() == count + 1
