"""Numbers changed by hand, as a visitor does it: by link, by the field, in the figures, and back again."""

import math

import pytest
from visiting import cells, chart, given_to, open_page, texts

from attention_ui.controls import editing
from attention_ui.session import ASKED
from lessons.example.edits import MOST_EDITS, Edit, edits_code
from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from lessons.screen import render, render_all
from lessons.shared.edit_notices import edit_remarks, tensors_of
from lessons.shared.own_numbers import changeable_numbers
from tests.printed import readings
from tests.rounding import SUMS, assert_close_for_size

LESSONS = ["tokens", "dot_product", "projections", "scores", "mask", "softmax", "output"]
TWO = (Edit("W_q", 0, 1, 0.5), Edit("x", 2, 0, -1.0))
LINK = "q1,2=0.5;x3,1=-1"
FOLD = "Change numbers by hand"


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
    return [text.value for text in at.text if text.value.endswith("changed by hand")]


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


def test_undo_and_reset():
    at = open_page("one_head/projections", edits=LINK)
    button(at, "Reset").click().run()
    assert at.text_input(key="edits").value == "" and marked(at) == set()
    assert reset_line(at) == [] and button(at, "Reset").disabled
    button(at, "Undo").click().run()
    assert at.text_input(key="edits").value == LINK and marked(at)
    assert button(at, "Undo").disabled and not at.exception


# In the figures


def by_hand_in(at, name="Projections"):
    """Whether a hand may change numbers of a figure, and in which of its matrices."""
    (figure,) = (figure for figure in given_to(at, "figures") if figure["name"] == name)
    return figure.get("by_hand", False), [matrix["key"] for matrix in figure["matrices"] if matrix["hand"]]


@pytest.mark.parametrize("role", ["q", "k", "v"])
def test_numbers_that_are_given_can_be_changed_where_they_stand(role):
    at = open_page("one_head/projections", role=role)
    assert by_hand_in(at) == (True, ["x", f"W_{role}"])
    assert f"Numbers of X and W_{role} can be dragged" in given_to(at, "figures")[0]["hint_by_hand"]
    assert not [fold for fold in at.expander if fold.label == FOLD]


@pytest.mark.parametrize("page", ["projections", "scores", "mask", "softmax", "output"])
def test_where_none_stands_in_the_figure_a_fold_has_all_of_them(page):
    at = open_page(f"one_head/{page}", **{"role": "mirror"} if page == "projections" else {})
    assert [fold.label for fold in at.expander if fold.label == FOLD] == [FOLD]
    at.session_state["editing_open"] = True
    at.run()
    assert by_hand_in(at, "Numbers that can be changed") == (True, ["x", "W_q", "W_k", "W_v"])
    assert not at.exception


def test_a_class_need_not_change_numbers():
    at = open_page("one_head/projections", hide="edit")
    assert by_hand_in(at)[0] is False
    at = open_page("one_head/scores", hide="edit")
    assert FOLD not in [panel.label for panel in at.expander]


@pytest.mark.parametrize("page", ["model/heads", "code/pytorch"])
def test_a_lesson_with_sizes_of_its_own_offers_no_numbers_that_would_not_count(page):
    at = open_page(page, edits=LINK)
    assert reset_line(at) == [] and FOLD not in [panel.label for panel in at.expander]


def test_a_learners_token_is_data_in_the_figure_and_never_markup():
    at = open_page("one_head/scores", example="sentence", text="<b>bold</b> :red[no] <b>bold</b>")
    at.session_state["editing_open"] = True
    at.run()
    assert not at.exception
    assert not any("bold" in element.value for kind in ("markdown", "caption", "latex") for element in at.get(kind))


# What is called when a hand changed a number


@pytest.fixture
def kept(monkeypatch):
    """What one visitor has, without a page."""
    store = {}
    monkeypatch.setattr(editing, "get_state", store.get)
    monkeypatch.setattr(editing, "set_state", store.__setitem__)
    return store


def change(store, trace, cell, value, *, head=0, done=True, asked=7):
    figure = changeable_numbers(trace, head)
    said = {"cell": [*cell], "value": value, "done": done, "asked": asked}
    store |= {"row_ids": trace.row_ids, "changeable_tables": {"by_hand": said}}
    editing.take_by_hand(figure)


