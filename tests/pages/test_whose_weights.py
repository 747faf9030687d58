"""Whose weights: a visit begins with a trained model, and its slider, sizes and sentence act on every lesson."""

import pytest
from visiting import cells, open_page, texts, visitor

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from lessons.example.example import Example, learnt_example, run_example
from lessons.example.task_models import TASK_SOURCES
from lessons.screen import render

ALIBI = '{"task":"reverse","model":{"positions":"alibi"}}'
SINK = '{"task":"reverse","model":{"sink":true}}'


def captions(at):
    return " ".join(element.value for element in at.caption)


def said(at):
    """All that stands on the page as text or Markdown."""
    return " ".join([*texts(at), *(element.value for element in at.markdown), captions(at)])


def test_a_visit_begins_with_a_head_that_does_something():
    at = open_page(example=None, picture="sentence")
    trained = run_example(learnt_example("stories")).trained
    assert render(trained.does(0)) in said(at)
    assert "training steps: 400 (seed 42). New answers that are right: 64 of 64." in captions(at)
    assert at.selectbox(key="example").value == "lesson" and "example" not in at.query_params


def test_each_lesson_shows_its_own_example_until_one_is_chosen():
    own = {"softmax": "layer 13 of SmolLM2-135M", "projections": "Trained on", "output": "layer 13 of SmolLM2-135M"}
    for stage, whose in own.items():
        at = open_page(f"one_head/{stage}", example=None)
        assert at.selectbox(key="example").value == "lesson" and whose in captions(at)
    at.selectbox(key="example").set_value("sentence").run()
    assert at.query_params["example"] == "sentence" and "layer 13" not in captions(at)
    at.selectbox(key="example").set_value("lesson").run()
    assert "example" not in at.query_params and "layer 13" in captions(at)


@pytest.mark.parametrize("link", [{"d_k": 3}, {"seed": 7}, {"causal": "false"}, {"edits": "q1,1=2"}])
def test_a_link_of_before_opens_what_it_opened(link):
    at = open_page(example=None, **link)
    assert at.selectbox(key="example").value == "journey"


def test_updates_go_back_to_random_weights_and_the_link_says_so():
    at = open_page(example="pronouns")
    at.select_slider(key="trained_for").set_value(0).run()
    assert "Untrained: random weights (seed 42)." in captions(at)
    assert at.query_params["trained_for"] == "0"
    again = open_page(example="pronouns", trained_for=40)
    assert "training steps: 40 " in captions(again)


def test_a_size_trains_another_model():
    at = open_page(example="pronouns")
    at.slider(key="model_d_k").set_value(1).run()
    trained = run_example(learnt_example("pronouns", d_k=1)).trained
    assert render(trained.origin()) in captions(at) and render(trained.does(0)) in said(at)
    assert at.query_params["model_d_k"] == "1"


def test_who_never_moved_a_size_gets_that_of_the_source():
    at = open_page(example="pronouns")
    at.selectbox(key="example").set_value("induction").run()
    assert [at.slider(key=f"model_{name}").value for name in ("d_k", "d_v")] == [6, 6]
    assert at.select_slider(key="trained_for").value == 600
    assert len(at.radio(key="layer").options) == 2
    at.radio(key="layer").set_value(2).run()
    assert not at.exception and at.query_params["layer"] == "2"


def test_a_model_that_may_look_ahead_is_shown_as_it_was_trained():
    at = open_page(example="pronouns")
    at.selectbox(key="example").set_value("reverse").run()
    assert not at.toggle(key="causal").value
    at.selectbox(key="example").set_value("previous").run()
    assert at.toggle(key="causal").value


def test_the_old_words_of_pronouns_open_by_their_link_and_are_not_offered_else():
    old = open_page(example="pronouns", trained_for=20)
    assert old.selectbox(key="example").value == "pronouns" and old.select_slider(key="trained_for").value == 20
    assert "Trained on pronouns, training steps: 20 " in captions(old)
    assert "Trained on pronouns" not in open_page(example="stories").selectbox(key="example").options


def test_a_number_of_updates_between_two_stops_gives_way_to_the_one_before():
    at = open_page(example="stories", trained_for=119)
    assert at.select_slider(key="trained_for").value == 115 and at.query_params["trained_for"] == "115"


def test_strangers_are_named_and_left_out():
    at = open_page(example="pronouns", says_pronouns="boy met <b>dragon</b> he")
    assert any("has never met “<b>dragon</b>”" in text for text in texts(at))
    assert render(run_example(learnt_example("pronouns", text="boy met he")).trained.does(0)) in said(at)


@pytest.mark.parametrize("source", [*TASK_SOURCES, "language"])
@pytest.mark.parametrize(
    "page",
    [
        "start/overview",
        "one_head/tokens",
        "one_head/projections",
        "model/heads",
        "model/positions",
        "code/pytorch",
        "today/variants",
    ],
)
def test_lessons_open_on_every_source(page, source):
    at = visitor(page, example=source).run()
    assert not at.exception, at.exception


