"""Parts of a whole: every bar and every word from the figure, as the lesson on generating has it."""

from dataclasses import replace

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask
from attention_core.model.generation import GeneratedToken
from attention_core.model.sampling import Sampling, draw_token
from attention_ui.figures.cover import covered_table
from attention_ui.figures.roles import COLOUR_ROLES
from attention_ui.figures.sentence.token_text import token_table, token_text_chart
from attention_ui.figures.shares.parts import BAR_PANEL_WIDTH, parts_table
from attention_ui.figures.shares.parts_chart import parts_chart
from attention_ui.figures.template import template
from lessons.example.example import Example, run_example
from lessons.model.generate.lesson import Writing, distribution
from lessons.screen import TextToken, TokenText, message, number
from lessons.today.cost.lesson import Choices, screen

TASK = CharacterTask("abcd <", 3)
LOGITS = torch.tensor([1.5, -3.0, 2.0, 0.0, 1.0, -1.0])  # of “ ”, “<”, “a”, “b”, “c” and “d”


def drawn(**choices):
    sampling = Sampling(**choices)
    draw, looks = draw_token(LOGITS, sampling, generator(5)), (torch.ones(2, 1),)
    new = GeneratedToken(TASK.vocabulary.tokens[draw.token], 1, 0, ("a",), draw, looks)
    return draw, parts_table(distribution(Writing(TASK, ("a",), (new,), new, sampling, 5))).to_pylist()


def bars(rows):
    return [row for row in rows if row["kind"] in ("bar", "drawn", "dropped")]


@pytest.mark.parametrize("sampling", [{}, {"temperature": 2.0, "top_k": 4, "top_p": 0.7}, {"temperature": 0.0}])
def test_every_bar_is_as_long_as_its_probability(sampling):
    of, rows = drawn(**sampling)
    order = sorted(range(6), key=lambda i: -float(LOGITS[i]))
    stages = (of.probabilities, of.tempered, of.final)
    assert len(bars(rows)) == 3 * 6
    for row in bars(rows):
        token = order[row["line"] - 1]
        assert row["from"] == pytest.approx(row["panel"] * BAR_PANEL_WIDTH)
        length = of.tempered[token] if row["kind"] == "dropped" else stages[row["panel"]][token]
        assert row["to"] - row["from"] == pytest.approx(float(length), abs=1e-6)


def test_dropped_parts_say_which_cut_dropped_them_and_differ_by_more_than_colour():
    of, rows = drawn(temperature=2.0, top_k=4, top_p=0.7)
    dropped = {row["line"]: row for row in rows if row["kind"] == "dropped"}
    kept_k, kept = int(of.kept_by_top_k.sum()), int(of.kept.sum())
    assert kept < kept_k == 4
    assert set(dropped) == set(range(kept + 1, 7))
    for line, row in dropped.items():
        assert row["text"] == ("dropped by top-p" if line <= 4 else "dropped by top-k")
        assert row["panel"] == 2
    spec = template(parts_chart, 3, 580, 22)
    marks = [layer["mark"] for layer in spec["layer"] if isinstance(layer["mark"], dict)]
    assert sum("strokeDash" in mark and mark.get("filled") is False for mark in marks) == 1


def test_the_chosen_part_is_marked_in_words_once():
    of, rows = drawn(temperature=1.3)
    marked = [row for row in rows if row["kind"] == "drawn"]
    assert len(marked) == 1 and marked[0]["text"].endswith(" · drawn")
    names = {row["line"]: row["text"] for row in rows if row["kind"] == "name"}
    token = TASK.vocabulary.tokens[of.token].replace(" ", "␣")
    assert names[marked[0]["line"]] == f"▸ {token}"
    assert set(names.values()) == {f"▸ {token}", *"abcd␣<"} - {token}


def test_pointing_at_a_line_says_everything_of_its_part():
    of, rows = drawn(temperature=2.0, top_k=4, top_p=0.7)
    says = {row["line"]: row["say"] for row in rows if row["kind"] == "name"}
    stages = [number(float(stage[2]), 3) for stage in (of.probabilities, of.tempered, of.final)]
    assert says[1] == (
        f"“a”: score 2.00; probability {stages[0]} from the model, {stages[1]} after the temperature, "
        f"{stages[2]} in the draw" + ("; drawn." if of.token == 2 else ".")
    )
    assert says[6].endswith("; dropped by top-k.")


def test_colours_are_roles():
    assert {row["tone"] for row in drawn()[1]} <= set(COLOUR_ROLES)


def test_a_cover_leaves_the_names_and_frames_as_long_as_the_whole():
    of_cost = screen(run_example(Example()), 0, Choices()).figures[0]
    plain = parts_table(of_cost)
    covered = covered_table(plain)
    assert covered.schema == plain.schema and len(covered) == len(plain)
    for row, told in zip(covered.to_pylist(), plain.to_pylist(), strict=True):
        assert row["say"] == ""
        if told["kind"] in ("title", "name"):
            assert (row["kind"], row["text"], row["tone"]) == (told["kind"], told["text"], told["tone"])
        else:
            assert (row["kind"], row["text"], row["tone"]) == ("dropped", "", "hatch")
            assert row["to"] - row["from"] == pytest.approx(1)


@pytest.mark.parametrize(("panels", "fits"), [(1, True), (2, True), (3, False)])
def test_two_panels_are_no_wider_than_the_page_of_a_phone(panels, fits):
    spec = template(parts_chart, panels, 720, 24)
    assert spec["autosize"]["type"] == "fit-x", "names of any length are within the width"
    assert any("windowSize()" in one.get("expr", "") for one in spec["params"]) == fits


def test_the_bar_of_a_token_that_is_cut_off_is_hatched():
    token = TextToken("a", "10%", message("a"), share=0.2)
    figure = TokenText(key="t", name=message("t"), tokens=(token, replace(token, beyond=True)))
    assert token_table(figure)["bar"].to_pylist() == ["weight", "hatch"]
    layers = {one.get("name"): one for one in token_text_chart((1, 1, 1, 1), shares=True, picks=False)["layer"]}
    assert layers["hatches"]["transform"][0] == {"filter": "datum.bar === 'hatch'"}
    assert "hatches" not in str(token_text_chart((1, 1, 1, 1), shares=False, picks=False))
