"""The lesson on PyTorch as a visitor uses it."""

import inspect
import textwrap

import pytest
import torch
from torch import nn
from visiting import answer, asked, cells, chart, chosen, open_page, source_shown, texts

from attention_core.measured.parity import copy_to_pytorch, heads_as_module, heads_built_in, heads_by_hand, random_cases
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.one_head.masks import causal_mask, full_mask
from lessons.code.pytorch.lesson import Choices, screen
from lessons.code.pytorch.random_cases import CASES
from lessons.example.example import Example, run_example
from lessons.model.heads.example import HeadsChosen
from lessons.screen import format_value, magnitude, render_all

FIGURES = ["module", "fused", "weights", "meanings"]
VIEWS = [*FIGURES, "levels", "cases"]
TWELVE = "a b a c d e f g h i j k l"


def open_pytorch(**query):
    return open_page("code/pytorch", **query)


def again(view="module", mask=None, source="sentence", number=0, **choices):
    """What the page must show, computed once more: the facts, the matrices by key, and what there is to notice."""
    running = run_example(Example())
    own = HeadsChosen(source=source, **choices)
    n = {"modules": 4, "modules_builtin": 4}.get(source, 6)
    made = screen(running, 0, Choices(own, causal_mask(n) if mask is None else mask, view, number))
    figures = {figure.key: figure for figure in made.figures}
    shown = figures.get("parity_figure") or figures.get("cases_figure")
    matrices = {matrix.key: matrix.values for matrix in getattr(shown, "matrices", ())}
    return figures, matrices, render_all(shown.notice)


@pytest.mark.parametrize("view", VIEWS)
def test_a_cold_link_opens_every_view(view):
    for example in (
        {},
        {"example": "sentence", "text": "one", "mh_heads": 1},
        {"example": "sentence", "text": TWELVE, "mh_d_model": 12, "mh_heads": 4, "mh_bias": "true", "mask": "window"},
        {"mh": "modules"},
    ):
        at = open_pytorch(parity=view, **example)
        assert at.segmented_control(key="parity").value == view
        assert view == "levels" or chart(at)[2] in (None, *texts(at))
        if "mh_bias" in example:
            assert at.toggle(key="mh_bias").value and at.select_slider(key="mh_heads").value == 4


def test_the_differences_stand_in_large_type():
    sizes = {"d_model": 6, "n_heads": 3, "bias": True}
    at = open_pytorch(mh_d_model=6, mh_heads=3, mh_bias="true")
    figures, matrices, notice = again(**sizes)
    assert [metric.value for metric in at.metric] == [format_value(fact) for _, fact in figures["differences"].facts]
    assert notice in texts(at)
    table = cells(at)
    for key, matrix in matrices.items():
        for i in range(6):
            for j in range(6):
                assert table[f"{key} {i},{j}"]["v"] == pytest.approx(float(matrix[i, j]))
    at.segmented_control(key="parity").set_value("fused").run()
    _, matrices, notice = again("fused", **sizes)
    assert notice in texts(at)
    assert cells(at)["theirs 5,3"]["v"] == pytest.approx(float(matrices["theirs"][5, 3]))


def test_the_notebooks_module_is_compared_number_by_number():
    at = open_pytorch(mh="journey")
    _, matrices, notice = again(source="journey")
    assert matrices["theirs"].shape == (6, 6)
    assert notice in texts(at)
    assert cells(at)["theirs 2,4"]["v"] == pytest.approx(float(matrices["theirs"][2, 4]))


def test_averaged_weights_stand_beside_the_heads():
    at = open_pytorch(parity="weights", mh_heads=4)
    _, matrices, notice = again("weights", n_heads=4)
    assert notice in texts(at)
    table = cells(at)
    heads = [float(matrices[f"map{head}"][4, 2]) for head in range(4)]
    assert [table[f"map{head} 4,2"]["v"] for head in range(4)] == pytest.approx(heads)
    assert table["map4 4,2"]["v"] == pytest.approx(sum(heads) / 4)
    assert table["map4 2,4"]["kind"] == "masked"


def test_what_the_notebooks_print_of_pytorchs_own_module_stands_there():
    at = open_pytorch(mh="modules_builtin", parity="weights", mask="none")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(42)
        x = nn.Embedding(50, 8)(torch.tensor([5, 12, 31, 7])).unsqueeze(1)
        for d_out in (*[6] * 3, *[8] * 8):
            nn.Linear(8, d_out, bias=False)
        _, printed = nn.MultiheadAttention(8, 2, bias=False)(x, x, x)
    table = cells(at)
    for i in range(4):
        shown = [table[f"map2 {i},{j}"]["v"] for j in range(4)]
        assert shown == pytest.approx(printed[0, i].tolist(), abs=1e-6)
    at.selectbox(key="mh").set_value("journey_builtin").run()
    assert any("an output of shape [6, 1, 6] and weights of shape [1, 6, 6]" in line for line in texts(at))


