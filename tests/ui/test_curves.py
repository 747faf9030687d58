"""Figures of curves: their numbers arrive, their template stays, and a long line is thinned evenly."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from attention_core.learning.tasks import TASKS
from attention_ui.figures.cover import covered_table
from attention_ui.figures.curves import curves_chart as curves_chart_module
from attention_ui.figures.curves.curve_names import LETTERS_OF_NAMES, Plot, level_names, line_names, mark_names
from attention_ui.figures.curves.curves import MOST_POINTS, covered_shape, curves_numbers, curves_tables, shape_of
from attention_ui.figures.curves.curves_chart import curves_chart
from attention_ui.figures.export import csv_of
from attention_ui.figures.template import template
from lessons.learning.train.curves import baseline_name
from lessons.screen import Curves, Fixed, Line, message
from words import LANGUAGES, speaking


def curve(key="a", y=(3.0, 1.0, 2.0), x=(1.0, 2.0, 4.0), **look):
    return Line(key=key, name=message("{word}", word=key), x=x, y=y, **look)


def curves(*lines, **look):
    return Curves(
        key="curves", name=message("Curves"), x=message("d_k"), y=message("entropy"), lines=lines or (curve(),), **look
    )


def rows(figure, table="curves"):
    return curves_tables(figure)[table].to_pylist()


def test_every_point_is_in_the_table_and_the_chosen_ones_are_marked():
    points = rows(curves(curve("a"), curve("b", (5.0, 7.0, 11.0), style="dashed"), chosen=2))
    assert [(p["line"], p["x"], p["y"]) for p in points] == [
        ("a", 1, 3),
        ("a", 2, 1),
        ("a", 4, 2),
        ("b", 1, 5),
        ("b", 2, 7),
        ("b", 4, 11),
    ]
    assert [p["chosen"] for p in points] == [False, True, False] * 2
    assert {p["style"] for p in points} == {"line", "dashed"}


def test_points_are_drawn_where_they_are_asked_for_and_as_dots():
    figure = curves(curve("a"), curve("b", points=True), curve("c", style="dots"))
    assert {(p["line"], p["dot"]) for p in rows(figure)} == {("a", False), ("b", True), ("c", True)}


def test_a_band_has_its_edges_and_a_line_without_one_has_none():
    banded = curve(low=(2.0, 0.0, 1.0), high=(4.0, 2.0, 3.0))
    assert [(p["low"], p["high"]) for p in rows(curves(banded))] == [(2, 4), (0, 2), (1, 3)]
    assert shape_of(curves(banded)).banded and not shape_of(curves()).banded


@pytest.mark.parametrize("points", [1, 2, 399, 400, 401, 799, 1201, 5001])
def test_a_long_curve_is_thinned_evenly_from_its_first_point_to_its_last(points):
    y = np.linspace(3.0, 1.0, points)
    drawn = rows(curves(curve(y=y, x=np.arange(points))))
    shown = [int(point["x"]) for point in drawn]
    assert shown[0] == 0 and shown[-1] == points - 1
    assert min(points, MOST_POINTS) // 2 <= len(shown) <= MOST_POINTS
    assert len(set(np.diff(shown[:-1]).tolist())) <= 1, "all equally far apart but the last"
    assert [point["y"] for point in drawn] == pytest.approx(y[shown].tolist(), rel=1e-6)


def test_only_tables_change_between_two_pictures_of_the_same_shape():
    figure = curves(curve("a"), curve("b"), levels=((message("chance"), 2.5),), chosen=2)
    later = replace(figure, lines=(curve("a", (9.0, 8.0, 7.0)), curve("b", (1.0,), (1.0,))), chosen=4)
    assert template(curves_chart, *shape_of(figure)) is template(curves_chart, *shape_of(later))


@pytest.mark.parametrize("ends", [(None, None), ((0, 600), None), (None, (0.0, 1.0)), ((1, 100), (-0.5, 2.5))])
def test_pictures_that_differ_in_height_and_the_ends_of_their_axes_are_made_of_one_template(ends, monkeypatch):
    built = []
    monkeypatch.setattr(curves_chart_module, "curves_chart", lambda *shape: built.append(shape) or curves_chart(*shape))

    def ending(x_domain, y_domain):
        return shape_of(curves(curve("a"), levels=((message("chance"), 2.5),), x_domain=x_domain, y_domain=y_domain))

    for further in (0, 7):
        shape = ending(*(None if axis is None else (axis[0], axis[1] + further) for axis in ends))
        shape = shape._replace(height=shape.height + further, marked=True)
        made = curves_chart_module.curves_template.__wrapped__(shape), template(curves_chart, *shape)
        ours, theirs = (re.sub("view_[0-9a-f]+", "view", json.dumps(spec)) for spec in made)  # named by their content
        assert ours == theirs
    assert len(built) == 1


def test_levels_have_their_names_and_zero_is_one_where_curves_change_sign():
    assert [(row["name"], row["y"]) for row in rows(curves(levels=((message("chance"), 2.5),)), "levels")] == [
        ("chance", 2.5)
    ]
    assert [(row["name"], row["y"]) for row in rows(curves(y_domain=(-1, 1)), "levels")] == [("", 0)]
    assert not rows(curves(y_domain=(0, 1)), "levels") and not shape_of(curves()).levelled


def test_names_of_several_lines_do_not_lie_on_each_other():
    near = curves(*(curve(key, (0.0, 0.5, end)) for key, end in (("a", 0.95), ("b", 0.94), ("c", 0.93))))
    names = rows(replace(near, y_domain=(0, 1)), "names")
    heights = sorted(182 * (1 - name["y"]) + name["away"] for name in names)
    assert len(names) == 3 and min(np.diff(heights)) >= 11.9 and heights[0] >= 0
    assert {name["align"] for name in names} == {"right"}
    assert not rows(curves(), "names"), "a single curve is named by its axis"


def test_names_at_the_foot_of_a_picture_stand_above_each_other_as_their_lines_end():
    low = curves(curve("a", (0.04,), (0.0,)), curve("b", (0.09,), (0.0,)), height=140, y_domain=(0, 1))
    heights = {name["name"]: 72 * (1 - name["y"]) + name["away"] for name in rows(low, "names")}
    assert heights["b"] <= heights["a"] - 12 and heights["a"] <= 68


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize("ends", [(0.32, 0.34), (0.34, 0.32), (0.5, 0.51, 0.53), (0.8, 0.86), (0.07, 0.03, 0.11)])
def test_of_two_lines_the_upper_ones_name_is_the_upper_one(ends, rising):
    begin = 0.0 if rising else 1.0
    figure = curves(*(curve(str(end), (begin, (begin + end) / 2, end)) for end in ends), y_domain=(0, 1))
    names = rows(figure, "names")
    heights = {float(name["name"]): (figure.height - 68) * (1 - name["y"]) + name["away"] for name in names}
    assert sorted(heights, key=heights.get) == sorted(ends, reverse=True)


def test_on_logarithmic_axes_names_stand_where_the_ends_are():
    lines = [curve(key, heights, (1.0, 10.0, 100.0)) for key, heights in (("a", (1.0, 10.0, 90.0)), ("b", (1, 2, 3)))]
    figure = curves(
        *lines, logarithmic=True, logarithmic_y=True, y_domain=(1, 1000), marks=((message("middle"), 10.0),)
    )
    assert {name["align"] for name in rows(figure, "names")} == {"right"}
    (mark,) = rows(figure, "marks")
    assert mark["align"] == "right", "halfway from 1 to 100"
    scales = [part for part in str(template(curves_chart, *shape_of(figure))).split("scale") if "'log'" in part]
    assert any("'base': 10" in part for part in scales) and any("'base': 2" in part for part in scales)


def test_a_line_without_a_point_yet_draws_nothing():
    empty = curve("b", (), (), style="dots")
    assert {p["line"] for p in rows(curves(curve("a"), empty))} == {"a"}
    assert template(curves_chart, *shape_of(curves(curve("a"), empty)))


def test_the_numbers_of_several_figures_make_one_file():
    banded = replace(curves(curve(low=(1.0, 1.0, 1.0), high=(5.0, 5.0, 5.0))), y=message("cosine"))
    table = curves_numbers([curves(), banded])
    assert csv_of(table).decode("utf-8-sig").splitlines()[:2] == [
        "measure,curve,x,value,low,high",
        "entropy,a,1.0,3.0,,",
    ]
    lines = table.to_pylist()
    assert [(line["measure"], line["value"], line["low"]) for line in lines] == [
        ("entropy", 3, None),
        ("entropy", 1, None),
        ("entropy", 2, None),
        ("cosine", 3, 1),
        ("cosine", 1, 1),
        ("cosine", 2, 1),
    ]


def test_a_cover_leaves_the_axes():
    figure = curves(curve("a"), curve("b"), levels=((message("chance"), 2.5),), marks=((message("here"), 2.0),))
    for name, table in curves_tables(figure).items():
        assert isinstance(table, pa.Table) and len(table)
        covered = covered_table(table)
        if name != "curves":
            assert not len(covered)
            continue
        assert covered.schema == table.schema and covered["x"] == table["x"], "what stands on the x axis"
        for row in covered.to_pylist():
            assert (row["y"], row["low"], row["high"], row["dot"], row["chosen"]) == (None, None, None, False, False)


def encodings(view):
    yield from [view["encoding"]] if "encoding" in view else []
    for layer in view.get("layer", ()):
        yield from encodings(layer)


@pytest.mark.parametrize("look", [{}, {"logarithmic": True, "logarithmic_y": True}, {"y_domain": (-2.0, 5.0)}])
def test_while_its_heights_are_covered_vega_need_not_look_for_a_range(look):
    figure = curves(
        curve(),
        curve("b", y=(7.0, 8.0, 9.0), low=(6.0, 7.0, 8.0), high=(8.0, 9.0, 9.5)),
        levels=((message("chance"), 2.5),),
        marks=((message("here"), 2.0),),
        **look,
    )
    chart = template(curves_chart, *covered_shape(figure))
    axes = [one[name] for one in encodings(chart) for name in "xy" if "field" in one.get(name, {})]
    assert {axis["field"] for axis in axes} == {"x", "y", "low"}
    for axis in axes:
        expected = (1, 4) if axis["field"] == "x" else look.get("y_domain", (1, 10))
        assert tuple(axis["scale"]["domain"]) == expected
        if axis["field"] != "x":
            assert (axis["axis"].get("values") == []) == ("y_domain" not in look), (
                "numbers on an axis that means nothing"
            )


def test_a_range_of_a_covered_figure_tells_nothing_of_its_heights():
    shapes = {covered_shape(curves(curve(y=y))) for y in ((3.0, 1.0, 2.0), (30.0, 10.0, -20.0))}
    assert len(shapes) == 1


@pytest.mark.parametrize("code", LANGUAGES)
def test_names_stand_beside_curves_that_fall_and_rise_in_every_language(code):
    x = np.linspace(0, 600, 120)
    falls = 3.2 / (1 + np.exp((x - 130) / 8)) + 0.04 * np.abs(np.sin(x))
    with speaking(code):
        loss = curves(
            curve("loss", falls, x),
            curve("test", falls[::7], x[::7], style="dots"),
            x_domain=(0, 600),
            width=270,
            levels=tuple(
                (message("{baseline}: {loss}", baseline=baseline_name(b), loss=Fixed(b.loss)), b.loss)
                for b in TASKS["induction"].baselines()
            ),
            marks=((message("previous-token head"), 120.0), (message("induction head"), 140.0)),
        )
        rises = curves(
            curve("right answers", 1 - falls / 3.4, x),
            curve("weight on target cells", 0.92 - falls / 4, x),
            x_domain=(0, 600),
            y_domain=(0, 1),
            width=270,
            levels=((message("enough"), 0.95),),
        )
        for figure, height in ((loss, 136), (rises, 100)):  # as they stand beside maps, in letters of 13 pixels
            plot = Plot(figure, figure.width, height, 13 / LETTERS_OF_NAMES)
            names = [*(line_names(plot) if figure is rises else ()), *level_names(plot), *mark_names(plot)]
            boxes, plot.taken[:] = list(plot.taken), []
            assert len(boxes) == len(names) and [plot.in_the_way(box) for box in boxes] == [0] * len(names)


def test_a_loss_that_is_no_number_has_its_name_all_the_same():
    lost = curves(
        curve(y=(1.0, math.nan, math.inf)),
        curve("b", (3.0, math.nan, math.nan)),
        levels=((message("chance"), 2.5),),
        marks=((message("here"), 2.0),),
    )
    assert {name["name"] for name in rows(lost, "names")} == {"a", "b"}


def test_of_two_marks_close_to_each_other_each_has_its_name_beside_it():
    marks = ((message("{word}", word="here it is"), 9), (message("{word}", word="from there on"), 11))
    figure = curves(curve(x=(1.0, 30.0), y=(1.0, 2.0)), marks=marks, x_domain=(1.0, 30.0), width=700)
    first, last = rows(figure, "marks")
    assert (first["align"], last["align"]) == ("right", "left") and -8 < first["away"] < 0 < last["away"] < 8
    apart = replace(figure, marks=(marks[0], (marks[1][0], 25)))
    assert [(row["align"], abs(row["away"]) < 8) for row in rows(apart, "marks")] == [("left", True), ("right", True)]


@pytest.mark.parametrize("logarithmic_y", [False, True])
def test_on_a_phone_a_wide_figure_is_as_wide_as_its_page_and_its_names_have_places_of_their_own(logarithmic_y):
    x, least = np.arange(1, 30), 1.0 if logarithmic_y else 0.0
    lines = curve("a name as long as this", least + x / 30, x), curve("another as long", least + x / 29, x)
    levels = (
        (message("{word}", word="a level with a name that is longer than all others, and than a phone is wide"), 1.5),
    )
    look = {"levels": levels, "logarithmic_y": logarithmic_y, "marks": ((message("here"), 15),), "width": 760}
    figure = curves(*lines, **look)
    tables, spec = curves_tables(figure), template(curves_chart, *shape_of(figure))
    signals = {one["name"]: one["expr"] for one in spec["params"] if "expr" in one}
    assert "min(760, windowSize()[0] - 32)" in signals["width"] and signals["narrow"].startswith("width < 562")
    plot = Plot(figure, 358 - (90 if logarithmic_y else 56), 182, 1.0)
    for name, placed in (("names", line_names(plot)), ("levels", level_names(plot)), ("marks", mark_names(plot))):
        for row, expected in zip(tables[name].to_pylist(), placed, strict=True):
            for column in {"away", "aside", "align", "name", "from_top"} & expected.keys():
                assert row[f"narrow_{column}"] == pytest.approx(expected[column], rel=1e-5)
    assert [row["narrow_name"].count("\n") - row["name"].count("\n") for row in tables["levels"].to_pylist()] == [1]
    small = curves_tables(curves(*lines, **(look | {"width": 420})))
    assert all(row["narrow_away"] == row["away"] for name in ("names", "marks") for row in small[name].to_pylist())
