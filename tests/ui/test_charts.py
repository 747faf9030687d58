"""What the figures hold: the very numbers of the tensors, and the links between the cells."""

import json
import math
from dataclasses import replace

import altair as alt
import numpy as np
import pytest
import torch

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.measured.observe import observe_texts
from attention_core.model.small_model import ModelConfig
from attention_ui.figures.curves.curves import MOST_POINTS, curves_tables, points_of
from attention_ui.figures.matrices.cells import NAME_SIZE, TITLE_SIZE, grid_chart, number_size
from attention_ui.figures.matrices.grid import (
    FIVE_APART,
    NAME_FONT,
    NUMBER_FONT,
    SMALLEST_CELL_WITHOUT_NUMBER,
    TITLE_FONT,
    DrawnMatrix,
    Grid,
    cell_size,
    cell_text,
    font_size,
    short_text,
)
from attention_ui.figures.matrices.matrices import Layout, both_ways, matrices_table
from attention_ui.figures.template import fitted, template, written_template
from lessons.example.example import Example, run_example
from lessons.learning.train.curves import loss_figure
from lessons.one_head.scores import lesson as scores_lesson
from lessons.screen import Line, message
from lessons.shared.differences import unit_of
from lessons.shared.head_maps import every_head
from lessons.start.overview import matrices_view as overview
from runs.recording import Recording
from runs.run import TrainingRun
from tests.printed import readings
from tests.rounding import assert_close_for_size

# Distinct primes: 5 tokens, d_model 7, d_k 3, d_v 2.
SENTENCE = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11)
KEYS = ("x", "q", "k", "k_transposed", "v", "scores", "scaled", "masked", "weights", "output")


def cells(example=SENTENCE, stage="output", head=0):
    (figure,) = overview.screen(run_example(example), head, overview.Choices(stage)).figures
    rows = matrices_table(figure, Layout(figure), numbered=True).to_pylist()
    return {row["cell_tag"].strip("|"): row for row in rows if row["cell_tag"]}


def lit_by(table, pointed):
    lights = table[pointed]["lights"]
    tags = ("row_tag", "column_tag", "cell_tag")
    return {key for key, row in table.items() if any(row[tag] in lights for tag in tags)}


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
    beneath = {"weights": attention.scaled, "output": attention.scaled}
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
                    assert cell["kind"] == "masked" and cell["v"] is None and cell["text"] == ""
                else:
                    assert_close_for_size(cell["v"], value, tensor, beneath.get(key, 0.0))
                    assert key == "weights" or cell["most"] == pytest.approx(longest.get(key, 3.0), rel=1e-6)
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


def test_only_the_data_changes_with_seed_stage_and_sizes():
    before = json.dumps(template(grid_chart))
    assert template(grid_chart) is template(grid_chart)
    cells(Example(seed=1)), cells(Example(seed=2, d_k=5), "scores")
    assert json.dumps(template(grid_chart)) == before


def test_another_projector_needs_no_other_template():
    template_of_cells = template(grid_chart)
    before = json.dumps(template_of_cells)
    spec = fitted(template_of_cells, turn=23, letters=19)
    told = {param["name"]: param["value"] for param in spec["params"] if "value" in param}
    assert told == {"turn": 23, "letters": 19}
    assert [p["name"] for p in spec["params"]] == [p["name"] for p in template_of_cells["params"]]
    assert spec["layer"] is template_of_cells["layer"] and json.dumps(template_of_cells) == before


@pytest.mark.parametrize("cell", [24, 25, 33, 48, 64])
def test_the_browser_and_the_saved_picture_compute_the_same_font_sizes(cell):
    fonts = {NUMBER_FONT: number_size(FIVE_APART), NAME_FONT: NAME_SIZE, TITLE_FONT: TITLE_SIZE}
    for font, expression in fonts.items():
        found = eval(expression, {"max": max, "min": min, "cell": cell, "letters": 0})
        assert found == pytest.approx(font_size(font, cell)) and found >= 13


def test_builders_return_altair_charts():
    assert isinstance(grid_chart(), alt.LayerChart)


def test_areas_and_lengths_have_fixed_domains_and_no_scale_but_that_of_the_roles():
    layers = template(grid_chart)["layer"]
    (drawn,) = (layer["mark"] for layer in layers if "size" in layer["mark"] and "clamp" in str(layer["mark"]))
    assert "0.88 * sqrt(clamp(datum.v, 0, 1))" in drawn["shape"]["expr"], "so that its area is the weight"
    assert "datum.kind === 'score' ? datum.v / datum.most : datum.v, -1, 1)" in drawn["shape"]["expr"]
    colours = [
        layer["encoding"][channel]["scale"]
        for layer in layers
        for channel in ("fill", "color")
        if "scale" in layer.get("encoding", {}).get(channel, {})
    ]
    assert colours and all(scale["range"] == "category" for scale in colours)


def test_the_written_template_is_the_one_that_altair_builds():
    again = "the template has changed: run `python -m attention_ui.figures.matrices.cells` to write it down again"
    built, written = dict(template(grid_chart)), dict(written_template("matrices/grid_chart"))
    built.pop("$schema"), written.pop("$schema")  # names the version of Vega-Lite, another for each Altair
    assert built == written, again


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


