"""What the figures hold: the very numbers of the tensors, and the links between the cells."""

import re

import numpy as np
import pytest
import torch

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.measured.observe import observe_texts
from attention_core.model.small_model import ModelConfig
from attention_ui.figures.curves.curves import MOST_POINTS, curves_tables, points_of
from attention_ui.figures.matrices.numbers import cell_text, short_text
from attention_ui.figures.matrices.tables import EVERY, tables_of
from lessons.example.example import Example, run_example
from lessons.learning.train.curves import loss_figure
from lessons.one_head.scores import lesson as scores_lesson
from lessons.screen import Line, message
from lessons.shared.head_maps import every_head
from lessons.start.overview import matrices_view as overview
from runs.recording import Recording
from runs.run import TrainingRun
from tests.printed import readings

# Distinct primes: 5 tokens, d_model 7, d_k 3, d_v 2.
SENTENCE = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11)
KEYS = ("x", "q", "k", "k_transposed", "v", "scores", "scaled", "masked", "weights", "output")


def cells_of(figure):
    """What each cell of a figure has, by its name; the names of all that lights up with it among that."""
    data = tables_of(figure)
    keys = [table["key"] for table in data["matrices"]]
    return {
        f"{table['key']} {i},{j}": {name: table[name][i][j] for name in ("text", "share", "say")}
        | {"lights": [(keys[m], *at) for m, *at in table["lights"][i][j]]}
        for table in data["matrices"]
        for i, line in enumerate(table["text"])
        for j in range(len(line))
    }


def cells(example=SENTENCE, stage="output", head=0):
    (figure,) = overview.screen(run_example(example), head, overview.Choices(stage)).figures
    return cells_of(figure)


def lit_by(table, pointed):
    def is_lit(key):
        matrix, i, j = re.fullmatch(r"(\S+) (\d+),(\d+)", key).groups()
        lit = table[pointed]["lights"]
        return any(matrix == m and row in (EVERY, int(i)) and column in (EVERY, int(j)) for m, row, column in lit)

    return {key for key in table if is_lit(key)} | {pointed}


def row(key, i, columns):
    return {f"{key} {i},{j}" for j in range(columns)}


def column(key, j, rows):
    return {f"{key} {i},{j}" for i in range(rows)}


def test_every_number_of_every_tensor_is_in_the_figure():
    trace = run_example(SENTENCE)
    attention = trace.heads.select(0)
    table = cells()
    tensors = {
        key: getattr(attention, key) for key in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
    }
    tensors |= {"x": trace.x, "k_transposed": attention.k.mT}
    on_one_scale = (("x",), ("q", "k", "k_transposed"), ("scores", "scaled", "masked"), ("v", "output"))
    longest = {
        key: max(3.0, *(float(tensors[one][tensors[one].isfinite()].abs().max()) for one in keys))
        for keys in on_one_scale
        for key in keys
    }
    for key, tensor in tensors.items():
        for i, line in enumerate(tensor.tolist()):
            for j, value in enumerate(line):
                cell = table[f"{key} {i},{j}"]
                if key in ("masked", "weights") and j > i:
                    assert cell["text"] is None and cell["share"] is None
                else:
                    share = value if key == "weights" else value / longest[key]
                    assert cell["share"] == pytest.approx(share, abs=1e-3)
                    assert cell["text"] in readings(value, cell_text)
    assert len(table) == sum(tensor.numel() for tensor in tensors.values())


def test_pointing_at_a_score_lights_its_row_of_q_and_its_column_of_k_transposed():
    expected = row("q", 3, 3) | column("k_transposed", 1, 3) | row("k", 1, 3)
    expected |= {f"{key} 3,1" for key in ("scores", "scaled", "masked", "weights")}
    for pointed in ("scores 3,1", "scaled 3,1", "masked 3,1"):
        assert lit_by(cells(), pointed) == expected


def test_pointing_at_a_weight_lights_its_row_and_the_values_it_mixes():
    expected = row("weights", 2, 5) | row("masked", 2, 5) | row("output", 2, 2)
    expected |= row("v", 0, 2) | row("v", 1, 2) | row("v", 2, 2)
    assert lit_by(cells(), "weights 2,1") == expected


def test_pointing_at_an_output_lights_the_weights_and_the_column_of_values():
    expected = row("weights", 3, 5) | {"output 3,1"} | {f"v {m},1" for m in range(4)}
    assert lit_by(cells(), "output 3,1") == expected


