"""The figures of the page that writes: every bar and every word from the draw on the screen."""

import pytest
import torch

from attention_core.generation import generate
from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator
from attention_core.sampling import Sampling, draw_token
from attention_core.tokens import Vocabulary
from attention_ui.figures.roles import COLOUR_ROLES
from attention_ui.figures.template import template
from attention_ui.figures.writing import (
    PANEL_WIDTH,
    distribution_chart,
    distribution_table,
    looks_columns,
    looks_table,
)

VOCABULARY = Vocabulary(tuple("abcd <"))
LOGITS = torch.tensor([2.0, 0.0, 1.0, -1.0, 1.5, -3.0])


def draw(**sampling):
    return draw_token(LOGITS, Sampling(**sampling), generator(5))


def bars(of):
    return [row for row in distribution_table(VOCABULARY, of).to_pylist() if row["kind"] in ("bar", "drawn", "dropped")]


@pytest.mark.parametrize("sampling", [{}, {"temperature": 2.0, "top_k": 4, "top_p": 0.7}, {"temperature": 0.0}])
def test_every_bar_is_as_long_as_its_probability(sampling):
    of = draw(**sampling)
    order = sorted(range(6), key=lambda i: -float(LOGITS[i]))
    stages = (of.probabilities, of.tempered, of.final)
    rows = bars(of)
    assert len(rows) == 3 * 6
    for row in rows:
        token = order[row["line"] - 1]
        assert row["from"] == pytest.approx(row["panel"] * PANEL_WIDTH)
        length = of.tempered[token] if row["kind"] == "dropped" else stages[row["panel"]][token]
        assert row["to"] - row["from"] == pytest.approx(float(length), abs=1e-6)


def test_dropped_tokens_say_which_cut_dropped_them_and_differ_by_more_than_colour():
    of = draw(temperature=2.0, top_k=4, top_p=0.7)
    dropped = {row["line"]: row for row in bars(of) if row["kind"] == "dropped"}
    kept_k, kept = int(of.kept_by_top_k.sum()), int(of.kept.sum())
    assert kept < kept_k == 4
    assert set(dropped) == set(range(kept + 1, 7))
    for line, row in dropped.items():
        assert row["text"] == ("dropped by top-p" if line <= 4 else "dropped by top-k")
        assert row["panel"] == 2
    spec = template(distribution_chart, 580, 22)
    marks = [layer["mark"] for layer in spec["layer"] if isinstance(layer["mark"], dict)]
    assert sum("strokeDash" in mark and mark.get("filled") is False for mark in marks) == 1


def test_the_drawn_token_is_marked_in_words_once():
    of = draw(temperature=1.3)
    rows = distribution_table(VOCABULARY, of).to_pylist()
    marked = [row for row in rows if row["kind"] == "drawn"]
    assert len(marked) == 1 and marked[0]["text"].endswith(" · drawn")
    names = {row["line"]: row["text"] for row in rows if row["kind"] == "name"}
    token = VOCABULARY.tokens[of.token].replace(" ", "␣")
    assert names[marked[0]["line"]] == f"▸ {token}"
    assert set(names.values()) == {f"▸ {token}", *"abcd␣<"} - {token}


def test_pointing_at_a_row_says_everything_of_its_token():
    of = draw(temperature=2.0, top_k=4, top_p=0.7)
    says = {row["line"]: row["say"] for row in distribution_table(VOCABULARY, of).to_pylist() if row["kind"] == "name"}
    assert says[1] == (
        f"“a”: score 2.00; the model says {of.probabilities[0]:.0%}, after the temperature {of.tempered[0]:.0%}, "
        f"drawn from {of.final[0]:.0%}".replace("%", " %")
        + ("; drawn" if of.token == 0 else "")
    )
    assert says[6].endswith("; dropped by top-k")


def test_colours_are_roles():
    assert {row["tone"] for row in distribution_table(VOCABULARY, draw()).to_pylist()} <= set(COLOUR_ROLES)


@pytest.mark.parametrize(("n_layers", "length"), [(1, 1), (2, 9)])
def test_every_heads_look_stands_in_its_cell(n_layers, length):
    config = ModelConfig(vocabulary=6, context=5, d_model=6, n_heads=3, n_layers=n_layers)
    model = TinyTransformer(config, generator(1)).eval()
    new = generate(model, VOCABULARY, ("a",), length, Sampling(), 2)[-1]
    cells = {row["cell_tag"]: row for row in looks_table(new).to_pylist() if row["cell_tag"]}
    n = len(new.window)
    assert len(cells) == n_layers * 3 * n
    for layer, weights in enumerate(new.attention):
        for head in range(3):
            for key in range(n):
                cell = cells[f"|{layer} {head},{key}|"]
                assert cell["v"] == pytest.approx(float(weights[head, key]))
                assert cell["say"].startswith(f"layer {layer + 1}, head {head + 1}: ")
    assert max(row["gx"] for row in looks_table(new).to_pylist()) < looks_columns(new)
