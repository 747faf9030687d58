"""The lesson on heads as a visitor uses it: by link, with every control, every preset and every step."""

import inspect
import re
import textwrap

import pytest
from visiting import ROOT, answer, cells, chart, charts, follow, in_drawer, open_page, pick, source_shown, texts

from attention_core.measured.head_measures import total_variation
from attention_core.model.weights import named_weights
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import (
    MultiHeadAttention,
    SlicedHeads,
    keep_weights,
    linear,
    merge_heads,
    split_heads,
)
from attention_ui.controls.heads import STEP, STEPS_WITHOUT_MODULE
from lessons.example.example import Example, run_example
from lessons.model.heads.compute import attend_and_join, many_heads, project_and_split
from lessons.model.heads.example import HEADS_PRESETS, HeadsChosen, in_training, run_heads
from lessons.model.heads.lesson import Choices, screen
from lessons.model.heads.slices_view import compute_reach, reach_of_both
from lessons.screen import render_all
from lessons.trace.lines import digits


def open_heads(**query):
    return open_page("model/heads", **query)


def expected(running=None, source="sentence", **choices):
    return run_heads(running or Example(), HeadsChosen(source=source, **choices))


def notices(trace, step="attend", head=0, role="q"):
    """What the figures of this screen say, one after the other."""
    figures = screen(run_example(trace.example), 0, Choices(trace.chosen, step, role, head)).figures
    return [render_all(figure.notice) for figure in figures if figure.notice]


def difference_caption(trace):
    return notices(trace)[0]


def parameter_caption(trace):
    return notices(trace)[-1]


def way_caption(step, trace):
    return notices(trace, step)[0]


def reach_caption(trace):
    return notices(trace, "slices")[0]


def dropout_caption(trace, head):
    return notices(trace, "dropout", head)[0]


def lit(row):
    return {tag for tag in row["lights"].split("|") if tag}


def shapes_of(at):
    drawn = {row["text"] for row in chart(at)[1]["cells"] if row["kind"] == "shape"}
    return {text for text in drawn if not text.startswith("Untrained")}


def shows(at, index, key, tensor, rows=None):
    """All numbers of a matrix stand in the figure, and no others under its name."""
    table = {tag: row for tag, row in cells(at, index).items() if tag.split()[0] == key}
    values = {f"{key} {i},{j}": v for i, line in enumerate(tensor.tolist()) for j, v in enumerate(line)}
    assert set(table) == set(values)
    for tag, row in table.items():
        assert row["kind"] == "masked" or row["v"] == pytest.approx(values[tag], rel=1e-5, abs=1e-6), tag


# Opening


def test_a_cold_visit_shows_all_heads_and_one_of_them_large():
    at = open_heads()
    trace = expected()
    assert difference_caption(trace) in texts(at) and parameter_caption(trace) in texts(at)
    for head in range(2):
        shows(at, 0, f"map.{head}", trace.heads.weights[head])
    shows(at, 1, "map.0", trace.heads.weights[0])
    assert difference_caption(trace) in texts(at)


def test_a_cold_deep_link_restores_every_control():
    at = open_heads(
        example="sentence",
        text="the cat saw the dog",
        seed=7,
        causal="false",
        scaling="false",
        mh_step="attend",
        mh_d_model=12,
        mh_heads=6,
        mh_head=5,
        mh_bias="true",
        mh_dropout=30,
    )
    running = Example(source="sentence", text="the cat saw the dog", seed=7, causal=False, scaling=False)
    trace = expected(running, d_model=12, n_heads=6, bias=True, dropout=0.3)
    assert difference_caption(trace) in texts(at) and parameter_caption(trace) in texts(at)
    shows(at, 1, "map.4", trace.heads.weights[4])
    assert at.select_slider(key="mh_heads").options == ["1", "2", "3", "4", "6", "12"]
    assert at.slider(key="mh_dropout").value == 30
    at.segmented_control(key="mh_step").set_value("dropout").run()
    assert dropout_caption(trace, 4) in texts(at), "the chosen head goes along"


def test_the_lesson_stands_in_the_menu_and_leads_on():
    at = open_heads()
    labels = {button.label for button in at.button}
    assert "← Build a head" in labels and any(label.endswith(" →") for label in labels)


# Every control


