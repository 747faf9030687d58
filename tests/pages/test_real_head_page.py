"""The lesson on projections shows a head of many features whole, and only such a head."""

import pytest
from visiting import charts, open_page

from attention_ui.page import drawing
from lessons.example.example import Example, run_example
from lessons.one_head.projections.lesson import Choices, screen
from tests.printed import readings, with_decimals

PAGE = "one_head/projections"
VIEWS = ["q", "k", "v", "mirror"]


def shown(at):
    """The tables of all charts, by their names."""
    return {name: rows for _, tables, _ in charts(at) for name, rows in tables.items()}


def views(at):
    return len(at.segmented_control(key="role").proto.options)


def test_a_real_head_is_offered_also_beside_a_small_one():
    assert views(open_page(PAGE, example="language")) == 5
    small = open_page(PAGE, role="head")
    assert views(small) == 5 and small.segmented_control(key="role").value == "head"


def test_query_and_key_are_chosen_without_a_mouse_and_the_key_with_the_largest_weight_comes_first():
    at = open_page(PAGE, example="language", role="head")
    assert (at.selectbox(key="asks").value, at.selectbox(key="meets").value) == (8, 2)
    at.selectbox(key="meets").set_value(6).run()
    assert [row["i"] for row in shown(at)["keys"] if row["chosen"]] == [5]
    at.selectbox(key="asks").set_value(4).run()
    assert len(at.selectbox(key="meets").options) == 4 and len(shown(at)["keys"]) == 4
    assert not at.exception


def test_turned_or_as_stored_is_the_switch_beside_the_example():
    turned, stored = (
        shown(open_page(PAGE, example="language", role="head", turned=said)) for said in ("true", "false")
    )
    scores = run_example(Example(source="language", text="", layer=14)).heads.scores[8, 7, :8].tolist()
    for score, one, other in zip(scores, turned["scores"], stored["scores"], strict=True):
        assert {one["said"], other["said"]} <= readings(score, with_decimals(2))
        assert one | {"said": ""} == other | {"said": ""}
    assert [row["name"] for row in turned["columns"]] != [row["name"] for row in stored["columns"]]


def test_the_others_unfold():
    at = open_page(PAGE, example="language", role="head")
    assert not at.dataframe
    at.session_state["rest_table"] = True
    at.run()
    assert not at.exception


@pytest.mark.parametrize(("picked", "chosen"), [(5, 6), (0, 1), (8, None), (-1, None), ("1", None), (1e300, None)])
def test_a_click_chooses_a_key_if_it_is_one(picked, chosen, monkeypatch):
    trace = run_example(Example(source="language", text="", layer=14))
    pairs = screen(trace, 8, Choices("head", 7, 1)).figures[1]
    kept = {}
    monkeypatch.setattr(drawing, "get_state", lambda key: {"selection": {"pick": [{"i": picked}]}})
    monkeypatch.setattr(drawing, "set_state", kept.__setitem__)
    drawing.choose_key("by_feature_figure_chart", pairs)
    assert kept == ({} if chosen is None else {"meets": chosen})
