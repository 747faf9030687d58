"""The real model beside its sliders: moving one goes over to a small model of that size, and a button goes back."""

import pytest
from visiting import chart, open_page

from lessons.example.example import SOURCES

STAGES = ("scores", "mask", "softmax", "output")
MOVED = {"d_k": 3, "d_v": 3, "n_heads": 2, "d_model": 7}


def fresh(stage):
    at = open_page(f"one_head/{stage}", example=None)
    assert at.selectbox(key="example").value == "lesson" and "example" not in at.query_params
    return at


@pytest.mark.parametrize("stage", STAGES)
def test_each_size_stands_at_that_of_the_model_and_moving_it_changes_the_figure(stage):
    at = fresh(stage)
    before = figures(at)
    for name, value in MOVED.items():
        size = at.select_slider(key=f"real_{name}")
        assert size.value == SOURCES["language"].sizes[name]
        size.set_value(value).run()
        assert not at.exception
        assert at.selectbox(key="example").value == "stories" and at.slider(key=f"model_{short(name)}").value == value
        assert figures(at) != before
        assert any("trained here" in caption.value for caption in at.caption)
        at.button(key="to_the_real_model").click().run()
        assert at.selectbox(key="example").value == "lesson" and figures(at) == before


def short(name):
    return {"n_heads": "heads"}.get(name, name)


def figures(at):
    return str(chart(at))


def test_a_seed_goes_over_too():
    at = fresh("softmax")
    at.number_input(key="real_seed").set_value(7).run()
    assert at.selectbox(key="example").value == "stories" and at.number_input(key="seed").value == 7


@pytest.mark.parametrize("switched", ["causal", "scaling"])
def test_mask_and_scaling_act_on_the_real_head(switched):
    at = fresh("scores" if switched == "scaling" else "output")
    before = figures(at)
    at.toggle(key=switched).set_value(False).run()
    assert not at.exception and at.selectbox(key="example").value == "lesson"
    assert switched == "scaling" or figures(at) != before


def test_the_lessons_own_example_goes_on_by_a_link_that_names_other_choices():
    at = open_page("one_head/softmax", example="lesson", causal="false")
    assert at.selectbox(key="example").value == "lesson" and not at.toggle(key="causal").value