def test_every_control_changes_the_screen():
    at = open_heads()
    at.slider(key="mh_d_model").set_value(6).run()
    at.select_slider(key="mh_heads").set_value(3).run()
    assert difference_caption(expected(d_model=6, n_heads=3)) in texts(at)
    at.toggle(key="mh_bias").set_value(True).run()
    assert parameter_caption(expected(d_model=6, n_heads=3, bias=True)) in texts(at)
    at.select_slider(key="mh_head").set_value(3).run()
    shows(at, 1, "map.2", expected(d_model=6, n_heads=3, bias=True).heads.weights[2])
    at.toggle(key="causal").set_value(False).run()
    at.number_input(key="seed").set_value(5).run()
    trace = expected(Example(causal=False, seed=5), d_model=6, n_heads=3, bias=True)
    assert difference_caption(trace) in texts(at)
    at.segmented_control(key="mh_step").set_value("dropout").run()
    at.slider(key="mh_dropout").set_value(50).run()
    trace = expected(Example(causal=False, seed=5), d_model=6, n_heads=3, bias=True, dropout=0.5)
    assert dropout_caption(trace, 2) in texts(at)


def test_only_numbers_of_heads_that_can_share_the_features_are_offered():
    at = open_heads()
    for d_model, offered in ((16, ["1", "2", "4", "8", "16"]), (7, ["1", "7"]), (9, ["1", "3", "9"])):
        at.slider(key="mh_d_model").set_value(d_model).run()
        assert at.select_slider(key="mh_heads").options == offered
        assert str(at.select_slider(key="mh_heads").value) in offered
    at.slider(key="mh_d_model").set_value(1).run()
    assert not [slider for slider in at.select_slider if slider.key == "mh_heads"]
    assert "There is one head, so there is nothing to compare." in texts(at)


def test_where_the_heads_cannot_share_the_features_the_nearest_number_is_taken_and_said():
    at = open_heads(mh_d_model=9, mh_heads=4)
    note = "4 heads cannot share 9 features evenly; the nearest number that can is 3."
    assert note in texts(at) and difference_caption(expected(d_model=9, n_heads=3)) in texts(at)
    at.slider(key="mh_d_model").set_value(10).run()
    assert "3 heads cannot share 10 features evenly; the nearest number that can is 2." in texts(at)
    assert difference_caption(expected(d_model=10, n_heads=2)) in texts(at)


def test_fewer_heads_leave_the_nearest_one_large():
    at = open_heads(mh_heads=8, mh_head=7)
    shows(at, 1, "map.6", expected(n_heads=8).heads.weights[6])
    at.select_slider(key="mh_heads").set_value(2).run()
    shows(at, 1, "map.1", expected(n_heads=2).heads.weights[1])


def test_what_was_chosen_stays_while_another_step_or_example_is_looked_at():
    at = open_heads(mh_d_model=12, mh_heads=6, mh_head=4, mh_step="split", mh_role="v")
    for step in ("attend", "project", "dropout"):
        at.segmented_control(key="mh_step").set_value(step).run()
        assert step == "project" or at.select_slider(key="mh_head").value == 4
    at.segmented_control(key="mh_step").set_value("split").run()
    assert at.segmented_control(key="mh_role").value == "v"
    for source in ("wide", "sentence"):
        at.selectbox(key="mh").set_value(source).run()
    assert (at.slider(key="mh_d_model").value, at.select_slider(key="mh_heads").value) == (12, 6)


# Every step


@pytest.mark.parametrize("step", ["project", "split", "concatenate", "output"])
def test_the_steps_of_the_way_hold_the_tensors(step):
    at = open_heads(mh_step=step, mh_d_model=6, mh_heads=3)
    trace = expected(d_model=6, n_heads=3)
    assert way_caption(step, trace) in texts(at)
    wholes = {"project": ["x", "q", "k", "v"], "split": ["q"], "concatenate": ["concatenated"]}
    for key in wholes.get(step, ["concatenated", "output"]):
        shows(at, 0, key, getattr(trace, key))
    for head in range(3 if step in ("split", "concatenate") else 0):
        role, tensor = ("q", trace.heads.q) if step == "split" else ("heads", trace.heads.output)
        shows(at, 0, f"{role}.{head}", tensor[head])
    shapes = shapes_of(at)
    assert shapes == {"6×6", "6×2"} if step in ("split", "concatenate") else {"6×6"}


