"""The notebooks' examples on the screen: by link, by the sidebar, and with every switch."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from visiting import cells, chart, open_page, texts

from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from lessons.screen import format_value
from lessons.trace.lines import digits
from tests.printed import as_printed, readings
from tests.rounding import assert_close_for_size

FIXED = [key for key, preset in PRESETS.items() if preset.fixed]
SIZES = {"search": (4, 8, 8), "mat": (6, 16, 16), "batch": (4, 8, 8), "modules": (4, 8, 6)}  # tokens, d_model, d_k


def sidebar_text(at):
    return " ".join(element.value for element in at.sidebar.markdown)


def numbers(at, matrix):
    """All numbers of one matrix as they stand in the figure, by row and column."""
    places = {name.split()[1]: cell["v"] for name, cell in cells(at).items() if name.split()[0] == matrix}
    return {tuple(map(int, place.split(","))): v for place, v in places.items()}


@pytest.mark.parametrize("key", FIXED)
def test_a_link_opens_the_preset_and_its_numbers_are_on_the_screen(key):
    at = open_page(example=key, causal="false")
    assert at.selectbox(key="example").value == key
    assert not any("link" in line for line in texts(at))
    trace = run_example(Example(source=key, causal=False))
    head = trace.heads.select(0)
    n, d_model, d_k = SIZES[key]
    assert trace.x.shape == (n, d_model) and head.k.shape == (n, d_k)
    tensors = {"x": trace.x, "q": head.q, "k": head.k, "v": head.v, "weights": head.weights, "output": head.output}
    beneath = {"weights": head.scaled, "output": head.scaled}
    for matrix, tensor in tensors.items():
        shown = numbers(at, matrix)
        assert len(shown) == tensor.numel()
        assert_close_for_size([*shown.values()], [tensor[place] for place in shown], beneath.get(matrix, tensor))


def test_the_cells_of_the_mat_are_what_the_notebook_computes():
    random = np.random.RandomState(123)
    X = random.randn(6, 16)
    W_Q, W_K, W_V = (random.randn(16, 16) * 0.1 for _ in range(3))
    powers = np.exp((X @ W_Q) @ (X @ W_K).T / math.sqrt(16))
    weights = powers / powers.sum(axis=1, keepdims=True)
    at = open_page(example="mat", causal="false")
    for (i, j), v in numbers(at, "weights").items():
        assert v == pytest.approx(weights[i, j], abs=1e-6)
        said = cells(at)[f"weights {i},{j}"]["say"]
        assert said.rpartition(" ≈ ")[2] in readings(weights[i, j], digits), "the number comes on pointing"
    for place, v in numbers(at, "output").items():
        assert v == pytest.approx((weights @ (X @ W_V))[place], abs=1e-6)


def test_the_cells_of_the_batch_are_what_the_notebook_prints():
    at = open_page(example="batch")
    printed = [0.1808, -0.0700, -0.3596, -0.9152, 0.6258, 0.0255, 0.9545, 0.0643]
    assert [numbers(at, "x")[0, j] for j in range(8)] == as_printed(printed)
    printed = [-0.2882, 0.1333, 0.5673, 1.1221, 0.8594, 0.3488, 0.5764, -0.1420]
    assert [numbers(at, "q")[3, j] for j in range(8)] == as_printed(printed)
    assert numbers(at, "weights")[0, 1] is None, "masked"


def test_the_cells_of_the_modules_are_what_the_notebook_computes():
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(42)
        x = torch.nn.Embedding(50, 8)(torch.tensor([5, 12, 31, 7]))
        W_Q, W_K, W_V = (torch.nn.Linear(8, 6, bias=False)(x) for _ in range(3))
    weights = torch.softmax(W_Q @ W_K.T / math.sqrt(6), dim=-1)
    at = open_page(example="modules", causal="false")
    assert all(v == pytest.approx(float(weights[place]), abs=1e-6) for place, v in numbers(at, "weights").items())
    output = weights @ W_V
    assert all(v == pytest.approx(float(output[place]), abs=1e-6) for place, v in numbers(at, "output").items())


def test_either_sentence_of_the_batch_can_be_looked_at():
    at = open_page(example="batch")
    first = numbers(at, "x")
    at.segmented_control(key="sentence_of_batch").set_value(2).run()
    second = run_example(Example(source="batch", sentence_of_batch=2))
    assert numbers(at, "x") != first
    assert all(v == pytest.approx(float(second.x[place]), rel=1e-6) for place, v in numbers(at, "x").items())
    assert numbers(open_page(example="batch", sentence_of_batch=2), "x") == numbers(at, "x")


def test_a_third_sentence_of_the_batch_is_repaired_and_says_so():
    at = open_page(example="batch", sentence_of_batch=3)
    assert at.segmented_control(key="sentence_of_batch").value == 2
    assert any("sentence_of_batch goes from 1 to 2; 2 is used." in line for line in texts(at))


@pytest.mark.parametrize("key", FIXED)
def test_what_the_notebook_fixes_is_text_and_not_a_control(key):
    at = open_page(example=key)
    drawn = {widget.key for kind in ("slider", "number_input", "text_input", "selectbox") for widget in at.get(kind)}
    assert drawn.isdisjoint({"d_k", "d_v", "d_model", "heads", "seed", "text", "init"})
    assert {toggle.key for toggle in at.toggle} >= {"causal", "scaling"}
    fixed = PRESETS[key].fixed
    said = sidebar_text(at)
    for part in (f"d_{{model}} = {fixed.d_model},", f"d_k = {fixed.d_k},", f"d_v = {fixed.d_v},", "1 head,"):
        assert part in said
    assert f"seed {fixed.seed}" in said and format_value(PRESETS[key].remark) in said


@pytest.mark.parametrize("key", PRESETS)
def test_every_preset_with_every_switch_gives_a_picture(key):
    at = open_page(example=key)
    for causal, scaling in product((False, True), repeat=2):
        at.toggle(key="causal").set_value(causal)
        at.toggle(key="scaling").set_value(scaling).run()
        assert not at.exception
        masked = [v is None for v in numbers(at, "weights").values()]
        assert any(masked) == causal
        d_k = run_example(Example(source=key)).example.d_k
        titles = [row["text"] for row in chart(at)[1]["cells"] if row["kind"] == "title"]
        assert (f"scaled: ÷ √{d_k}" if scaling else "scaled: ÷ 1") in titles


@pytest.mark.parametrize(
    ("step", "sizes"),
    [
        ("X", r"6\times16"),
        ("Q K V", r"(6\times16)\cdot(16\times16) = (6\times16)"),
        ("scores", r"(6\times16)\cdot(16\times6) = (6\times6)"),
        ("scaled", r"\sqrt{16}"),
        ("output", r"(6\times6)\cdot(6\times16) = (6\times16)"),
    ],
)
def test_formulas_have_the_sizes_of_the_notebook(step, sizes):
    assert sizes in open_page(example="mat", step=step).latex[0].value


def test_going_through_the_presets_keeps_the_learners_sentence_and_sizes():
    at = open_page(example="sentence", text="one two three")
    at.session_state["more"] = True
    at.run().slider(key="d_k").set_value(5)
    at.slider(key="d_model").set_value(7)
    at.number_input(key="seed").set_value(99)
    at.slider(key="heads").set_value(2).run()
    before = numbers(at, "x"), numbers(at, "q")
    for key in (*FIXED, "journey", "mat"):
        at.selectbox(key="example").set_value(key).run()
        assert not at.exception
    at.selectbox(key="example").set_value("sentence").run()
    assert at.text_input(key="text").value == "one two three"
    assert [at.slider(key=name).value for name in ("d_k", "d_model", "heads")] == [5, 7, 2]
    assert at.number_input(key="seed").value == 99
    assert (numbers(at, "x"), numbers(at, "q")) == before


def test_a_link_to_a_preset_keeps_the_sizes_it_also_names():
    at = open_page(example="mat", d_k=5, seed=7)
    at.selectbox(key="example").set_value("journey").run()
    assert at.slider(key="d_k").value == 5
    assert at.number_input(key="seed").value == 7