def test_a_number_becomes_part_of_the_link_when_it_is_let_go(kept):
    trace = run_example(Example())
    change(kept, trace, ("W_q", 0, 1), 0.25, done=False)
    assert kept[ASKED] == (Edit("W_q", 0, 1, 0.25),) and "edits" not in kept, "one computes with it, and keeps nothing"
    change(kept, trace, ("W_q", 0, 1), 0.5, asked=8)
    assert kept["edits"] == "q1,2=0.5" and kept["edits_before"] == ("",) and kept["changeable_heard"] == 8
    change(kept, run_example(Example(edits=TWO[:1])), ("x", 2, 0), -1)
    assert kept["edits"] == LINK
    editing.undo()
    assert kept["edits"] == "q1,2=0.5", "one step for each number that was let go"
    editing.undo()
    assert kept["edits"] == "" and kept["edits_before"] == ()


def test_a_hand_that_gives_its_number_back_changes_nothing(kept):
    kept["edits"] = "q1,2=0.5"
    change(kept, run_example(Example(edits=TWO[:1])), ("W_q", 0, 1), None)
    assert kept["edits"] == "q1,2=0.5" and "edits_before" not in kept and ASKED not in kept


def test_columns_of_another_head_are_those_of_all_heads_side_by_side(kept):
    trace = run_example(Example(n_heads=3, d_k=5, d_v=2))
    change(kept, trace, ("W_k", 1, 3), 0.25, head=2)
    assert kept["edits"] == edits_code((Edit("W_k", 1, 13, 0.25),))
    kept["edits"] = ""
    change(kept, trace, ("W_v", 1, 0), 0.25, head=1)
    assert kept["edits"] == edits_code((Edit("W_v", 1, 2, 0.25),))


def test_a_number_that_several_tokens_share_counts_once(kept):
    trace = run_example(Example(source="sentence", text="the cat the dog"))
    change(kept, trace, ("x", 2, 0), 3.0)
    change(kept, trace, ("x", 0, 0), 4.0)
    assert kept["edits"] == "x1,1=4"


@pytest.mark.parametrize("value", ["", "text", math.nan, math.inf, 1e308, -1000.5, "<b>1</b>"])
def test_a_number_that_cannot_be_is_refused_and_the_old_one_stays(kept, value):
    kept["edits"] = "q1,2=0.5"
    change(kept, run_example(Example(edits=TWO[:1])), ("W_q", 0, 1), value)
    assert kept["edits"] == "q1,2=0.5" and "edits_before" not in kept
    assert render(kept["edits_refused"]).startswith("This number stays as it was: ")


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        "text",
        {},
        {"cell": ["x", 0, 0], "value": 1.0, "done": True},
        {"cell": ["x", -1, 0], "value": 1.0, "done": True, "asked": 1},
        {"cell": ["x", 0], "value": 1.0, "done": True, "asked": 1},
        {"cell": ["x", 0, 1.5], "value": 1.0, "done": True, "asked": 1},
        {"cell": ["x", 0, 0], "value": [1.0], "done": True, "asked": 1},
        {"cell": ["x", 0, 0], "value": 1.0, "done": "yes", "asked": 1},
        {"cell": ["x", 999, 0], "value": 1.0, "done": True, "asked": 1},
        {"cell": ["q", 0, 0], "value": 1.0, "done": True, "asked": 1},
        {"cell": ["nothing", 0, 0], "value": 1.0, "done": True, "asked": 1},
    ],
)
def test_a_browser_that_says_something_else_changes_nothing(kept, said):
    kept["changeable_tables"] = {"by_hand": said}
    editing.take_by_hand(changeable_numbers(run_example(Example()), 0))
    assert not kept.get("edits") and not kept.get(ASKED)


def test_more_numbers_than_a_link_carries_are_refused(kept):
    trace = run_example(Example(d_model=12, d_k=8))
    kept["edits"] = edits_code(tuple(Edit("W_q", place // 8, place % 8, 1.0) for place in range(MOST_EDITS)))
    change(kept, trace, ("W_v", 0, 0), 1.0)
    assert "reset some first" in render(kept["edits_refused"]) and "v1,1" not in kept["edits"]