@pytest.mark.parametrize("role", ["q", "k", "v"])
def test_a_feature_lights_up_before_and_after_the_split_and_says_in_which_head_it_lives(role):
    at = open_heads(mh_step="split", mh_role=role, mh_d_model=6, mh_heads=3)
    table = cells(at)
    for feature in range(6):
        before, after = f"{role} 4,{feature}", f"{role}.{feature // 2} 4,{feature % 2}"
        for tag in (before, after):
            assert lit(table[tag]) == {before, after}
            assert f"feature {feature % 2 + 1} of head {feature // 2 + 1}: " in table[tag]["say"]
        assert table[before]["v"] == table[after]["v"]


def test_a_feature_lights_up_before_and_after_concatenating():
    table = cells(open_heads(mh_step="concatenate", mh_d_model=6, mh_heads=2))
    assert lit(table["heads.1 2,0"]) == lit(table["concatenated 2,3"]) == {"heads.1 2,0", "concatenated 2,3"}


def test_projections_light_the_rows_they_are_made_from():
    assert lit(cells(open_heads(mh_step="project"))["k 3,1"]) == {"k 3,1", "x row 3"}


@pytest.mark.parametrize("bias", ["true", "false"])
def test_w_o_stands_between_the_heads_and_the_output_as_their_factor(bias):
    at = open_heads(mh_step="output", mh_d_model=6, mh_heads=3, mh_bias=bias)
    trace, table = expected(d_model=6, n_heads=3, bias=bias == "true"), cells(at)
    shows(at, 0, "w_o", trace.module.W_o)
    added = trace.module.b_o.tolist() if bias == "true" else [0.0] * 6
    for i in range(6):
        for j in range(6):
            products = [table[f"concatenated {i},{f}"]["v"] * table[f"w_o {f},{j}"]["v"] for f in range(6)]
            assert table[f"output {i},{j}"]["v"] == pytest.approx(sum(products) + added[j], abs=1e-5)
    assert lit(table["output 3,1"]) == {"output 3,1", "concatenated row 3", "w_o column 1"}
    assert lit(table["concatenated 3,1"]) == {"concatenated 3,1", "w_o row 1", "output row 3"}
    assert lit(table["w_o 3,1"]) == {"w_o 3,1", "concatenated column 3", "output column 1"}
    said = "W_o, row 4, column 2: an entry of W_o: "
    assert table["w_o 3,1"]["say"] == said + digits(trace.module.W_o[3, 1].item(), 4)


def test_of_a_wide_w_o_the_same_features_are_drawn_as_of_its_factor():
    at = open_heads(mh_step="output", mh="wide")
    trace = expected(source="wide")
    shapes = shapes_of(at)
    assert shapes == {"10×512, 8 shown", "512×512, 8×8 shown"}
    assert cells(at)["w_o 2,1"]["v"] == pytest.approx(float(trace.module.W_o[128, 64]), rel=1e-5)


# A click


def click(at, *cell):
    return pick(at, "heads_figure", *cell)


def test_a_click_on_a_small_map_shows_that_head_large_and_the_slider_goes_along():
    at, trace = open_heads(mh_heads=4), expected(n_heads=4)
    click(at, "map.2", 3, 1)
    shows(at, 1, "map.2", trace.heads.weights[2])
    assert at.select_slider(key="mh_head").value == 3
    at.select_slider(key="mh_head").set_value(2).run()
    shows(at, 1, "map.1", trace.heads.weights[1])
    click(at, "map.9", 0, 0)
    assert at.select_slider(key="mh_head").value == 4, "a head there is not any more: the nearest"
    click(at, "nonsense")
    assert not at.exception and at.select_slider(key="mh_head").value == 4


# The sidebar


def test_the_sidebar_offers_only_what_this_lesson_takes_from_it_and_keeps_the_rest():
    at = open_page("one_head/scores", d_k=5, edits="q1,2=0.5")
    for page in ("model/heads", "code/pytorch"):
        at.switch_page(str(ROOT / f"pages/{page}.py")).run()
        assert not {slider.key for slider in at.slider} & {"d_k", "d_v", "heads"}
        assert {"seed"} <= {box.key for box in at.number_input} and {"causal", "scaling"} <= {t.key for t in at.toggle}
        assert "More" not in {panel.label for panel in at.expander} and not at.exception
    at.switch_page(str(ROOT / "pages/one_head/scores.py")).run()
    assert at.slider(key="d_k").value == 5 and at.text_input(key="edits").value == "q1,2=0.5"