def test_differences_are_multiples_of_their_unit_and_every_cell_has_its_number():
    gap = torch.tensor([[2.4e-7, -2.4e-7, 0.0], [-1.49e-8, 3e-11, 5.96e-8]], dtype=torch.float64)
    grid = Grid(lambda *_: "", lambda *_: "")
    grid.matrix(DrawnMatrix("gap", "", gap.tolist(), unit=unit_of(gap)), 0, 0)
    rows = grid.table().to_pylist()
    assert [row["text"] for row in rows] == ["24.0", "−24.0", "0", "−1.49", "0.00", "5.96"]
    assert [row["short"] for row in rows] == ["24.0", "−24", "0", "−1.5", "0.00", "5.96"]
    assert [unit_of(torch.tensor([size])) for size in (0.0, 0.5, 7.0)] == [1.0] * 3, "two decimals show these as well"


def test_cells_shrink_to_fit_but_never_below_what_can_be_read():
    assert cell_size(36, 1010) == 28
    assert cell_size(500, 1010) == 26
    assert cell_size(1, 1010) == 32
    assert cell_size(500, 1010, numbered=False) == SMALLEST_CELL_WITHOUT_NUMBER


def test_user_text_stays_in_the_data():
    table = cells(Example(source="sentence", text="datum.v {{x}} ${y} <script>"))
    spec = json.dumps(template(grid_chart))
    assert "<script" not in spec and "{{x}}" not in spec
    assert any("<script>" in row["say"] for row in table.values())


def test_on_a_narrow_screen_every_cell_has_its_place_once_more_and_no_two_the_same():
    (figure,) = overview.screen(run_example(SENTENCE), 0, overview.Choices("output")).figures
    layout = Layout(figure)
    *rows, corner = both_ways(figure, matrices_table(figure, layout, numbered=True), layout).to_pylist()
    again = [(row["nx"], row["ny"]) for row in rows if row["cell_tag"]]
    assert len(set(again)) == len(again) and min(map(min, again)) >= 0
    assert max(x for x, _ in again) < corner["nx"] < corner["gx"]
    assert max(row["ny"] for row in rows) + 1 == corner["ny"] > corner["gy"]
    assert all(max(row["gx"], row["nx"]) >= 0 for row in rows), "nothing is nowhere"
    titles = [sorted(row["text"] for row in rows if row["kind"] == "title" and row[x] >= 0) for x in ("gx", "nx")]
    assert titles[0] == titles[1] and len(titles[0]) == len(figure.matrices)
    named = [row["ny"] for row in rows if row["kind"] == "row" and row["nx"] >= 0 and row["text"] == "a"]
    rows_of_a = {place.top for place in Layout(figure, stacked=True).places if place.matrix.rows.named}
    assert len(set(named)) == len(named) and set(named) == rows_of_a, "each line names its rows, once"
    assert len({row["place"] for row in rows}) >= len({(row["gx"], row["gy"]) for row in rows})


def test_a_single_matrix_stands_the_same_way_on_a_narrow_screen():
    figure = every_head(*tokens_and_layers(n_heads=1, n_layers=1))
    layout = Layout(figure)
    table = both_ways(figure, matrices_table(figure, layout, numbered=False), layout)
    assert table["nx"] == table["gx"] and table["ny"] == table["gy"]


def test_a_heads_figure_has_every_weight_of_every_head():
    watched, _ = watched_untrained(n_heads=2, n_layers=2)
    figure = every_head(watched.tokens, watched.layers)
    rows = matrices_table(figure, Layout(figure), numbered=True).to_pylist()
    table = {row["cell_tag"].strip("|"): row for row in rows if row["cell_tag"]}
    n = len(watched.tokens)
    assert len(table) == 2 * 2 * n * n
    for layer, trace in enumerate(watched.layers):
        for head in range(2):
            for i in range(n):
                for j in range(i + 1):
                    assert math.isclose(table[f"{layer}.{head} {i},{j}"]["v"], trace.weights[head, i, j], rel_tol=1e-6)
                assert all(table[f"{layer}.{head} {i},{j}"]["kind"] == "masked" for j in range(i + 1, n))


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


def test_a_changed_cell_carries_a_mark_of_its_own_at_the_same_place():
    grid = Grid(lambda key, i, j: "", lambda key, i, j: "")
    grid.matrix(
        DrawnMatrix("m", "m", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], changed=[[False] * 3, [False, True, False]]), 4, 7
    )
    rows = grid.table().to_pylist()
    assert [(r["gx"], r["gy"]) for r in rows if r["kind"] == "changed"] == [(5, 8)]
    assert sum(r["kind"] == "score" for r in rows) == 6


def test_below_matrices_every_sentence_of_a_hint_has_a_line_of_its_own():
    """Two in one line are wider than a phone."""
    watched, _ = watched_untrained(n_heads=2, n_layers=1)
    figure = replace(every_head(watched.tokens, watched.layers), hint=message("Rows are queries. Click on one."))
    rows = matrices_table(figure, Layout(figure), numbered=False).to_pylist()
    assert [row["text"] for row in rows if row["kind"] == "hint"] == ["Rows are queries.\nClick on one."]


@pytest.mark.parametrize("example", [Example(source="language"), Example()])
def test_scores_of_a_page_have_one_scale_and_none_is_cut(example):
    """So one sees that they are divided by √d_k, also where they are large."""
    trace = run_example(example)
    figure = next(scores_lesson.screen(trace, 0, scores_lesson.Choices()).figures.__iter__())
    drawn = [row for row in matrices_table(figure, Layout(figure), numbered=True).to_pylist() if row["kind"] == "score"]
    values = [one.values[torch.as_tensor(one.visible)] for one in figure.matrices]
    most = max(3.0, *(float(one.abs().max()) for one in values))
    assert all(row["most"] == pytest.approx(most, rel=1e-6) for row in drawn)
    assert sorted(row["v"] for row in drawn) == pytest.approx(sorted(torch.cat(values).tolist()), abs=1e-5)
