"""The replay holds the very weights of every recorded moment, one frame each."""

import json
from itertools import pairwise

import pytest
import torch

from attention_core.attention import attend
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from attention_ui.figures.film import ALWAYS, film_table
from attention_ui.figures.film_chart import film_chart
from attention_ui.figures.grid import cell_text
from attention_ui.figures.matrices import Layout
from attention_ui.figures.template import template
from lessons.every_head import every_head
from lessons.screen import Film
from lessons.sentence import say
from lessons.train import film_steps

TOKENS = ("a", "b", "a", "c", "d")  # 5 tokens, 3 heads, 2 layers, 7 frames


def frames(count=7):
    random = generator(5)
    q, k, v = torch.randn(3, count, 2, 3, 5, 11, generator=random)
    mask = causal_mask(5)
    return [tuple(attend(q[f, at], k[f, at], v[f, at], mask) for at in range(2)) for f in range(count)]


def table_of(moments, said):
    frames_ = tuple(every_head(TOKENS, layers, width=1000) for layers in moments)
    film = Film(key="film", name=say("A film"), frames=frames_, moments=tuple(say("{text}", text=s) for s in said))
    return film_table(film, Layout(frames_[0]))


def test_every_weight_of_every_frame_is_there_and_nothing_masked():
    moments = frames()
    rows = table_of(moments, [f"moment {f}" for f in range(7)]).to_pylist()
    for number, layers in enumerate(moments):
        shown = [row for row in rows if row["frame"] == number and row["kind"] == "weight"]
        expected = [
            (trace.weights[head, i, j].item(), f"layer {at + 1}, head {head + 1}")
            for at, trace in enumerate(layers) for head in range(3) for i in range(5) for j in range(i + 1)
        ]  # fmt: skip
        assert len(shown) == len(expected)
        for row, (weight, where) in zip(shown, expected, strict=True):
            assert row["v"] == pytest.approx(weight, abs=1e-7)
            assert row["text"] == cell_text(row["v"])
            assert row["say"].startswith(where)
        masked = [row for row in rows if row["frame"] == number and row["kind"] == "masked"]
        assert len(masked) == 2 * 3 * 10
        assert all(row["v"] is None and row["text"] == "" for row in masked)


def test_each_frame_says_its_sentence_and_names_are_always_there():
    rows = table_of(frames(), [f"moment {f}" for f in range(7)]).to_pylist()
    assert [row["text"] for row in rows if row["kind"] == "shape"] == [f"moment {f}" for f in range(7)]
    names = [row["text"] for row in rows if row["kind"] == "row"]
    assert [name for name in names if len(name) == 1] == list(TOKENS) * 2
    assert {row["frame"] for row in rows if row["kind"] in ("row", "letter", "title", "filler")} == {ALWAYS}


def test_a_sentence_is_needed_for_each_frame():
    with pytest.raises(ValueError, match="7 frames, 2 said"):
        table_of(frames(), ["one", "two"])


@pytest.mark.parametrize(("recorded", "most"), [(1, 40), (40, 40), (41, 40), (501, 40), (3, 2)])
def test_frames_are_spread_over_the_whole_run(recorded, most):
    steps = [7 * i for i in range(recorded)]
    chosen = film_steps(steps, most)
    assert len(chosen) == min(recorded, most)
    assert (chosen[0], chosen[-1]) == (steps[0], steps[-1])
    gaps = {b - a for a, b in pairwise(chosen)}
    assert not gaps or max(gaps) - min(gaps) <= 7


def test_the_slider_has_a_place_for_each_frame():
    spec = template(film_chart, 7)
    (moment,) = [param for param in spec["params"] if param["name"] == "moment"]
    assert (moment["value"], moment["bind"]["min"], moment["bind"]["max"]) == (6, 0, 6)
    assert "datum.frame === moment" in json.dumps(spec)
