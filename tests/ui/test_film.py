"""A film holds the very weights of every moment, and the browser can move through them."""

import base64
from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask
from attention_ui.figures.export import csv_of
from attention_ui.figures.matrices.film import film_of as drawn
from attention_ui.figures.matrices.film import jumps_of, numbers_of_film, still_tables
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


def given(film):
    return drawn(film, still_tables(film.frames[0]))


def numbers_of(data):
    """The numbers of each moment, as the browser reads them."""
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<f4")
    return numbers.reshape(len(data["said"]), -1)


SAID = [f"moment {f}" for f in range(7)]


def test_every_weight_of_every_frame_is_there_once_and_nothing_masked():
    moments = frames()
    data = given(film_of(moments, SAID))
    tables = data["tables"]["matrices"]
    places = [
        (table["key"], i, j)
        for table in tables
        for i, line in enumerate(table["text"])
        for j, text in enumerate(line)
        if text is not None
    ]
    assert len(places) == 2 * 3 * 15
    for layers, numbers in zip(moments, numbers_of(data), strict=True):
        expected = [layers[int(key[0])].weights[int(key[2]), i, j].item() for key, i, j in places]
        assert numbers.tolist() == pytest.approx(expected, abs=1e-7)
    for table in tables:
        assert all(table["say"][i][j].startswith(table["title"]) for key, i, j in places if key == table["key"])
        assert {text for line in table["text"] for text in line} == {"", None}, "no number but those of the moments"
    masked = [said for table in tables for i, line in enumerate(table["say"]) for said in line[i + 1 :]]
    assert len(masked) == 2 * 3 * 10 and all(said.endswith(": masked") for said in masked)


def test_small_maps_have_no_numbers_and_names_are_there_for_who_listens():
    few, many = (still_tables(every_head(TOKENS, frames()[0], width=width)) for width in (1000, 300))
    assert few["numbered"] and not many["numbered"]
    assert few["matrices"][0]["rows"]["labels"] == few["matrices"][0]["columns"]["labels"] == list(TOKENS)


def test_each_frame_says_its_sentence_and_what_follows_its_colon_is_small():
    data = given(film_of(frames(2), ["After 3 steps, it writes: a: b", "one"]))
    assert data["said"] == [["After 3 steps, it writes", "a: b"], ["one", ""]] and data["tables"]["hint"] == ""


def test_a_sentence_is_needed_for_each_frame():
    with pytest.raises(ValueError, match="7 frames, 2 said"):
        given(film_of(frames(), ["one", "two"]))


def curves(x, y, **look):
    lines = (Line(key="one", name=message("one"), x=x, y=y),)
    return Curves(key="loss", name=message("loss"), lines=lines, x=message("x"), y=message("y"), width=322, **look)


@pytest.mark.parametrize(("percent", "written"), [(False, ["0.90", "0.50", "0.20"]), (True, ["90%", "50%", "20%"])])
def test_each_moment_has_its_place_on_the_curve_at_the_last_point_before_it(percent, written):
    film = film_of(frames(3), SAID[:3], curves=(curves([0, 20, 40], [0.9, 0.5, 0.2], percent=percent),), at=(0, 39, 40))
    curve = given(film)["curve"]
    assert [said.replace("\u00a0", " ") for said in curve["said"]] == [f"one: {number}" for number in written]
    assert curve["heights"] == pytest.approx([1, 3 / 7, 0], abs=1e-3)
    still = film_of(frames(2), SAID[:2], curves=(curves([0, 20], [0.5, 0.5]),), at=(0, 20))
    assert given(still)["curve"]["heights"] == [0, 0], "a curve that does not move"
    assert given(film_of(frames(2), SAID[:2]))["curve"] is None


def marked_film(at, *marks):
    moments = frames(len(at))
    curve = curves(
        [0, 40], [3.0, 0.1], marks=marks, x_domain=(0, 80), levels=((message("high"), 3.0), (message("low"), 0.0))
    )
    return film_of(moments, SAID[: len(at)], curves=(curve,), at=at)


@pytest.mark.parametrize(("x", "frame"), [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2)])
def test_a_mark_leads_to_the_first_moment_that_is_not_before_it(x, frame):
    film = marked_film((0, 20, 40), (message("an induction head"), x))
    assert jumps_of(film) == ((f"{x}: an induction head", frame),)


def test_marks_at_one_moment_are_one_jump():
    film = marked_film((0, 20, 40), (message("one"), 20), (message("two"), 20), (message("three"), 60))
    assert jumps_of(film) == (("20: one and two", 1), ("60: three", 2))
    assert given(film)["film"]["jumps"] == [["20: one and two", 1], ["60: three", 2]]
    assert given(marked_film((0, 20, 40)))["film"]["jumps"] == []


def test_the_file_of_a_film_has_the_weights_of_every_moment_and_no_text():
    moments = frames()
    film = film_of(moments, ["=learners+text"] * 7)
    head, *lines = csv_of(numbers_of_film(film.frames)).decode("utf-8-sig").splitlines()
    assert head.replace('"', "").split(",") == ["matrix", "row", "column", *(f"moment {f}" for f in range(7))]
    assert "learners" not in "".join(lines)
    assert len(lines) == 2 * 3 * 15
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


def test_frames_that_are_alike_share_what_stands_still_and_others_do_not():
    one, other = (every_head(TOKENS, frames(seed=seed)[0]) for seed in (3, 4))
    assert one.alike == other.alike
    first = still_tables(one)
    assert still_tables(other) == first
    layers, visible = frames()[0], causal_mask(5)
    reworded = every_head(("x", *TOKENS[1:]), layers)
    marked = every_head(TOKENS, layers, visible)
    grey = every_head(TOKENS, layers, left_out=(0, 1))
    seen = every_head(TOKENS, [attend(layer.q, layer.k, layer.v, visible | True) for layer in layers])
    fewer = every_head(TOKENS, layers[:1])
    keys = {frame.alike for frame in (one, reworded, marked, grey, seen, fewer)}
    assert len(keys) == 6
    for frame in (reworded, marked, grey, seen, fewer):
        assert still_tables(frame) != first