def test_projection_against_slice_is_shown_as_numbers():
    at = open_heads(mh_step="slices", mh_d_model=16, mh_heads=2)
    reach = compute_reach(expected(d_model=16, n_heads=2)).result
    assert reach_caption(expected(d_model=16, n_heads=2)) in texts(at)
    shows(at, 0, "projected", reach.projected)
    shows(at, 0, "sliced", reach.sliced)
    table = cells(at)
    for head in range(2):
        assert table[f"sliced_outside {head},0"]["v"] == 0 and table[f"projected_outside {head},0"]["v"] > 0.01
    assert table["sliced 0,15"]["say"] == (
        "1 is added to feature 16 of every token: the largest change it causes in the output of head 1: 0"
    )


def test_dropout_shows_the_sums_of_the_rows_and_marks_what_was_dropped():
    at = open_heads(mh_step="dropout", mh_dropout=40)
    trace = expected(dropout=0.4)
    dropped = in_training(trace).result.dropped
    shows(at, 0, "rest.0", trace.heads.weights[0])
    shows(at, 0, "training.0", dropped.weights[0])
    shows(at, 0, "sum_rest", trace.heads.weights[0].sum(dim=-1, keepdim=True))
    shows(at, 0, "sum_training", dropped.weights[0].sum(dim=-1, keepdim=True))
    marks = sum(row["marked"] for row in cells(at).values())
    assert marks == int(((dropped.weights[0] == 0) & trace.heads.visible[0]).sum()) > 0
    at.slider(key="mh_dropout").set_value(0).run()
    assert any("so nothing is dropped in training either." in line for line in texts(at))


def test_the_parameters_are_listed_when_the_panel_is_opened():
    at = open_heads(mh_d_model=6, mh_heads=3, mh_bias="true")
    assert not at.dataframe
    at.session_state["mh_parameters"] = True
    at.run()
    rows = at.dataframe[0].value.to_dict("records")
    module = expected(d_model=6, n_heads=3, bias=True).module
    listed = [(name, " × ".join(map(str, p.shape)), str(p.numel())) for name, p in named_weights(module)]
    assert [tuple(row.values()) for row in rows] == [*listed, ("total", "", "168")]


@pytest.mark.parametrize(
    ("step", "functions"),
    [
        ("project", (project_and_split, linear)),
        ("split", (project_and_split, split_heads)),
        ("attend", (many_heads, attend, total_variation)),
        ("concatenate", (many_heads, merge_heads)),
        ("output", (many_heads, linear)),
        ("slices", (reach_of_both, MultiHeadAttention.project, SlicedHeads.project)),
        ("dropout", (many_heads, keep_weights)),
    ],
)
def test_the_code_is_the_code_that_ran(step, functions):
    sources = (textwrap.dedent(inspect.getsource(function)).rstrip() for function in functions)
    assert source_shown(open_heads(mh_step=step)) == "\n\n\n".join(sources)


def test_where_nothing_is_projected_the_code_is_that_of_attention_alone():
    shown = source_shown(open_heads(mh="drawn"))
    assert all(inspect.getsource(function).rstrip() in shown for function in (attend_and_join, attend))
    assert "W_q" not in shown


# Every preset


@pytest.mark.part(3)
@pytest.mark.parametrize("step", STEP.options)
@pytest.mark.parametrize("key", HEADS_PRESETS)
def test_every_preset_opens_at_every_step(key, step):
    at = open_heads(mh=key, mh_step=step)
    trace = expected(source=key)
    assert charts(at) and not any("link" in line for line in texts(at))
    if key == "drawn" and step not in STEPS_WITHOUT_MODULE:
        step = "attend"
    captions = {
        "attend": lambda: difference_caption(trace),
        "slices": lambda: reach_caption(trace),
        "dropout": lambda: dropout_caption(trace, 0),
    }
    assert captions.get(step, lambda: way_caption(step, trace))() in texts(at)
    assert chart(at)[2] in (None, *texts(at))


@pytest.mark.parametrize("key", [key for key in HEADS_PRESETS if key != "sentence"])
def test_what_a_notebook_fixes_is_said_and_cannot_be_moved(key):
    at = open_heads(mh=key, causal="false")
    d_model = HEADS_PRESETS[key].d_model
    assert any(line.startswith(f"Fixed: {d_model} features") and "seed 42" in line for line in texts(at))
    assert not [slider for slider in at.slider if slider.key == "mh_d_model"]
    weights = run_heads(Example(causal=False), HeadsChosen(source=key)).heads.weights
    shows(at, 1, "map.0", weights[0])
    shows(at, 0, "map.1", weights[1])


