"""The flip test on the encoder: its weights and what is said of them, beside `transformers`, and the branches."""

import pytest
import torch
from transformers import BertModel

from lessons.model.read.choices import ReadChoices
from lessons.model.read.flip import (
    ANIMALS,
    ENDINGS,
    THINGS,
    FlipTest,
    flip_test,
    nearest_to_flip,
    said_of_head,
    sentence_of,
)
from lessons.model.read.lesson import read_screen
from lessons.screen import render
from models.folders import cache_folder, model_named
from models.opening import shared_model
from models.wheels import MINILM

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")


@pytest.fixture
def minilm(models_here):
    if not MINILM.is_in(models_here):
        pytest.skip("MiniLM is not on this machine: python -m models fetches it")
    return shared_model(model_named(MINILM.name))


def test_the_encoder_s_weights_and_what_is_said_of_them(smollm2, minilm):
    theirs = BertModel.from_pretrained(cache_folder() / MINILM.name, attn_implementation="eager").eval()
    flips, pairs = torch.zeros(6, 12), 0
    for animal in ANIMALS:
        for thing in THINGS:
            leads = []
            for ending in ENDINGS:
                encoding = minilm.tokenizer.encode(sentence_of(animal, thing, ending))
                it, first, second = (encoding.tokens.index(word) for word in ("it", animal, thing))
                with torch.inference_mode():
                    found = theirs(torch.tensor([encoding.ids]), output_attentions=True).attentions
                weights = torch.cat(found)[:, :, it]
                leads.append(weights[..., first] - weights[..., second])
            flips += (leads[0] >= 0.05) & (leads[1] <= -0.05)
            pairs += 1
    found = flip_test(minilm, ANIMALS, THINGS)
    assert torch.allclose(found.flips, flips / pairs)
    points, table = read_screen(ReadChoices(view="flip"), smollm2, minilm).figures
    best = divmod(int(flips.argmax()), 12)
    assert render(points.notice[0]) == (
        f"MiniLM sees what comes after “it”. Of its 72 heads, {best[0]}.{best[1]} flips most, in "
        f"{float(flips.max()) / pairs:.0%} of 48 pairs: there the noun that is meant leads by 0.05 both times."
    )
    assert len(points.xs) == 72 and [row[1] for row in table.cells] == ["13.8", "13.8", *[".".join(map(str, best))] * 2]
    assert table.cells[0][3:] == table.cells[1][3:], "in a causal model nothing changes"


def made_up(tired, wide):
    """One pair, and one head in each of two layers: the lead of the animal with either ending."""
    lead = torch.tensor([[[[tired], [0.0]], [[wide], [0.0]]]])
    return FlipTest(lead.clamp(min=0), -lead.clamp(max=0))


def test_a_flip_is_said_where_there_is_one_and_where_there_is_none():
    assert "none of its 2 heads flips in any of the 1 pairs" in render(nearest_to_flip(made_up(0.3, 0.3)))
    assert "none of its 2 heads flips in any of the 1 pairs" in render(nearest_to_flip(made_up(0.3, -0.04)))
    assert "Of its 2 heads, 0.0 flips most, in 100% of 1 pairs" in render(nearest_to_flip(made_up(0.3, -0.06)))
    assert render(said_of_head(made_up(0.3, -0.25), (0, 0))) == (
        "With “tired”, head 0.0 puts 0.30 on the animal and 0.00 on the thing; with “wide”, 0.00 and 0.25. "
        "It flips in 100% of the pairs."
    )
