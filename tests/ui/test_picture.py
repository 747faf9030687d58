"""A figure as an SVG file: the numbers, names and colours of the screen."""

import re
import xml.etree.ElementTree as ET

import pytest

from attention_ui.figures.matrices.picture import shape_of_share, svg_of
from attention_ui.figures.matrices.tables import covered_tables, tables_of
from attention_ui.figures.roles import FIELD, FULL, TINT, in_role_colours, role_colours, role_styles
from lessons.example.example import Example, run_example
from lessons.one_head.output import lesson as output
from lessons.shared.formulas import stage_formula
from lessons.start.overview import matrices_view as overview

SVG = "{http://www.w3.org/2000/svg}"


def picture(tables):
    return ET.fromstring(svg_of(tables).decode())


def texts(root):
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def overview_of(**example):
    (figure,) = overview.screen(run_example(Example(**example)), 0, overview.Choices()).figures
    return tables_of(figure)


def test_every_number_of_the_screen_stands_in_the_picture_and_says_what_it_says_there():
    tables = overview_of(causal=True)
    cells = [
        (table, i, j, text)
        for table in tables["matrices"]
        for i, line in enumerate(table["text"])
        for j, text in enumerate(line)
    ]
    groups = [group for group in picture(tables).iter(f"{SVG}g") if group.find(f"{SVG}rect") is not None]
    groups = [group for group in groups if group.find(f"{SVG}title") is not None]
    assert [group.find(f"{SVG}title").text for group in groups] == [table["say"][i][j] for table, i, j, _ in cells]
    places = []
    for group, (table, i, j, text) in zip(groups, cells, strict=True):
        number, rect = group.find(f"{SVG}text"), group.find(f"{SVG}rect")
        assert (number is None) == (text is None) and (text is None or number.text == text)
        places.append((table["key"], i, j, float(rect.get("x")), float(rect.get("y"))))
        if text is not None:
            assert group.find(f"{SVG}path").get("fill") == role_colours("light")[table["role"]]
    for key, i, j, x, y in places:
        beside = [p for p in places if p[:3] == (key, i, j + 1)] + [p for p in places if p[:3] == (key, i + 1, j)]
        assert all((right > x and down == y) or (right == x and down > y) for *_, right, down in beside)
    for name in tables["matrices"][0]["rows"]["labels"]:
        assert name in texts(picture(tables))


def one_query(trace, query):
    """A figure whose words are a learner's."""
    (figure,) = output.screen(trace, 0, output.Choices("one", query)).figures
    return tables_of(figure)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", 'a"b&c', "]]>", "<!--"])
def test_a_learners_text_stays_text(hostile):
    trace = run_example(Example(source="sentence", text=f"{hostile} two"))
    root = picture(one_query(trace, 0))
    assert {element.tag for element in root.iter()} == {
        SVG + tag for tag in ("svg", "g", "rect", "text", "title", "path")
    }
    assert trace.tokens[0] in texts(root)


def test_everything_ends_within_the_picture_also_titles_of_wide_letters():
    tables = overview_of()
    tables["matrices"][-1] |= {"title": "重み × バリュー" * 4}
    root = picture(tables)
    _, _, width, height = map(float, root.get("viewBox").split())
    groups = [group for group in root if group.tag == f"{SVG}g"]
    (last,) = [group for group in groups if any(text.startswith("重") for text in texts(group))]
    left, top = map(float, re.findall(r"[\d.]+", last.get("transform"))[:2])
    title = next(text for text in last.iter(f"{SVG}text") if "".join(text.itertext()).startswith("重"))
    wide = float(title.get("font-size")) * 4 * (6 + 3 * 0.3)  # six letters as wide as they are high
    assert left + float(title.get("x")) + wide <= width
    assert all(top + float(rect.get("y")) + float(rect.get("height")) <= height for rect in last.iter(f"{SVG}rect"))


def test_what_xml_cannot_hold_is_left_out_of_a_picture():
    tables = overview_of()
    tables["matrices"][0] |= {"title": "one\ufffe\x01two"}
    assert any(text.startswith("onetwo") for text in texts(picture(tables)))


def extent(scale, share, *, numbered=True):
    """The width and the height of what a number draws in a cell of 40 by 30, and whether it ends in a point."""
    drawn = shape_of_share(scale, share, (0, 0, 40, 30), numbered=numbered)
    return float(re.search(r"h(-?[\d.]+)", drawn)[1]), drawn.count("L") > 1


@pytest.mark.parametrize("weight", [0.0, 0.03, 0.12, 0.24, 0.5, 1.0])
def test_a_weight_is_its_share_of_the_floor_or_without_numbers_an_area(weight):
    assert extent("areas", weight)[0] == pytest.approx(40 * weight)
    side = extent("areas", weight, numbered=False)[0]
    assert side**2 / (FULL * 30) ** 2 == pytest.approx(weight, abs=2e-3)


def test_bars_begin_in_the_middle_and_point_to_their_sign_and_what_is_too_long_ends_in_a_point():
    assert [extent("bars", share) for share in (1.0, 0.5, 0.0, -0.5, -1.0)] == [
        (20, False),
        (10, False),
        (0, False),
        (-10, False),
        (-20, False),
    ]
    assert (
        extent("bars", 2)[1]
        and extent("bars", -2)[1]
        and "L40.00," in shape_of_share("bars", 2, (0, 0, 40, 30), numbered=True)
    )


def test_a_covered_figure_has_its_frames():
    tables = one_query(run_example(Example()), 2)
    root = picture(covered_tables(tables, ()))
    frames = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke")]
    assert len(frames) == sum(text is not None for t in tables["matrices"] for line in t["text"] for text in line)
    numbers = {text for t in tables["matrices"] for line in t["text"] for text in line}
    assert not numbers & set(texts(root))


def luminance(colour):
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def mixed(above, below, opacity):
    return [opacity * a + (1 - opacity) * b for a, b in zip(above, below, strict=True)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "panel"])
def test_numbers_read_well_on_every_square(theme, ground):
    colours = {
        role: [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for role, colour in role_colours(theme).items()
    }
    field = mixed(colours["ghost"], colours[ground], FIELD)
    for role in ("ink", "q", "k", "v", "weight"):
        square = mixed(colours[role], field, TINT["ink" if role == "ink" else "role"])
        for ground_of_number in (field, square):
            lighter, darker = sorted((luminance(colours["ink"]), luminance(ground_of_number)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, role


def test_styles_and_formulas_have_the_colours_of_the_charts():
    light, dark = role_colours("light"), role_colours("dark")
    assert (light["weight"], dark["weight"]) == ("#6a3fb5", "#bda2f7")
    assert f"--lab-weight: light-dark({light['weight']}, {dark['weight']});" in role_styles()
    assert f"--lab-line: light-dark({light['line']}, {dark['line']});" in role_styles()
    formula = stage_formula("output", run_example(Example()))
    for theme, colours in (("light", light), ("dark", dark)):
        shown = in_role_colours(formula, theme)
        assert rf"\textcolor{{{colours['weight']}}}{{A}}\textcolor{{{colours['v']}}}{{V}}" in shown
