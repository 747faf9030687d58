"""Every lesson as a visitor uses it."""

import inspect
import re
from dataclasses import replace

import pytest
from visiting import (
    ROOT,
    answer,
    ask_about_the_figure,
    captions,
    cells,
    chart,
    charts,
    chosen,
    in_drawer,
    open_page,
    source_shown,
    texts,
    visitor,
)

from attention_core.measured.measures import measure_scaling
from attention_core.one_head.attention import mask_scores, mix_values
from attention_ui.page import drawing
from attention_ui.page.derivation import CHOOSE
from lessons.example.example import Example, run_example
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.dot_product.lesson import attend_without_weights
from lessons.one_head.mask.lesson import zeroed_late
from lessons.one_head.output.lesson import weigh_values
from lessons.one_head.softmax.lesson import softmax_row
from lessons.one_head.tokens import lesson as tokens
from tests.printed import readings

WAITING = "The numbers appear"
LESSONS = ["tokens", "dot_product", "projections", "scores", "mask", "softmax", "output"]


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize(
    "example",
    [{}, {"example": "sentence", "text": "one"}, {"example": "sentence", "text": "a b a c d e f g h i j k l"}],
)
def test_it_opens_with_any_sentence(lesson, example):
    at = open_lesson(lesson, heads=2, **example)
    assert not at.exception
    assert charts(at)


def test_tokens_shows_the_shared_row_of_a_repeated_word():
    at = open_lesson("tokens", example="sentence", text="the cat the dog")
    assert any("“the” (1) and “the” (3) are the same token" in line for line in texts(at))
    table = cells(at)
    assert {key.split()[1].split(",")[0] for key in table if key.startswith("table")} == {"0", "1", "2"}
    assert "|x row 0|" in table["x 2,0"]["lights"] and "|table row 0|" in table["x 2,0"]["lights"]


def test_dot_product_shows_the_notebooks_row_and_sum():
    at = open_lesson("dot_product")
    at.selectbox(key="asks").set_value(2).run()
    table = cells(at)
    assert [table[f"weight {j},0"]["text"] for j in range(6)] == ["0.14", "0.24", "0.23", "0.12", "0.11", "0.16"]
    output = attend_without_weights(run_example(Example()).x).output
    assert [table[f"sum 0,{j}"]["v"] for j in range(3)] == pytest.approx(output[1].tolist())
    at.segmented_control(key="view").set_value("all").run()
    assert cells(at)["output 1,2"]["v"] == pytest.approx(float(output[1, 2]))


def test_projections_meet_where_row_and_column_cross():
    at = open_lesson("projections")
    assert any(
        line.startswith("W_q turns the row of each token, of size 3, into its query, of size 2.") for line in texts(at)
    )
    q = run_example(Example()).heads.q[0]
    assert cells(at)["q 3,1"]["v"] == pytest.approx(float(q[3, 1]))
    assert "|x row 3|" in cells(at)["q 3,1"]["lights"] and "|W_q column 1|" in cells(at)["q 3,1"]["lights"]
    at.segmented_control(key="role").set_value("mirror").run()
    assert cells(at)["xx 1,2"]["v"] == cells(at)["xx 2,1"]["v"]
    assert any(line.startswith("X Xᵀ is symmetric. Q Kᵀ is not:") for line in texts(at))


def test_scores_tells_the_measured_story_and_marks_the_chosen_size():
    at = open_lesson("scores")
    at.select_slider(key="measured_d_k").set_value("256").run()
    std = next(m.std for m in measure_scaling(16, 200, 42) if m.d_k == 256 and not m.divided)
    said = [f"At d_k = 256 the scores have a standard deviation of {text}," for text in readings(std)]
    assert any(one in line for one in said for line in texts(at))
    assert {row["x"] for row in chart(at, 2)[1]["curves"] if row["chosen"]} == {256}