def test_one_mask_is_drawn_in_both_meanings():
    at = open_pytorch(parity="meanings")
    _, matrices, notice = again("meanings")
    assert notice in texts(at)
    table = cells(at)
    for i in range(6):
        for j in range(6):
            assert table[f"mask {i},{j}"]["v"] == (j <= i)
            assert (table[f"blocked {i},{j}"]["kind"] == "masked") == (j <= i)
            assert (table[f"kept {i},{j}"]["kind"] == "masked") == (j > i)
    assert table["kept 5,0"]["v"] == pytest.approx(float(matrices["kept"][5, 0]), abs=1e-6)


def test_every_control_changes_what_is_shown():
    at = open_pytorch()
    at.segmented_control(key="mask").set_value("none").run()
    assert again(mask=full_mask(6))[2] in texts(at)
    at.slider(key="mh_d_model").set_value(12).run()
    at.select_slider(key="mh_heads").set_value(3).run()
    at.toggle(key="mh_bias").set_value(True).run()
    _, matrices, _ = again(mask=full_mask(6), d_model=12, n_heads=3, bias=True)
    assert cells(at)["ours 5,11"]["v"] == pytest.approx(float(matrices["ours"][5, 11]))
    at.selectbox(key="mh").set_value("modules").run()
    _, matrices, _ = again(mask=full_mask(4), source="modules")
    assert cells(at)["ours 3,7"]["v"] == pytest.approx(float(matrices["ours"][3, 7]))


def test_a_press_draws_other_cases_and_the_address_brings_them_back():
    at = open_pytorch(parity="cases")
    for number in (0, 1):
        cases = tuple(random_cases(number, CASES))
        assert again("cases", number=number)[2] in texts(at)
        assert at.metric[0].value == magnitude(max(case.difference for case in cases))
        points = chart(at)[1]["points"]
        assert sorted(point["y"] for point in points) == sorted(c.difference for c in cases if c.difference > 0)
        assert all(magnitude(point["y"]) in point["says"] for point in points)
        at.button(key="cases_again").click().run()
    assert again("cases", number=5)[2] in texts(open_pytorch(parity="cases", cases=5))


def test_three_levels_show_the_code_that_ran():
    at = open_pytorch(parity="levels")
    shown = [code.value for code in at.code if code.language == "python"]
    for function, code in zip((heads_by_hand, heads_as_module, heads_built_in), shown, strict=True):
        assert code.startswith(inspect.getsource(inspect.unwrap(function)).rstrip())
    for step in ("__call__", "project"):
        assert textwrap.dedent(inspect.getsource(getattr(MultiHeadAttention, step))).rstrip() in shown[1]
    said = texts(at)
    assert sum("lines of code" in line and "differs from the same computation" in line for line in said) == 3
    assert any("on this machine, at this moment" in line for line in said)


def test_the_same_weights_are_named_in_both():
    at = open_pytorch()
    assert not at.dataframe
    at.session_state["copied"] = True
    at.run()
    table = again()[0]["copied"]
    assert at.dataframe[0].value.values.tolist() == [[format_value(cell) for cell in row] for row in table.cells]
    assert inspect.getsource(inspect.unwrap(copy_to_pytorch)).rstrip() in source_shown(at)


def test_scaling_switched_off_is_said_to_have_no_effect():
    at = open_pytorch(scaling="false")
    assert any("always divides by √d_head" in line for line in texts(at))
    assert again()[2] in texts(at)


def test_the_example_without_a_module_gives_way():
    at = open_pytorch(mh="drawn")
    assert at.selectbox(key="mh").value == "sentence"
    assert again()[2] in texts(at)


def test_a_question_is_answered_and_another_mask_forgets_the_answer():
    at = open_pytorch()
    while not asked(at).startswith("A boolean mask"):
        at.button(key="pytorch_another").click().run()
    prompt = asked(at)
    answer(at, "pytorch", "A")
    assert any(line.startswith(("Yes.", "Not right.")) for line in texts(at))
    at.segmented_control(key="mask").set_value("none").run()
    if asked(at) == prompt:  # the row that is asked about may be the same under both masks
        at.segmented_control(key="mask").set_value("window").run()
    assert asked(at) != prompt
    assert chosen(at, "pytorch") is None
    at = open_pytorch(hide="predict,code,trace")
    assert not [button for button in at.button if button.label == "Another question"]


def test_the_lesson_before_is_one_press_away():
    labels = [button.label for button in open_pytorch().button]
    assert "← Exercises" in labels and any(label.endswith(" →") for label in labels)
