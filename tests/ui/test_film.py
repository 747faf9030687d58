"""A film holds the very weights of every moment, and the browser can move through them."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask
from attention_ui.figures.curves.curves import shape_of
from attention_ui.figures.export import csv_of
from attention_ui.figures.matrices import film_chart as film_chart_module
from attention_ui.figures.matrices.film import cells_of_film, film_tables, jumps_of, still_of
from attention_ui.figures.matrices.film_chart import MATRICES, film_template
from attention_ui.figures.matrices.grid import cell_text
from attention_ui.figures.matrices.matrices import Layout
from lessons.learning.train.lesson import film_steps
from lessons.screen import Curves, Film, Line, message
from lessons.shared.head_maps import every_head

TOKENS = ("a", "b", "a", "c", "d")  # 5 tokens, 3 heads, 2 layers, 7 frames


def frames(count=7, seed=5):
    random = generator(seed)
    q, k, v = torch.randn(3, count, 2, 3, 5, 11, generator=random)
    mask = causal_mask(5)
    return [tuple(attend(q[f, at], k[f, at], v[f, at], mask) for at in range(2)) for f in range(count)]


def film_of(moments, said, **more):
    frames_ = tuple(every_head(TOKENS, layers, width=1000) for layers in moments)
    said = tuple(message("{text}", text=s) for s in said)
    return Film(key="film", name=message("A film"), frames=frames_, moments=said, **more)


def cells_of(film, numbered=True, every=1):
    layout = Layout(film.frames[0])
    return cells_of_film(film.frames, layout, still_of(film.frames[0], layout, numbered=numbered), every)


def tables_of(film, letters=0, **how):
    tables = film_tables(film, cells_of(film, **how), letters=letters)
    return {name: table.to_pylist() for name, table in tables.items()}


SAID = [f"moment {f}" for f in range(7)]


def test_every_weight_of_every_frame_is_there_and_nothing_masked():
    moments = frames()
    rows = tables_of(film_of(moments, SAID))["cells"]
    shown = [row for row in rows if row["kind"] == "weight"]
    for number, layers in enumerate(moments):
        expected = [
            (trace.weights[head, i, j].item(), f"layer {at + 1}, head {head + 1}")
            for at, trace in enumerate(layers)
            for head in range(3)
            for i in range(5)
            for j in range(i + 1)
        ]
        assert len(shown) == len(expected)
        for row, (weight, where) in zip(shown, expected, strict=True):
            assert row[f"moment {number}"] == pytest.approx(weight, abs=1e-7)
            assert row["say"].startswith(where)
    masked = [row for row in rows if row["kind"] == "masked"]
    assert len(masked) == 2 * 3 * 10
    assert all(row[f"moment {number}"] is None and row["text"] == "" for row in masked for number in range(7))
    assert not any("v" in row for row in rows), "no number but those of the moments"


def test_numbers_are_written_as_everywhere_else():
    """The template writes a weight with two decimals, in each cell that has a text."""
    rows = tables_of(film_of(frames(), SAID))["cells"]
    assert all(row["text"] for row in rows if row["kind"] == "weight")
    for weight in (0.0, 0.004, 0.005, 0.0051, 0.5, 0.994, 0.996, 1.0):
        assert cell_text(weight) == f"{weight:.2f}"
    rows = tables_of(film_of(frames(), SAID), numbered=False)["cells"]
    assert not any(row["text"] for row in rows if row["kind"] == "weight")
    assert "format(datum['moment ' + moment], '.2f')" in json.dumps(film_template(7, 20, 30, 9, 1000))


def test_each_frame_says_its_sentence_and_names_are_there_once():
    tables = tables_of(film_of(frames(), SAID))
    assert [(row["frame"], row["text"]) for row in tables["said"]] == list(enumerate(SAID))
    names = [row["text"] for row in tables["cells"] if row["kind"] in ("row", "axis")]
    assert [name for name in names if len(name) == 1] == list(TOKENS) * 2
    assert not any(row["kind"] == "hint" for row in tables["cells"])


def test_a_sentence_is_needed_for_each_frame():
    with pytest.raises(ValueError, match="7 frames, 2 said"):
        tables_of(film_of(frames(), ["one", "two"]))


def curves(x, y, **look):
    lines = (Line(key="one", name=message("one"), x=x, y=y),)
    return Curves(key="loss", name=message("loss"), lines=lines, x=message("x"), y=message("y"), width=322, **look)


@pytest.mark.parametrize(("percent", "written"), [(False, ["0.90", "0.50", "0.20"]), (True, ["90%", "50%", "20%"])])
def test_each_moment_is_marked_on_its_curves_at_the_last_point_before_it(percent, written):
    film = film_of(frames(3), SAID[:3], curves=(curves([0, 20, 40], [0.9, 0.5, 0.2], percent=percent),), at=(0, 39, 40))
    tables = tables_of(film)
    assert [(row["frame"], row["x"], row["text"]) for row in tables["loss_moments"]] == [
        (frame, at, text) for frame, at, text in zip(range(3), (0, 39, 40), written, strict=True)
    ]
    assert [row["y"] for row in tables["loss_moments"]] == pytest.approx([0.9, 0.5, 0.2])
    assert [row["y"] for row in tables["loss_curves"]] == pytest.approx([0.9, 0.5, 0.2])


def marked_film(at, *marks):
    moments = frames(len(at))
    curve = curves(
        [0, 40], [3.0, 0.1], marks=marks, x_domain=(0, 80), levels=((message("high"), 3.0), (message("low"), 0.0))
    )
    return film_of(moments, SAID[: len(at)], curves=(curve,), at=at)


@pytest.mark.parametrize(("x", "frame"), [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2)])
def test_a_mark_leads_to_the_first_moment_that_is_not_before_it(x, frame):
    film = marked_film((0, 20, 40), (message("an induction head"), x))
    (row,) = tables_of(film)["loss_marks"]
    assert (row["x"], row["frame"], row["name"]) == (x, frame, "an induction head")
    assert jumps_of(film) == ((f"{x}: an induction head", frame),)


def test_marks_at_one_moment_are_one_jump_and_their_names_stand_below_each_other():
    film = marked_film((0, 20, 40), (message("one"), 20), (message("two"), 20), (message("three"), 60))
    assert jumps_of(film) == (("20: one and two", 1), ("60: three", 2))
    rows = tables_of(film)["loss_marks"]
    assert [row["align"] for row in rows] == ["left", "left", "right"], "a name stays in the picture"
    places = [row["from_top"] * 250 + row["down"] for row in rows]
    assert all(later - before >= 12 for before, later in pairwise(places))
    assert all(20 < place < 230 for place in places), "between the levels"


def test_a_film_without_marks_has_no_jump_and_no_layer_for_them():
    film = marked_film((0, 20, 40))
    assert jumps_of(film) == () and tables_of(film)["loss_marks"] == []
    plain, marked = (shape_of(one.curves[0], "loss_") for one in (film, marked_film((0, 20), (message("one"), 20))))
    assert "loss_marks" not in json.dumps(film_template(3, 20, 20, 9, 1000, plain))
    assert "jump" not in parameters(film_template(3, 20, 20, 9, 1000, plain))
    spec = film_template(3, 20, 20, 9, 1000, marked, jumps=(("20: one", 1),))
    assert "loss_marks" in json.dumps(spec)
    bound = parameters(spec)["jump"]["bind"]
    assert bound["options"] == [-1, 1] and bound["labels"][1] == "20: one"


def test_the_file_of_a_film_has_the_weights_of_every_moment_and_no_text():
    moments = frames()
    film = film_of(moments, ["=learners+text"] * 7)
    cells = cells_of(film)
    head, *lines = csv_of(cells).decode("utf-8-sig").splitlines()
    assert head.replace('"', "").split(",") == ["matrix", "row", "column", *(f"moment {f}" for f in range(7))]
    assert "learners" not in "".join(lines)
    found = {tuple(line.replace('"', "").split(",")[:3]): line.split(",")[3:] for line in lines}
    for at in range(2):
        for head in range(3):
            for i in range(5):
                for j in range(i + 1):
                    numbers = [moments[f][at].weights[head, i, j].item() for f in range(7)]
                    written_ = np.array(found[f"{at}.{head}", str(i + 1), str(j + 1)], float)
                    assert written_ == pytest.approx(numbers, abs=1e-6)


@pytest.mark.parametrize(("recorded", "most"), [(1, 40), (40, 40), (41, 40), (501, 40), (3, 2)])
def test_frames_are_spread_over_the_whole_run(recorded, most):
    steps = [7 * i for i in range(recorded)]
    chosen = film_steps(steps, most)
    assert len(chosen) == min(recorded, most)
    assert (chosen[0], chosen[-1]) == (steps[0], steps[-1])
    gaps = {b - a for a, b in pairwise(chosen)}
    assert not gaps or max(gaps) - min(gaps) <= 7


def parameters(spec):
    return {param["name"]: param for param in spec["params"]}


def test_a_film_stands_at_its_last_frame_until_somebody_plays_it():
    shape = shape_of(curves([0, 1], [1.0, 0.5]), "loss_")
    given = parameters(film_template(7, 20, 20, 9, 1000, shape))
    assert (given["moment"]["bind"]["min"], given["moment"]["bind"]["max"]) == (0, 6)
    assert (given["moment"]["value"], given["playing"]["value"]) == (6, False)
    assert given["cell"]["value"] == 20 and given["pace"]["value"] in given["pace"]["bind"]["options"]


def test_a_single_moment_has_nothing_to_move():
    given = parameters(film_template(1, 20, 20, 9, 1000))
    assert given["moment"] == {"name": "moment", "value": 0}
    assert not {"playing", "pace"} & set(given)


def views(spec):
    yield spec
    for part in (*spec.get("vconcat", ()), *spec.get("hconcat", ())):
        yield from views(part)


def test_another_size_of_cells_another_length_and_other_heights_of_curves_need_no_other_template(monkeypatch):
    built, real = set(), film_chart_module.template
    monkeypatch.setattr(film_chart_module, "template", lambda *asked: built.add(asked) or real(*asked))
    shape = shape_of(curves([0, 1], [1.0, 0.5]), "loss_")
    for count, cell, height in ((3, 11, 131), (40, 17, 173)):
        shape = shape._replace(height=height)
        spec = film_chart_module.film_template.__wrapped__(count, cell, 20, 7, 1000, shape)
        (matrices,) = [view for view in views(spec) if view.get("name") == MATRICES]
        assert (matrices["width"], matrices["height"]) == (20 * cell, 7 * cell) and parameters(spec)["cell"][
            "value"
        ] == cell
        assert height in [view.get("height") for view in views(spec)]
    assert len(built) == 3, "of what is said, of the matrices and of the curve"


@pytest.mark.parametrize(("columns", "width", "in_lines"), [(29, 1000, [2]), (30, 1000, [1, 2]), (30, 700, [1, 1, 1])])
def test_curves_stand_beside_the_matrices_where_there_is_room_and_else_below(columns, width, in_lines):
    shapes = [shape_of(curves([0, 1], [1.0, 0.5], percent=percent), f"{percent}_") for percent in (True, False)]
    spec = film_template(7, 20, columns, 13, width, *shapes)
    assert [len(line.get("hconcat", [line])) for line in spec["vconcat"][1:]] == in_lines, "below what is said"
    (matrices,) = [view for view in views(spec) if view.get("name") == MATRICES]
    assert (matrices["width"], matrices["height"]) == (20 * columns, 260)
    assert sum("layer" in view and view is not matrices for view in views(spec)) == 3, "what is said, and two curves"
    drawn = [part for view in views(spec) for part in view.get("layer", ()) if view is not matrices]
    limits = [part["mark"]["limit"] for part in drawn if {"align": "left"}.items() <= dict(part["mark"]).items()]
    assert len(limits) == 2 and all(limit < 1000 for limit in limits), "a sentence moves nothing, however long it is"


def test_of_names_beside_small_cells_every_second_is_written_and_what_columns_are_stands_clear_of_what_rows_are():
    shown = film_of(frames(2), ["a", "b"], at=(0, 1))
    layout = Layout(shown.frames[0])
    tops = [place.top for place in layout.places if place.named]
    for every, wanted in ((1, (-2, -1, 0, 1, 2, 3, 4)), (2, (-3, -1, 0, 2, 4))):
        drawn = cells_of(shown, every=every).to_pylist()
        named = sorted(one["gy"] for one in drawn if one["kind"] in ("row", "axis"))
        assert named == sorted(top + row for top in tops for row in wanted)


def test_frames_that_are_alike_share_what_stands_still_and_others_do_not():
    one, other = (every_head(TOKENS, frames(seed=seed)[0]) for seed in (3, 4))
    assert one.alike == other.alike
    first, second = (still_of(frame, Layout(frame)).table for frame in (one, other))
    assert first.equals(second)
    layers, visible = frames()[0], causal_mask(5)
    reworded = every_head(("x", *TOKENS[1:]), layers)
    marked = every_head(TOKENS, layers, visible)
    grey = every_head(TOKENS, layers, left_out=(0, 1))
    seen = every_head(TOKENS, [attend(layer.q, layer.k, layer.v, visible | True) for layer in layers])
    fewer = every_head(TOKENS, layers[:1])
    keys = {frame.alike for frame in (one, reworded, marked, grey, seen, fewer)}
    assert len(keys) == 6
    for frame in (reworded, marked, grey, seen, fewer):
        assert not still_of(frame, Layout(frame)).table.equals(first)