def test_a_tag_never_lights_a_cell_whose_number_only_begins_alike():
    long = Example(source="sentence", text=" ".join("abcdefghijkl"), causal=False)
    assert row("q", 11, 2).isdisjoint(lit_by(cells(long), "scores 1,1"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.001, "0.00"),
        (0.005, "0.01"),
        (-0.25, "−0.25"),
        (9.994, "9.99"),
        (-12.34, "−12.3"),
        (123.4, "123"),
        (-99999.0, "−1e5"),
        (float("1e33"), "1e33"),
    ],
)
def test_numbers_fit_their_cells(value, text):
    assert cell_text(value) == text
    assert len(cell_text(value)) <= 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.25, "−0.2"), (-0.04, "0.0"), (-9.951, "−10"), (-9.94, "−9.9"), (-12.34, "−12"), (123.4, "123"), (0.0, "0.0")],
)
def test_a_long_number_is_shorter_where_cells_are_small(value, text):
    assert short_text(value) == text


def test_a_heads_figure_has_every_weight_of_every_head():
    watched, _ = watched_untrained(n_heads=2, n_layers=2)
    figure = every_head(watched.tokens, watched.layers)
    table = cells_of(figure)
    n = len(watched.tokens)
    assert len(table) == 2 * 2 * n * n
    for layer, trace in enumerate(watched.layers):
        for head in range(2):
            for i in range(n):
                for j in range(i + 1):
                    share = float(trace.weights[head, i, j])
                    assert table[f"{layer}.{head} {i},{j}"]["share"] == pytest.approx(share, abs=1e-3)
                assert all(table[f"{layer}.{head} {i},{j}"]["text"] is None for j in range(i + 1, n))


def test_the_loss_figure_has_the_losses_and_spans_the_whole_run():
    _, view = watched_untrained()
    figure, baselines = loss_figure(view), view.settings.task.baselines()
    tables = curves_tables(figure)
    losses = [row["y"] for row in tables["curves"].to_pylist() if row["style"] == "line"]
    assert losses == pytest.approx([view.losses[0]], rel=1e-6)
    assert figure.x_domain == (0, view.settings.steps)
    assert [row["y"] for row in tables["levels"].to_pylist()] == pytest.approx([b.loss for b in baselines])


@pytest.mark.parametrize("steps", [1, 2, 399, 400, 401, 799, 1201, 5001])
def test_a_long_curve_is_thinned_evenly_from_its_first_point_to_its_last(steps):
    losses = np.linspace(3.0, 1.0, steps)
    points = points_of(Line(key="loss", name=message("loss"), x=range(steps), y=losses)).to_pylist()
    shown = [int(point["x"]) for point in points]
    assert shown[0] == 0 and shown[-1] == steps - 1
    assert min(steps, MOST_POINTS) // 2 <= len(shown) <= MOST_POINTS
    assert len(set(np.diff(shown[:-1]).tolist())) <= 1, "all equally far apart but the last"
    assert all(np.diff(shown) > 0)
    assert [point["y"] for point in points] == pytest.approx(losses[shown].tolist(), rel=1e-6)


def tokens_and_layers(**parts):
    watched, _ = watched_untrained(**parts)
    return watched.tokens, watched.layers


def watched_untrained(**parts):
    task = CharacterTask("hello world", 5)
    model = ModelConfig(vocabulary=len(task.vocabulary), context=5, **parts)
    view = TrainingRun(Recording(TrainingSettings(task=task, model=model))).look()
    return observe_texts(view.settings, [view.snapshot], view.settings.task.tokens[:5], 1.0)[0], view


@pytest.mark.parametrize("example", [Example(source="language"), Example()])
def test_scores_of_a_page_have_one_scale_and_none_is_cut(example):
    """So one sees that they are divided by √d_k, also where they are large."""
    trace = run_example(example)
    figure = next(scores_lesson.screen(trace, 0, scores_lesson.Choices()).figures.__iter__())
    values = [one.values[torch.as_tensor(one.visible)] for one in figure.matrices]
    most = max(3.0, *(float(one.abs().max()) for one in values))
    shares = [cell["share"] for cell in cells_of(figure).values() if cell["share"] is not None]
    assert sorted(shares) == pytest.approx(sorted((torch.cat(values) / most).tolist()), abs=1e-3)
    assert max(map(abs, shares)) <= 1
