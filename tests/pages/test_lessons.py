"""Every lesson as a visitor uses it."""

import inspect

import pytest
from visiting import chart, open_page, source_shown, texts

from attention_core.attention import mask_scores, mix_values
from attention_core.captions import tokens_caption
from attention_core.examples import Example, run_example
from attention_core.lessons import asymmetry_caption, attend_without_weights, softmax_caption, softmax_row
from attention_core.measures import measure_scaling, scaling_story

LESSONS = ["tokens", "dot_product", "projections", "scores", "mask", "softmax", "output"]


def cells(at, index=0):
    return {r["cell_tag"].strip("|"): r for r in chart(at, index)[1]["cells"] if r["cell_tag"]}


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize(
    "example",
    [{}, {"example": "sentence", "text": "one"}, {"example": "sentence", "text": "a b a c d e f g h i j k l"}],
)
def test_it_opens_with_any_sentence(lesson, example):
    at = open_lesson(lesson, heads=2, **example)
    assert not at.exception
    assert at.get("vega_lite_chart")
    assert chart(at)[2] in texts(at) or lesson == "scores"


def test_tokens_shows_the_shared_row_of_a_repeated_word():
    at = open_lesson("tokens", example="sentence", text="the cat the dog")
    assert tokens_caption(run_example(Example(source="sentence", text="the cat the dog"))) in texts(at)
    table = cells(at)
    assert {key.split()[1].split(",")[0] for key in table if key.startswith("table")} == {"0", "1", "2"}
    assert "|x row 0|" in table["x 2,0"]["lights"] and "|table row 0|" in table["x 2,0"]["lights"]


def test_dot_product_shows_the_notebooks_row_and_sum():
    at = open_lesson("dot_product")
    at.selectbox(key="asks").set_value(1).run()
    table = cells(at)
    assert [table[f"weight {j},0"]["text"] for j in range(6)] == ["0.14", "0.24", "0.23", "0.12", "0.11", "0.16"]
    output = attend_without_weights(run_example(Example()).x).output
    assert [table[f"sum 0,{j}"]["v"] for j in range(3)] == pytest.approx(output[1].tolist())
    at.segmented_control(key="view").set_value("all").run()
    assert cells(at)["output 1,2"]["v"] == pytest.approx(float(output[1, 2]))


def test_projections_meet_where_row_and_column_cross():
    at = open_lesson("projections")
    assert asymmetry_caption(run_example(Example()), 0) in texts(at)
    q = run_example(Example()).heads.q[0]
    assert cells(at)["q 3,1"]["v"] == pytest.approx(float(q[3, 1]))
    assert "|x row 3|" in cells(at)["q 3,1"]["lights"] and "|w column 1|" in cells(at)["q 3,1"]["lights"]
    at.segmented_control(key="role").set_value("mirror").run()
    assert cells(at)["xx 1,2"]["v"] == cells(at)["xx 2,1"]["v"]


def test_scores_tells_the_measured_story_and_marks_the_chosen_size():
    at = open_lesson("scores")
    at.select_slider(key="measured_d_k").set_value(256).run()
    assert any(scaling_story(measure_scaling(16, 400, 42), 256) in line for line in texts(at))
    assert {row["d_k"] for row in chart(at)[1]["curves"] if row["chosen"]} == {256}


@pytest.mark.parametrize("mask", ["causal", "none", "window", "padding", "hand"])
def test_masks_hide_what_they_say(mask):
    at = open_lesson("mask", mask=mask)
    hidden = {key for key, row in cells(at).items() if row["kind"] == "masked"}
    expected = {
        "causal": {f"with {i},{j}" for i in range(6) for j in range(6) if j > i},
        "hand": {f"with {i},{j}" for i in range(6) for j in range(6) if j > i},
        "none": set(),
        "window": {f"with {i},{j}" for i in range(6) for j in range(6) if abs(i - j) > 1},
        "padding": {f"with {i},5" for i in range(6)},
    }[mask]
    assert hidden == expected
    at.segmented_control(key="masking").set_value("late").run()
    assert not at.exception
    assert source_shown(at) == inspect.getsource(mask_scores).rstrip()


def test_softmax_shows_every_number_of_a_row():
    at = open_lesson("softmax")
    trace = run_example(Example())
    row = softmax_row(trace.heads.select(0), 5)
    assert softmax_caption(trace.tokens, row) in texts(at)
    for step in ("scores", "shifted", "powers", "weights"):
        shown = [cells(at)[f"{step} 0,{j}"]["v"] for j in range(6)]
        assert shown == pytest.approx(getattr(row, step).tolist(), abs=1e-6)


def test_output_puts_weights_beside_contributions():
    at = open_lesson("output", of="parts")
    assert not at.exception
    shares = [cells(at)[f"share {j},0"]["v"] for j in range(6)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert source_shown(at) == inspect.getsource(mix_values).rstrip()


def open_lesson(lesson, **query):
    return open_page(f"one_head/{lesson}", **query)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_class_hides_is_not_there(lesson):
    at = open_lesson(lesson, hide="predict,trace,code")
    assert not at.exception
    assert not at.expander or {panel.label for panel in at.expander} <= {"More"}
    assert not any("first tries" in line for line in texts(at))
    assert not [button for button in at.button if button.label == "Another question"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_question_is_answered_on_the_page(lesson):
    at = open_lesson(lesson)
    at.segmented_control(key=f"{lesson}_answer").set_value("A").run()
    assert any(line.startswith(("Yes.", "Not quite.")) for line in texts(at))
    assert not at.exception


def test_large_figures_are_larger():
    assert (
        chart(open_lesson("softmax", large="true"))[0]["width"]["step"]
        > chart(open_lesson("softmax"))[0]["width"]["step"]
    )
