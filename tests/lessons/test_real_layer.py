"""The layer of the real language model that ships, and any other layer where the model is here."""

import base64
import gc
import json
import sys
import types
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import torch
from printed_lines import wrong
from safetensors import safe_open
from screens import Case, check_said
from test_every_screen import LESSONS, file_of

from attention_core.one_head.turning import FEATURES
from lessons.example.example import Example, as_stored, run_afresh, run_example
from lessons.example.layer_on_text import MAPS, SHIPPED_FILE, shipped_layer
from lessons.example.real_layer import NOT_HERE
from lessons.example.real_model import DEFAULT_HEAD, DEFAULT_LAYER, DEFAULT_TEXT, cut_text
from lessons.one_head.softmax import lesson as softmax
from lessons.screen import matrices_figures, packed_literal, program_of, render
from training.ship_layer import layer_to_ship

SHIPPED = Example(source="language", text="", layer=DEFAULT_LAYER + 1)
ONE_HEAD = ("dot_product", "projections", "scores", "mask", "softmax", "output")


def head_by_hand(x, maps, base, head, kv_heads=9, d_k=64):
    """Weights of a head from the rows of x: rotary positions on neighbouring pairs, scores ÷ √64, a softmax a row."""
    kv = head * kv_heads // 9
    q, k = (x @ maps[name][:, part * d_k : (part + 1) * d_k] for name, part in (("W_q", head), ("W_k", kv)))
    angles = np.arange(len(x))[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)
    turned = [
        np.stack([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1).reshape(
            -1, d_k
        )
        for a, b in ((rows[:, 0::2], rows[:, 1::2]) for rows in (q, k))
    ]
    weights = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        powers = np.exp([turned[0][i] @ turned[1][j] / 8 for j in range(i + 1)])
        weights[i, : i + 1] = powers / powers.sum()
    return weights


def test_the_shipped_layer_is_computed_from_the_numbers_of_its_file():
    with safe_open(SHIPPED_FILE, "np") as file:
        about = json.loads(file.metadata()["about"])
        tensors = {name: file.get_tensor(name).astype(float) for name in ("x", "W_q", "W_k")}
    trace = run_example(SHIPPED)
    for head in range(9):
        found = head_by_hand(tensors["x"], tensors, about["config"]["rotary"]["base"], head, kv_heads=3)
        np.testing.assert_allclose(trace.heads.weights[head].numpy(), found, atol=1e-4)
    it, cat = (trace.tokens.index(word) for word in ("it", "cat"))
    assert float(trace.heads.weights[DEFAULT_HEAD, it, cat]) == pytest.approx(0.804, abs=5e-4)


def test_heads_that_share_keys_have_equal_maps():
    maps = shipped_layer().attention
    groups = maps.W_k.unflatten(-1, (3, 3, 64))
    assert torch.equal(groups[:, :, 0], groups[:, :, 2]) and not torch.equal(groups[:, 0], groups[:, 1])


def test_turned_or_as_stored_scores_and_weights_are_the_same():
    turned = run_example(SHIPPED)
    stored = as_stored(turned)
    assert stored.turn is None and not torch.allclose(turned.heads.q, stored.heads.q)
    for name in ("scores", "weights"):
        torch.testing.assert_close(getattr(turned.heads, name), getattr(stored.heads, name), atol=2e-4, rtol=1e-4)
    lengths = (turned.heads.output.norm(dim=-1), stored.heads.output.norm(dim=-1))
    torch.testing.assert_close(*lengths, atol=1e-4, rtol=1e-4)


@pytest.mark.part(2)
@pytest.mark.parametrize("lesson", ONE_HEAD)
def test_every_line_of_the_real_head_can_be_computed_again(lesson, shapes_taken_for_granted):
    trace, module = run_example(SHIPPED), import_module(LESSONS[lesson])
    for choices in file_of(lesson).cases(trace):
        for figure in matrices_figures(module.screen(trace, DEFAULT_HEAD, choices).figures):
            for matrix in figure.matrices:
                check_lines(matrix)


@pytest.mark.parametrize("lesson", ["dot_product", "scores", "mask", "softmax", "output"])
def test_every_sentence_about_the_real_head_is_true(lesson, shapes_taken_for_granted):
    trace, module, wanted = run_example(SHIPPED), import_module(LESSONS[lesson]), file_of(lesson)
    for choices in wanted.cases(trace):
        screen = module.screen(trace, DEFAULT_HEAD, choices)
        check_said(Case(trace, DEFAULT_HEAD, choices, screen), wanted.ORACLE, wanted.ANSWERS)


def check_lines(matrix):
    """The corners and the middle of a matrix, each line of their stories."""
    if matrix.traced is None:
        return
    rows, columns = matrix.values.shape
    for i, j in {(0, 0), (rows - 1, columns - 1), (rows // 2, columns // 2), (rows - 1, 0)}:
        steps = matrix.derive(i, j)
        for step in steps:
            assert not wrong(step.text, float(step.value)), step
            assert "{" not in render(step.meaning)
        assert float(steps[-1].value) == pytest.approx(float(matrix.values[i][j]), rel=1e-3, abs=1e-4, nan_ok=True)


def test_of_many_features_a_few_are_shown_and_it_is_said_of_how_many():
    trace = run_example(SHIPPED)
    screen = softmax.screen(trace, DEFAULT_HEAD, softmax.Choices(7, 1.0))
    story = [render(step.meaning) for step in screen.derive("weights", 7, 1)]
    assert len(story) < 80 and not any("turned head" in line for line in story)
    from lessons.one_head.projections import lesson as projections

    figure = projections.screen(trace, DEFAULT_HEAD, projections.Choices("q")).figures[0]
    shapes = {matrix.key: (matrix.values.shape, render(matrix.remark)) for matrix in figure.matrices}
    assert shapes["q"] == ((10, FEATURES), "10 × 8 of 64")
    assert shapes["x"] == ((10, FEATURES), "10 × 8 of 576")
    assert shapes["W_q"] == ((FEATURES, FEATURES), "8 of 576 × 8 of 64")


def test_the_largest_features_of_x_are_shown_under_their_own_numbers():
    from lessons.one_head.projections import lesson as projections

    trace = run_example(SHIPPED)
    figure = projections.screen(trace, DEFAULT_HEAD, projections.Choices("q")).figures[0]
    x = next(matrix for matrix in figure.matrices if matrix.key == "x")
    sums = trace.x.abs().sum(dim=0)
    shown = [int(label) - 1 for label in x.columns.labels]
    assert shown == sorted(sums.topk(FEATURES).indices.tolist())
    np.testing.assert_array_equal(x.values, trace.x[:, shown])


def test_without_the_model_another_text_is_said_to_need_it():
    assert NOT_HERE in run_example(replace(SHIPPED, text="Dogs bark.")).notes
    assert run_example(SHIPPED).notes == ()
    assert run_example(replace(SHIPPED, text="Dogs bark.")).tokens == run_example(SHIPPED).tokens


def test_the_file_is_what_the_model_gives(smollm2):
    tensors, about = layer_to_ship(smollm2)
    with safe_open(SHIPPED_FILE, "pt") as file:
        assert json.loads(file.metadata()["about"]) == json.loads(json.dumps(about))
        for name, tensor in tensors.items():
            torch.testing.assert_close(file.get_tensor(name), tensor, rtol=2e-3, atol=1e-4)  # one place of 16 bits


def test_any_layer_of_any_text_where_the_model_is_here(smollm2):
    text = "The animal didn't cross the street because it was too tired"
    trace = run_example(Example(source="language", text=text, layer=4, real_model=smollm2))
    ids = cut_text(smollm2, text).ids[:12]
    whole = smollm2.trace(ids)
    torch.testing.assert_close(trace.heads.weights, whole.layers[3].attention.heads.weights, atol=1e-4, rtol=1e-4)
    assert trace.tokens[:5] == ("The", "animal", "didn", "'t", "cross") and len(trace.tokens) == 12
    assert render(trace.trained.label(2)) == "3.2"


def test_sentences_that_are_read_at_the_same_time_share_the_maps_of_their_layer(smollm2):
    cat, dog = (
        run_afresh(Example(source="language", text=text, layer=9, real_model=smollm2)) for text in ("A cat.", "A dog.")
    )
    for name in ("W_q", "W_k", "W_v"):
        assert getattr(cat, name).data_ptr() == getattr(dog, name).data_ptr(), name
    other = run_afresh(replace(dog.example, layer=10))
    assert other.W_k.data_ptr() != dog.W_k.data_ptr()
    attention = smollm2.transformer.layers[8].attention
    assert attention in MAPS
    run_example.cache_clear()  # other tests may have looked at it
    del cat, dog
    gc.collect()
    assert attention not in MAPS, "nobody looks at it any more"


def test_16_bit_numbers_move_no_weight_far(smollm2):
    whole = run_example(replace(SHIPPED, text=DEFAULT_TEXT, real_model=smollm2))
    moved = (whole.heads.weights - run_example(SHIPPED).heads.weights).abs().max()
    assert float(moved) < 0.005


def test_the_program_of_a_screen_runs_by_itself_and_holds_the_numbers_it_begins_with(monkeypatch):
    trace = run_example(SHIPPED)
    program = program_of(softmax.screen(trace, DEFAULT_HEAD, softmax.Choices(7, 1.0)).code.call()).text
    alone = types.ModuleType("alone")
    monkeypatch.setitem(sys.modules, "alone", alone)
    exec(compile(program, "alone", "exec"), vars(alone))
    assert torch.equal(alone.x, trace.x) and torch.equal(alone.turn, trace.turn[DEFAULT_HEAD])
    torch.testing.assert_close(alone.result.head.weights, trace.heads.weights[DEFAULT_HEAD], atol=1e-5, rtol=1e-4)
    assert len(program) < 500_000


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_a_large_array_is_packed_to_its_last_digit(dtype):
    numbers = (np.random.default_rng(3).standard_normal((61, 67)) * 100).astype(dtype)
    for array in (numbers, torch.from_numpy(numbers)):
        found = eval(packed_literal(array), {"np": np, "base64": base64, "torch": torch})
        assert found.dtype == array.dtype and (found == array).all()