@pytest.mark.parametrize("page", ["model/heads", "code/pytorch"])
def test_the_lessons_on_several_heads_show_the_heads_of_the_language_model(page):
    at = open_page(page, example="language")
    trace = run_example(Example(source="language", text="", layer=14, turned=False))
    assert render(trace.trained.origin()) in captions(at)
    assert any("The model's own: 576 features and 9 heads" in text for text in texts(at))
    assert not [slider for slider in at.slider if slider.key == "mh_d_model"]
    if page.endswith("heads"):
        assert cells(at)["map.2 5,4"]["v"] == pytest.approx(float(trace.heads.weights[2, 5, 4]), abs=1e-5)
    else:  # of the outputs of all heads side by side, the first features of each stand there
        assert cells(at)["ours 5,4"]["v"] == pytest.approx(float(trace.heads.output[4, 5, 0]), abs=1e-5)
        assert any("cannot hold these heads" in text for text in texts(at))


@pytest.mark.parametrize("parity", ["module", "weights", "levels", "fused", "cases"])
def test_what_pytorchs_module_cannot_hold_is_compared_with_its_function(parity):
    at = open_page("code/pytorch", example="language", parity=parity)
    control = at.segmented_control(key="parity")
    assert list(control.options) == ["scaled_dot_product_attention", "300 random cases"]
    assert control.value == (parity if parity in ("fused", "cases") else "fused")
    at.selectbox(key="example").set_value("previous").run()
    assert len(at.segmented_control(key="parity").options) == 6 and not at.exception


def test_heads_are_offered_under_the_names_they_earned():
    at = open_page(example="pronouns", model_heads=2)
    trained = run_example(learnt_example("pronouns", n_heads=2)).trained
    jobs = [trained.job(head) for head in range(2)]
    expected = [f"{head}: {render(job.name) if job.done else 'no name'}" for head, job in enumerate(jobs, 1)]
    group = next(group for group in at.get("button_group") if group.key == "head")
    assert list(group.options) == expected


def test_the_model_one_trained_opens_in_the_lessons_and_its_link_trains_it_again():
    settings = recommended(TASKS["reverse"], 3, steps=40, d_model=16, positions="rotary")
    at = open_page(
        "learning/train", example=None, task="reverse", train_seed=3, steps=40, features=16, train_positions="rotary"
    )
    at.button(key="open_heads").click().run()
    assert not at.exception and at.selectbox(key="example").value == "mine"
    trace = run_example(Example(source="mine", own=settings, text="", causal=False))
    assert render(trace.trained.origin()) in captions(at) and render(trace.trained.does(0)) in said(at)
    link = {"example": "mine", "own": at.query_params["own"], "causal": "false"}
    assert captions(open_page(**link, picture=None)) == captions(at)
    heads = open_page("model/heads", **link)
    assert render(trace.trained.origin()) in captions(heads)
    assert any("turns its queries and keys by their positions" in text for text in texts(heads))
    assert any("cannot hold these heads" in text for text in texts(open_page("code/pytorch", **link)))


def test_a_run_without_jobs_for_its_heads_says_why_it_stays():
    at = open_page("learning/train", example=None, task="characters", steps=5)
    at.button(key="open_heads").click().run()
    assert any("cannot be shown in the lessons: the task gives its heads no job" in text for text in texts(at))


@pytest.mark.parametrize(
    "code", ["", "{", "7", '{"task":"copy","model":{"d_model":"x"}}', '{"task":"characters"}', ALIBI, SINK]
)
def test_a_link_with_no_such_model_opens_the_lessons_own(code):
    at = open_page(example="mine", own=code)
    assert not at.exception and at.selectbox(key="example").value == "lesson"


def sizes_folded(at):
    return {slider.key for slider in at.slider} & {"d_model", "model_d_model"}


@pytest.mark.parametrize("example", ["pronouns", "sentence"])
def test_what_is_folded_is_drawn_when_it_is_opened_and_stays_what_it_was_set_to(example):
    at = open_page(example=example)
    assert not sizes_folded(at), "every element of a page costs the browser time"
    at.session_state["more"] = True
    (size,) = sizes_folded(at.run())
    at.slider(key=size).set_value(7).run()
    changed = cells(at)["x 0,0"]
    at.session_state["more"] = False
    assert sizes_folded(at.run()) == {size} and cells(at)["x 0,0"] == changed
    linked = open_page(example=example, **{size: 7})
    assert cells(linked)["x 0,0"]["v"] == changed["v"]


def test_numbers_changed_by_hand_count_also_where_their_field_is_folded():
    at = open_page(example="journey")
    assert not [field for field in at.text_input if field.key == "edits"]
    at.session_state["edits"] = "x1,1=0.5"
    assert cells(at.run())["x 0,0"]["v"] == pytest.approx(0.5)
    (field,) = [field for field in at.text_input if field.key == "edits"]
    assert field.value == "x1,1=0.5"
