"""What the browser is given of arcs and of small maps: every weight that is large enough, and none twice."""

import pytest
import torch

from attention_core.one_head.masks import causal_mask
from attention_ui.figures.sentence.arcs import arcs_of
from attention_ui.figures.shares.head_maps import maps_of
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
def test_every_weight_that_is_large_enough_is_an_arc(seed):
    shares = weights(seed).tolist()
    drawn = {(query, key): weight for query, key, weight, _ in arcs_of(arcs(weights(seed)))["arcs"]}
    assert drawn.keys() == {(i, j) for i in range(5) for j in range(i + 1) if shares[i][j] >= 0.05}
    for (i, j), weight in drawn.items():
        assert weight == pytest.approx(shares[i][j], abs=5e-5)


def test_words_say_what_they_look_at_the_largest_first():
    shares = torch.eye(5)
    shares[3] = torch.tensor([0.1, 0.6, 0.0, 0.3, 0.0])
    drawn = arcs_of(arcs(shares))
    assert drawn["words"][3] == {
        "text": "<b>c</b>",
        "name": "“<b>c</b>”",
        "says": "“<b>c</b>” → “a” 0.60, “<b>c</b>” 0.30, “<start>” 0.10",
    }
    assert drawn["chosen"] == 3


def test_every_weight_that_is_large_enough_stands_in_its_map():
    maps = tuple(HeadMap(name=message("one"), score=None, shares=weights(seed), chosen=seed == 4) for seed in range(6))
    figure = HeadMaps(
        key="maps", name=message("maps"), tokens=TOKENS, maps=maps, in_a_row=3, width=600, hint=HINT, least=0.02
    )
    drawn = maps_of(figure)
    assert [one["chosen"] for one in drawn["maps"]].index(True) == 4 and drawn["in_a_row"] == 3
    for one, shown in zip(maps, drawn["maps"], strict=True):
        found = {(query, key): weight for query, key, weight, _ in shown["weights"]}
        assert found.keys() == {tuple(place) for place in (one.shares >= 0.02).nonzero().tolist()}
        for (query, key), weight in found.items():
            assert weight == pytest.approx(float(one.shares[query, key]), abs=5e-5)


def test_until_a_question_is_answered_there_is_no_weight():
    shares = weights(1)
    covered = arcs_of(arcs(shares), covered=True)
    assert covered["arcs"] == [] and {word["says"] for word in covered["words"]} == {""}
    maps = (HeadMap(name=message("one"), score=message("0.5"), shares=shares),)
    figure = HeadMaps(key="maps", name=message("maps"), tokens=TOKENS, maps=maps, in_a_row=3, hint=HINT, least=0.02)
    assert maps_of(figure, covered=True)["maps"] == [{"name": "one", "score": "", "chosen": False, "weights": []}]
