"""The page on which a head is built: numbers are set, the link holds them, and what is solved is kept."""

import pytest
from test_progress import go_to, handed
from visiting import captions, chart, open_page, texts

from attention_core.puzzles import PUZZLES
from attention_ui.practice.build_view import CHANGES_TO_HINT
from lessons.one_head.puzzle.levels import LEVELS
from lessons.one_head.puzzle.numbers import write_numbers

PAGE = "one_head/puzzle"


def set_number(at, level, matrix, row, column, value):
    at.number_input(key=f"set_{level}_{matrix}_{row}_{column}").set_value(value).run()
    assert not at.exception, at.exception


def link(at, name="built"):
    said = at.query_params.get(name, "")
    return said if isinstance(said, str) else said[-1]


def metrics(at):
    return [metric.value for metric in at.metric]


def test_three_numbers_solve_the_first_level_and_the_browser_is_told():
    at = open_page(PAGE)
    assert metrics(at) == ["17%", "20%", "95%"] and link(at) == "" and handed(at)["levels"] == []
    for matrix, row in (("W_q", 0), ("W_q", 1), ("W_k", 0)):
        set_number(at, "first", matrix, row, 0, 3.0)
    assert metrics(at) == ["over 99%", "over 99%", "95%"] and link(at) == "q1,1=3;q2,1=3;k1,1=3"
    assert chart(at)[1]["cells"] and handed(at)["levels"] == ["first"]
    assert "Solved, 1 of 10: First token" in captions(at), "at once"
    assert "✓ First token" in at.segmented_control(key="level").options
    at.button(key="build_reset").click().run()
    assert link(at) == "" and metrics(at)[1] == "20%" and handed(at)["levels"] == ["first"], "it stays solved"


@pytest.mark.parametrize("level", LEVELS)
def test_a_link_opens_a_level_with_its_numbers(level):
    code = write_numbers(PUZZLES[level], PUZZLES[level].solution)
    at = open_page(PAGE, level=level, built=code)
    assert link(at) == code and handed(at)["levels"] == [level]


def test_each_level_keeps_its_numbers_and_so_does_the_visit():
    at = open_page(PAGE, built="q1,1=2")
    at.segmented_control(key="level").set_value("back").run()
    assert link(at) == ""
    set_number(at, "back", "W_k", 1, 1, 4.0)
    go_to(at, "one_head/mask")
    go_to(at, PAGE)
    assert link(at) == "k2,2=4"
    at.segmented_control(key="level").set_value("first").run()
    assert link(at) == "q1,1=2" and at.number_input(key="set_first_W_q_0_0").value == 2.0


def test_a_number_set_before_the_link_has_followed_keeps_the_one_before_it():
    at = open_page(PAGE)
    set_number(at, "first", "W_q", 0, 0, 3.0)
    del at.query_params["built"]  # as the browser still sends it
    set_number(at, "first", "W_k", 0, 0, 2.0)
    assert link(at) == "q1,1=3;k1,1=2"
    at.query_params["built"] = "q1,1=3"  # the first has come, and something else is sent before the second
    at.run()
    assert link(at) == "q1,1=3;k1,1=2"
    at.query_params["built"] = "q1,1=5"
    assert link(at.run()) == "q1,1=5", "a link that is new is followed"


def test_what_a_link_says_in_vain_is_told():
    at = open_page(PAGE, built="q1,1=50;q7,1=1;![x](http://127.0.0.1:9/a)")
    said = " ".join(texts(at))
    assert "do not fit this level" in said or "does not fit this level" in said
    assert "was left out of the numbers changed by hand" in said and "Numbers go from −9 to 9 here" in said
    assert not any("127.0.0.1" in element.value for element in at.markdown)


def test_a_hint_comes_after_some_changes_and_the_worst_sentence_can_be_seen():
    at = open_page(PAGE)
    for left in range(CHANGES_TO_HINT, 0, -1):
        assert f"after {left} more change{'' if left == 1 else 's'}" in captions(at)
        set_number(at, "first", "W_q", 0, 0, float(left))
    assert not any(text.startswith("after") for text in captions(at))
    at.button(key="build_worst").click().run()
    assert link(at, "on") == "1"


def test_a_trained_head_stands_beside_ones_own():
    at = open_page(PAGE, level="back", compared="trained")
    assert any(text.startswith("Trained for 200 training steps on 128 other sentences") for text in texts(at))
    at = open_page(PAGE, level="back", compared="ours")
    assert not any("nonzero numbers" in text for text in texts(at)), "not before some tries"


@pytest.mark.parametrize(("sent", "becomes"), [(None, ""), (1.239, "q1,1=1.24")])
def test_an_empty_field_is_a_zero_and_numbers_have_two_decimals(sent, becomes):
    at = open_page(PAGE, built="q1,1=2")
    at.number_input(key="set_first_W_q_0_0").set_value(sent).run()
    assert not at.exception and link(at) == becomes
