"""The tables of arcs and of small maps: every weight that is large enough, at its place, and none twice."""

import pytest
import torch

from attention_core.one_head.masks import causal_mask
from attention_ui.figures.sentence.arcs import arcs_table, longest_arc, word_width, words_table
from attention_ui.figures.shares.head_maps import map_cells, map_frames, map_size, maps_height
from lessons.screen import Arcs, HeadMap, HeadMaps, Token, message

TOKENS = tuple(Token(text, position) for position, text in enumerate(["<start>", "a", "b", "<b>c</b>", "d"]))


HINT = message("Point.")


def weights(seed):
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(seed)) * 2
    return scores.masked_fill(~causal_mask(5), -torch.inf).softmax(dim=-1)


def arcs(shares):
    return Arcs(
        key="arcs",
        name=message("arcs"),
        tokens=TOKENS,
        shares=shares,
        head=message("one"),
        chosen=3,
        hint=HINT,
        least=0.05,
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_weight_that_is_large_enough_is_an_arc_of_its_width(seed):
    figure, shares = arcs(weights(seed)), weights(seed).tolist()
    drawn = {(row["token"], int(row["key"])): row for row in arcs_table(figure).to_pylist()}
    assert drawn.keys() == {(i, j) for i in range(5) for j in range(i + 1) if shares[i][j] >= 0.05}
    for (i, j), row in drawn.items():
        assert row["weight"] == pytest.approx(shares[i][j]) and row["self"] == (i == j) and row["chosen"] == (i == 3)
        assert row["middle"] == (i + j) / 2 and row["size"] == pytest.approx(((i - j) * word_width(figure)) ** 2)
    assert longest_arc(figure) == 4


def test_words_say_what_they_look_at_the_largest_first():
    shares = torch.eye(5)
    shares[3] = torch.tensor([0.1, 0.6, 0.0, 0.3, 0.0])
    words = words_table(arcs(shares)).to_pylist()
    assert words[3] == {
        "token": 3,
        "text": "<b>c</b>",
        "say": "“<b>c</b>” → “a” 0.60, “<b>c</b>” 0.30, “<start>” 0.10",
        "chosen": True,
    }


def test_maps_stand_in_rows_and_their_cells_inside_them():
    maps = tuple(HeadMap(name=message("one"), score=None, shares=weights(seed), chosen=seed == 4) for seed in range(6))
    figure = HeadMaps(
        key="maps", name=message("maps"), tokens=TOKENS, maps=maps, in_a_row=3, width=600, hint=HINT, least=0.02
    )
    frames, cells, size = map_frames(figure).to_pylist(), map_cells(figure).to_pylist(), map_size(figure)
    assert [frame["x"] for frame in frames] == [0, 200, 400] * 2
    assert frames[0]["y"] == frames[2]["y"] < frames[3]["y"] and frames[5]["y2"] == maps_height(figure)
    assert [frame["tone"] for frame in frames].index("ink") == 4
    at = iter(cells)
    for frame, one in zip(frames, maps, strict=True):
        for query, key in (one.shares >= 0.02).nonzero().tolist():
            cell = next(at)
            assert cell["v"] == pytest.approx(float(one.shares[query, key]))
            for start, end, before in (("x", "x2", key), ("y", "y2", query)):
                middle = frame[start] + (before + 0.5) * size / 5
                assert (cell[start] + cell[end]) / 2 == pytest.approx(middle, abs=1e-3)
                side = (cell[end] - cell[start]) / (size / 5)
                assert side**2 == pytest.approx(float(one.shares[query, key]), abs=1e-4), "the area is the weight"
    assert next(at, None) is None
