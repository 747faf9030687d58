"""The lesson on learning from a mistake as a visitor uses it."""

import inspect

import pytest
from visiting import answer, cells, chart, open_page, source_shown, texts, visitor

from attention_core.learning.backward import attend_backward, softmax_backward
from attention_core.learning.finite_differences import central_differences, losses_at
from attention_core.learning.steps import gradient_of
from lessons.example.example import Example, run_example
from lessons.learning.backward.check_view import find_in_three_ways
from lessons.learning.backward.lesson import Choices, screen
from lessons.learning.backward.softmax_view import resize_scores, softmax_and_back
from lessons.learning.backward.sums_view import sum_over_queries
from lessons.learning.backward.update_view import take_steps
from lessons.learning.backward.way_back import go_back
from lessons.screen import Curves, Matrices, format_value, render, render_all
from lessons.trace.lines import digits
from tests.printed import readings

VIEWS = {
    "way": ({"back_to": "weights"}, {"stage": "weights"}),
    "softmax": ({"score_size": "8"}, {"size": 8}),
    "sums": ({"back_value": 3}, {"key": 2}),
    "update": ({"back_rate": "0.3"}, {"rate": 0.3}),
    "check": ({"checked": "W_k"}, {"matrix": "W_k"}),
}
SOURCES = {
    "way": (go_back, attend_backward, softmax_backward),
    "softmax": (resize_scores, softmax_and_back, softmax_backward),
    "sums": (sum_over_queries, go_back, attend_backward),
    "update": (take_steps, gradient_of, losses_at),
    "check": (find_in_three_ways, central_differences, losses_at),
}


def open_backward(**query):
    return open_page("learning/backward", **query)


def expected(example=Example(), **choices):  # noqa: B008
    return screen(run_example(example), 0, Choices(**choices))


@pytest.mark.parametrize("view", VIEWS)
def test_a_cold_link_opens_every_view_with_its_choice(view):
    asked, chosen = VIEWS[view]
    at = open_backward(back_view=view, updates=60, back_sentence=5, seed=7, causal="false", **asked)
    made = expected(Example(seed=7, causal=False), updates=60, sentence=5, view=view, **chosen)
    drawn = [figure for figure in made.figures if isinstance(figure, Matrices | Curves)]
    for index, figure in enumerate(drawn):
        assert chart(at, index)[0]["name of the figure"] == render(figure.name)
        assert chart(at, index)[2] in (None, render_all(figure.notice))
    said = " ".join(texts(at))
    assert all(render(sentence) in said for figure in made.figures for sentence in figure.notice)


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_of_a_view_is_what_ran(view):
    first, *others = (inspect.getsource(inspect.unwrap(function)).rstrip() for function in SOURCES[view])
    shown = source_shown(open_backward(back_view=view))
    assert shown.startswith(first) and all(source in shown for source in others)


def test_the_numbers_drawn_are_those_of_the_lesson():
    at = open_backward(back_to="X")
    table, (figure,) = cells(at), expected(stage="x").figures
    for matrix in figure.matrices:
        for i in (0, 6):
            row, value = table[f"{matrix.key} {i},1"], float(matrix.values[i][1])
            assert row["v"] is None if row["kind"] == "masked" else row["v"] == pytest.approx(value)


def test_the_stages_are_walked_and_what_is_not_reached_is_a_frame():
    at = open_backward()
    assert [row["kind"] for row in chart(at)[1]["cells"]].count("ghost") == 0
    at.button(key="back_to_Next").click().run()
    assert at.segmented_control(key="back_to").value == "output"
    assert {key.split()[0] for key in cells(at) if key.startswith("d_")} == {"d_output"}
    at.button(key="back_to_Next").click().run()
    assert {key.split()[0] for key in cells(at) if key.startswith("d_")} == {"d_output", "d_weights"}


def test_a_gradient_is_followed_with_numbers():
    at = open_backward(back_to="scores")
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    at.run()
    for part, value in (("matrix", "d_scores"), ("row", 6), ("column", 2)):
        at.selectbox(key=f"trace_{part}").set_value(value)
        at.run()
    lines = [code.value for code in at.code if code.language != "python"]
    (figure,) = expected(stage="scores").figures
    matrix = next(matrix for matrix in figure.matrices if matrix.key == "d_scores")
    assert len(lines) == len(matrix.derive(6, 2)) > 10
    assert lines[-1].rpartition("≈ ")[2] in readings(matrix.values[6][2], digits)


def test_the_sidebar_offers_what_acts_here_and_nothing_else():
    at = open_backward()
    assert {toggle.key for toggle in at.sidebar.toggle} == {"large", "cover", "causal", "scaling"}
    assert [number.key for number in at.sidebar.number_input] == ["seed"]
    assert not at.sidebar.selectbox and not at.sidebar.slider
    assert "This page has its own sentences." in [caption.value for caption in at.sidebar.caption]
    before = chart(at)[1]
    at.number_input(key="seed").set_value(3).run()
    assert chart(at)[1] != before
    assert "from seed 3" in str(chart(at)[1]["cells"])


def test_the_scaling_is_that_of_the_sidebar():
    formulas = [open_backward(back_to="scores", scaling=scaling).latex[0].value for scaling in ("true", "false")]
    assert r"\sqrt{2}" in formulas[0] and "sqrt" not in formulas[1]


def test_facts_of_an_update_follow_the_learning_rate():
    at = open_backward(back_view="update")
    at.select_slider(key="back_rate").set_value("3").run()
    facts = expected(view="update", rate=3).figures[0].facts
    assert [(metric.label, metric.value) for metric in at.metric] == [(render(a), format_value(b)) for a, b in facts]


def test_a_question_is_answered_and_can_cover_the_gradients():
    at = visitor("learning/backward", back_to="X", cover="true")
    at.session_state["backward_question"] = 1  # the first one asks for what can be read off
    at.run()
    shown = {key.split()[0] for key, row in cells(at).items() if row["v"] is not None}
    assert shown == {"x", "q", "k", "v", "after"}
    answer(at, "backward", "A")
    assert any(line.startswith(("Yes.", "Not right.")) for line in texts(at))
    assert "d_x" in {key.split()[0] for key, row in cells(at).items() if row["v"] is not None}


def test_what_a_link_asks_in_vain_is_told():
    at = open_backward(updates=41, back_sentence=-3, back_value=9, score_size="1000")
    said = " ".join(texts(at))
    for name in ("updates", "back_sentence", "back_value", "score_size"):
        assert f"The link says {name} = " in said
    assert at.select_slider(key="updates").value == "20" and at.number_input(key="back_sentence").value == 0


def test_the_lessons_before_and_after_are_one_press_away():
    labels = [button.label for button in open_backward().button]
    assert "← Train" in labels and "Variants →" in labels