def test_where_four_matrices_stand_side_by_side_fewer_features_of_a_wide_one_are_drawn():
    at = open_heads(mh="wide", mh_step="project")
    assert shapes_of(at) == {"10×512, 8 shown"}
    trace = expected(source="wide")
    for place in range(8):
        assert cells(at)[f"v 9,{place}"]["v"] == pytest.approx(float(trace.v[9, 64 * place]), rel=1e-5)
        assert f"feature 1 of head {place + 1}" in cells(at)[f"v 9,{place}"]["say"]


def test_the_bias_is_in_the_title_where_it_is_in_the_sum():
    for bias in (True, False):
        titles = {row["text"] for row in chart(open_heads(mh_step="output", mh_bias=str(bias)))[1]["cells"]}
        assert ("output = concatenated · W_o + bias" in titles) == bias


def test_of_a_wide_matrix_the_first_features_of_every_head_are_drawn_with_their_true_numbers():
    at = open_heads(mh="wide", mh_step="split")
    table = cells(at)
    assert "feature 2 of head 2" in table["q 0,3"]["say"]
    assert table["q 0,3"]["v"] == pytest.approx(float(expected(source="wide").q[0, 65]), rel=1e-5)
    shapes = shapes_of(at)
    assert shapes == {"10×512, 16 shown", "10×64, 2 shown"}


# Sentences and links of every kind


@pytest.mark.part(5)
@pytest.mark.parametrize("step", STEP.options)
@pytest.mark.parametrize("text", ["one", "a b a c d e f g h i j k l", "<b>x</b> $y$ ![z](http://127.0.0.1:9/a)"])
@pytest.mark.parametrize("heads", [1, 8])
def test_it_opens_with_any_sentence(step, text, heads):
    at = open_heads(example="sentence", text=text, mh_step=step, mh_heads=heads)
    assert chart(at)[2] in (None, *texts(at))
    assert not any("nan" in line for line in texts(at))


def test_an_impossible_link_is_repaired_and_says_so():
    at = open_heads(mh_d_model=99, mh_step="nonsense")
    assert "The link says mh_d_model = 99, but mh_d_model goes from 1 to 16; 16 is used." in texts(at)
    assert any("mh_step = nonsense" in line for line in texts(at))
    assert difference_caption(expected(d_model=16)) in texts(at)


# Predict


def test_a_question_is_answered_on_the_page():
    at = open_heads()
    answer(at, "heads", "A")
    assert any(line.startswith(("Yes.", "Not right.")) for line in texts(at))
    at.slider(key="mh_d_model").set_value(12).run()
    assert not any(line.startswith(("Yes.", "Not right.")) for line in texts(at)), "another example, another question"


def test_what_a_class_hides_is_not_there():
    at = open_heads(hide="predict,code,trace")
    assert {panel.label for panel in at.expander} <= {"More", "The parameters"}
    assert in_drawer(at) == ["Numbers and pictures"]
    assert not [button for button in at.button if button.label == "Another question"]


# Tracing one number


@pytest.mark.parametrize(
    ("query", "figure"),
    [
        ({"mh_step": "project", "mh_bias": "true"}, 0),
        ({"mh_step": "split", "mh_role": "v"}, 0),
        ({"mh_step": "attend", "mh_head": 2}, 1),
        ({"mh_step": "concatenate"}, 0),
        ({"mh_step": "output", "mh_bias": "true"}, 0),
        pytest.param({"mh_step": "output", "mh": "wide"}, 0, marks=pytest.mark.slow),  # its lines have 512 terms
        ({"mh_step": "dropout", "mh_head": 2, "mh_dropout": 30}, 0),
        ({"mh": "drawn"}, 1),
    ],
)
def test_the_last_cell_of_each_matrix_is_followed_to_the_number_that_is_drawn(query, figure):
    at = open_heads(causal="false", **query)
    drawn = cells(at, figure)
    for matrix, key in {key.split()[0]: key for key in drawn}.items():
        equations = follow(at, matrix, *map(int, key.split()[1].split(",")))
        assert float(re.split(" [=≈] ", equations[-1])[-1].replace("−", "-")) == pytest.approx(
            drawn[key]["v"], rel=2e-3, abs=1e-4
        )
