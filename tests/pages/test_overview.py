"""The overview as a visitor uses it."""

import inspect

import pytest
from visiting import cells, chart, open_page, source_shown, texts

from attention_core.one_head.attention import attend
from attention_core.one_head.head import one_head
from lessons.example.example import Example, run_example
from lessons.screen import render_all
from lessons.shared.stages import STAGES, notice_stage
from tests.rounding import assert_close_for_size


def told(stage):
    """What the overview says of the journey at this stage."""
    return render_all(notice_stage(stage, run_example(Example()), 0))


def test_it_opens_with_the_whole_picture_and_its_caption():
    at = open_page()
    caption = told("output")
    assert caption in texts(at)
    assert cells(at)["output 5,1"]["text"] == "0.33"


def test_the_notebooks_numbers_are_on_the_screen():
    at = open_page(causal="false", scaling="false")
    trace = run_example(Example(causal=False, scaling=False)).heads.select(0)
    for i in range(6):
        for j in range(6):
            assert_close_for_size(cells(at)[f"weights {i},{j}"]["v"], trace.weights[i, j], trace.scaled / 2)


def test_the_stepper_goes_on_back_and_round():
    at = open_page()
    at.button(key="step_Next").click().run()
    assert told("x") in texts(at)
    assert r"X \in \mathbb{R}^{6\times3}" in at.latex[0].value
    for stage in STAGES[1:]:
        at.button(key="step_Next").click().run()
        assert told(stage) in texts(at)
    at.button(key="step_Back").click().run()
    assert told("weights") in texts(at)


def test_formulas_have_the_sizes_of_the_moment():
    at = open_page(d_k=5, step="scores")
    assert r"(6\times5)\cdot(5\times6) = (6\times6)" in at.latex[0].value


@pytest.mark.parametrize("key", ["d_k", "d_v", "heads", "seed"])
def test_every_number_control_changes_the_picture(key):
    at = open_page()
    before = chart(at)
    control = at.number_input(key=key) if key == "seed" else at.slider(key=key)
    control.set_value(3).run()
    assert chart(at)[1] != before[1]
    assert chart(at)[0] == before[0], "the chart itself must stay, or it flickers"


@pytest.mark.parametrize("key", ["causal", "scaling"])
def test_every_switch_changes_the_picture(key):
    at = open_page()
    before = chart(at)[1]
    at.toggle(key=key).set_value(False).run()
    assert chart(at)[1] != before


def test_each_head_can_be_looked_at():
    at = open_page(heads=3)
    first = chart(at)[1]
    at.segmented_control(key="head").set_value(2).run()
    assert chart(at)[1] != first
    trace = run_example(Example(n_heads=3)).heads.select(1)
    assert_close_for_size(cells(at)["weights 5,5"]["v"], trace.weights[5, 5], trace.scaled / 2)


def test_the_source_shown_is_the_source_that_ran():
    sources = (inspect.getsource(function).rstrip() for function in (one_head, attend))
    assert source_shown(open_page()) == "\n\n\n".join(sources)


def test_ones_own_sentence():
    at = open_page(example="sentence", text="the cat saw the dog")
    assert cells(at)["x 0,0"]["v"] == cells(at)["x 3,0"]["v"]
    assert any(
        "“the” is at positions 1 and 4" in text
        for text in texts(open_page(example="sentence", text="the cat saw the dog", step="X"))
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no word to show yet"),
        ("   ", "There is no word to show yet"),
        ("hi", None),
        ("word " * 2500, "the first 2,000 are used"),
        ("👩‍👩‍👧 🧑🏽 flags 🇩🇪", None),
        ("שלום עולם", None),
        ("bell\x07 and\u202e turn", "left out"),
        ("<b>bold</b> ![x](http://127.0.0.1:9/a.png) $x^2$ :red[no]", None),
    ],
)
def test_any_text_gives_a_picture_and_perhaps_a_sentence(text, said):
    at = open_page()
    at.selectbox(key="example").set_value("sentence").run()
    at.text_input(key="text").set_value(text).run()
    assert not at.exception
    assert chart(at)[1]["cells"]
    assert said is None or any(said in line for line in texts(at))
    assert at.text_input(key="text").value == text, "nothing the learner typed is lost"


@pytest.mark.parametrize("text", ["<b>bold</b>", "![x](http://127.0.0.1:9/a.png)", "$x^2$", ":red[no]"])
def test_a_learners_text_never_becomes_markup(text):
    at = open_page(example="sentence", text=text)
    shown = [element.value for kind in ("markdown", "latex", "caption", "title") for element in at.get(kind)]
    assert not any(text in value for value in shown)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"d_k": 999999}, "The link says d_k = 999999, but d_k goes from 1 to 8; 8 is used."),
        ({"d_v": -4}, "1 is used."),
        ({"seed": "abc"}, "The link says seed = abc, which is not a number; it was left out."),
        ({"seed": "1e400"}, "The link says seed = 1e400, but seed goes from 0 to"),
        ({"heads": "nan"}, "which is not a number"),
        ({"causal": "perhaps"}, "which is not one of the choices"),
        ({"example": "<script>"}, "which is not one of the choices"),
    ],
)
def test_a_link_that_asks_for_the_impossible_is_repaired_and_says_so(query, sentence):
    at = open_page(**query)
    assert any(sentence in line for line in texts(at))
    assert chart(at)[1]["cells"]


def test_a_good_link_is_not_talked_about():
    at = open_page(d_k=5, seed=7, causal="false", heads=2)
    assert at.slider(key="d_k").value == 5
    assert not any("link" in line for line in texts(at))
    assert at.number_input(key="seed").value == 7