@pytest.mark.parametrize("path", ["one_head/mask", "code/pytorch", "one_head/scores", "one_head/puzzle"])
def test_the_same_choices_show_the_same_screen_which_is_made_once(path, monkeypatch):
    at, shown = open_page(path), []
    monkeypatch.setattr(drawing, "tables_of", shown.append)
    before = chart(at)[1]
    at.run()
    assert not at.exception and chart(at)[1] == before and not shown


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
    assert source_shown(at) == sources_of(zeroed_late, mask_scores)


def test_softmax_shows_every_number_of_a_row():
    at = open_lesson("softmax", asks=6)
    trace = run_example(Example())
    assert any(line.startswith("At temperature 1.0, the largest weight, 21%, goes to “step”.") for line in texts(at))
    at.slider(key="temperature").set_value(0.3).run()
    row = softmax_row(trace.heads.select(0), 5, 0.3)
    assert any(line.startswith("At temperature 0.3") for line in texts(at))
    for step in ("scores", "shifted", "powers", "weights"):
        shown = [cells(at, 1)[f"{step} 0,{j}"]["v"] for j in range(6)]
        assert shown == pytest.approx(getattr(row, step).tolist(), abs=1e-6)


def test_output_puts_weights_beside_contributions():
    at = open_lesson("output", of="parts", asks=6)
    assert not at.exception
    shares = [cells(at)[f"share {j},0"]["v"] for j in range(6)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert source_shown(at) == sources_of(weigh_values, mix_values)


def sources_of(*functions):
    return "\n\n\n".join(inspect.getsource(function).rstrip() for function in functions)


def open_lesson(lesson, **query):
    return open_page(f"one_head/{lesson}", **query)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_class_hides_is_not_there(lesson):
    at = open_lesson(lesson, hide="predict,trace,code,edit")
    assert not at.exception
    assert not at.expander or {panel.label for panel in at.expander} <= {"More"}
    assert in_drawer(at) == ["Numbers and pictures"]
    assert not any("Right at the first try" in line for line in captions(at))
    assert not [button for button in at.button if button.label == "Another question"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_question_is_answered_on_the_page(lesson):
    at = open_lesson(lesson)
    answer(at, lesson, "A")
    assert any(line.startswith(("Yes.", "Not right.")) for line in texts(at))
    assert not at.exception


GIVEN = {
    "tokens": {"table"},
    "dot_product": {"query", "k", "v"},
    "projections": {"x", "W_q"},
    "scores": set(),
    "mask": set(),
    "softmax": set(),
    "output": {"weight", "v"},
}


def grid_of(at):
    """The table of the one figure of matrices on the page, and whether its numbers wait."""
    return next((tables["cells"], bool(tables["covered"])) for _, tables, _ in charts(at) if "cells" in tables)


@pytest.mark.parametrize("lesson", LESSONS)
def test_numbers_can_be_covered_until_an_answer_is_chosen(lesson):
    plain, at = (ask_about_the_figure(open_lesson(lesson, cover=cover), lesson) for cover in ("false", "true"))
    assert not plain.toggle(key="cover").value
    told = set(texts(plain)) - set(texts(at))
    assert at.toggle(key="cover").value
    table, waits = grid_of(at)
    for row in table:
        if row["cell_tag"] and row["cell_tag"].strip("|").split()[0] not in GIVEN[lesson]:
            assert row["kind"] in ("ghost", "masked")
            assert (row["v"], row["text"], row["say"], row["lights"]) == (None, "", "", "")
    kept = {row["cell_tag"].strip("|").split()[0] for row in table if row["cell_tag"] and row["say"]}
    assert kept == GIVEN[lesson]
    assert waits and any(WAITING in line for line in texts(at)) and told
    curves = [row for _, tables, _ in charts(at) for row in tables.get("curves", [])]
    assert all((row["y"], row["low"], row["high"]) == (None, None, None) for row in curves)
    assert not [panel for panel in at.expander if panel.label == CHOOSE]
    assert not at.get("download_button")
    answer(at, lesson, "B")
    assert grid_of(at) == grid_of(plain)
    assert told <= set(texts(at))


def test_another_question_covers_the_numbers_again_and_another_example_does_not():
    at = ask_about_the_figure(open_lesson("mask", cover="true"), "mask")
    answer(at, "mask", "A")
    assert not grid_of(at)[1]
    at.slider(key="d_k").set_value(5).run()
    assert not grid_of(at)[1], "whoever has answered explores freely"
    at.button(key="mask_another").click().run()
    assert grid_of(ask_about_the_figure(at, "mask"))[1]
    at.toggle(key="cover").set_value(False).run()
    assert not grid_of(at)[1]


def test_the_button_beside_a_figure_shows_its_numbers_and_those_of_no_other_question():
    at = ask_about_the_figure(open_lesson("mask", cover="true"), "mask")
    assert grid_of(at)[1]
    at.button(key="show_numbers").click().run()
    assert not at.exception and not grid_of(at)[1] and at.toggle(key="cover").value
    assert chosen(at, "mask") is None and "Right at the first try" not in " ".join(captions(at)), "nothing was answered"
    at.button(key="mask_another").click().run()
    assert grid_of(ask_about_the_figure(at, "mask"))[1]
    at.button(key="show_numbers").click().run()
    at.switch_page(str(ROOT / "pages/one_head/softmax.py")).run()
    ask_about_the_figure(at, "softmax")
    assert grid_of(at)[1], "another page waits for its own answer"


def test_numbers_wait_unless_the_visitor_would_rather_look_and_that_holds_from_page_to_page():
    at = visitor("one_head/mask")
    del at.query_params["cover"]
    ask_about_the_figure(at.run(), "mask")
    assert grid_of(at)[1] and "cover" not in at.query_params
    at.toggle(key="cover").set_value(False).run()
    assert not at.exception and not grid_of(at)[1]
    for page in ("start/overview", "one_head/softmax"):
        at.switch_page(str(ROOT / f"pages/{page}.py")).run()
        assert not at.exception
    ask_about_the_figure(at, "softmax")
    assert not grid_of(at)[1] and not at.toggle(key="cover").value
    at.toggle(key="cover").set_value(True).run()
    assert grid_of(at)[1]


@pytest.mark.parametrize(("lesson", "masked"), [("softmax", True), ("output", True), ("dot_product", False)])
def test_beside_the_switch_of_the_mask_it_is_said_when_the_query_cannot_notice(lesson, masked):
    def told(**query):
        at = open_lesson(lesson, **query)
        return any("changes nothing for the last token" in caption.value for caption in at.sidebar.caption)

    assert told(asks=6) == masked and told(asks=6, causal="false") == masked
    assert not told() and not told(asks=2) and not told(example="sentence", text="one")
    if masked:
        assert chart(open_lesson(lesson, asks=2))[1] != chart(open_lesson(lesson, asks=2, causal="false"))[1]
        last, unmasked = (chart(open_lesson(lesson, asks=6, causal=causal))[1] for causal in ("true", "false"))
        assert last == unmasked, "what is said is true"


def test_a_question_that_the_figures_do_not_answer_covers_nothing():
    at = open_lesson("tokens", cover="true")
    for _ in range(12):
        number = at.session_state["tokens_question"] if "tokens_question" in at.session_state else 0  # noqa: SIM401
        asked = tokens.screen(run_example(Example()), 0, tokens.Choices()).ask(number)
        assert grid_of(at)[1] == asked.in_figure
        at.button(key="tokens_another").click().run()


def test_without_questions_nothing_is_covered():
    at = open_lesson("output", cover="true", hide="predict")
    assert not grid_of(at)[1]


@pytest.mark.parametrize("lesson", LESSONS)
def test_captions_can_be_left_to_the_class(lesson):
    plain, at = open_lesson(lesson), open_lesson(lesson, hide="caption")
    assert set(texts(plain)) - set(texts(at)), "what there is to notice"
    assert {said for _, _, said in charts(at)} <= {None, "What to notice is left for you to find."}
    assert grid_of(at)[0] == grid_of(plain)[0]


LEFT_OUT = "{ display: none }</style>"


def test_a_control_is_hidden_by_its_key_and_keeps_what_the_link_says():
    at = open_lesson("mask", hide="seed,d_v,mask,</style>,x{}", seed="7", mask="window")
    (style,) = (element.proto.body for element in at.get("html") if element.proto.body.endswith(LEFT_OUT))
    assert (
        style
        == "<style>" + "".join(f".st-key-{key} {{ display: none }}" for key in ("seed", "d_v", "mask")) + "</style>"
    )
    assert at.number_input(key="seed").value == 7
    assert at.segmented_control(key="mask").value == "window"
    shown = [element.proto.body for element in open_lesson("mask").get("html")]
    assert shown and not any(body.endswith(LEFT_OUT) for body in shown)


@pytest.mark.parametrize("lesson", ["one_head/mask", "model/positions", "code/pytorch"])
def test_where_a_lesson_has_its_own_mask_the_switch_waits_as_it_was_left(lesson):
    at = open_page(lesson, causal="false")
    assert at.toggle(key="causal").disabled and not at.toggle(key="causal").value
    assert open_page("one_head/scores", causal="false").toggle(key="causal").disabled is False
    assert "causal" in at.query_params


MOVED = {
    "d_k": {"d_k": 5},
    "d_v": {"d_v": 5},
    "heads": {"n_heads": 3},
    "init": {"weight_kind": "small"},
    "d_model": {"d_model": 7},
    "seed": {"seed": 7},
    "causal": {"causal": False},
    "scaling": {"scaling": False},
    "turned": {"turned": False},
}


HIDDEN = re.search(r"st-key-x_alone :is\(([^)]*)\)", (ROOT / "attention_ui" / "frame.css").read_text())[1]


@pytest.mark.parametrize("source", ["meanings", "journey", "sentence", "language", "pronouns"])
def test_of_the_dot_product_exactly_the_controls_are_hidden_that_change_nothing(source):
    at = open_lesson("dot_product", example=source, d_k="5", trained_for="0")
    hidden = set(re.findall(r"\.st-key-(\w+)", HIDDEN))
    assert "x_alone" in keys_of_blocks(at) and "x_alone" not in keys_of_blocks(open_lesson("scores"))
    if "seed_of_maps" in hidden & keys_of_blocks(at):
        hidden.add("seed")
    example = Example(source=source, updates=0)

    def drawn(example):
        screen = dot_product.screen(run_example(example), 0, dot_product.Choices("all", 0))
        return [matrix.values.tolist() for matrix in screen.figures[0].matrices]

    controls = {control.key for kind in (at.slider, at.number_input, at.toggle, at.selectbox) for control in kind}
    for key in controls & set(MOVED):
        same = drawn(replace(example, **MOVED[key])) == drawn(example)
        assert same == (key in hidden), (source, key)
    if source in ("meanings", "sentence"):
        assert at.slider(key="d_k").value == 5, "the other lessons keep it"


def test_moving_a_size_of_the_real_model_is_not_offered_where_x_alone_is_used():
    at = open_lesson("dot_product", example="language")
    sizes = [control.key for kind in (at.select_slider, at.number_input) for control in kind]
    assert len(sizes) == 5 and all(key.startswith("real_") for key in sizes) and '[class*="st-key-real_"]' in HIDDEN


def keys_of_blocks(at):
    """The keys of all containers on the page."""
    waiting, keys = [at._tree[block] for block in at._tree.children], set()
    while waiting:
        block = waiting.pop()
        keys.add(getattr(block.proto, "id", "").rpartition("-")[2])
        waiting += [child for child in getattr(block, "children", {}).values()]
    return keys
