"""The first screen on the real model: all that it says is computed again by another program, on the same tensors."""

import re

import numpy as np
import pytest
import torch
from compare_with_transformers import fed_with
from hypothesis import given
from hypothesis import strategies as st

from attention_core.one_head.attention import attend
from attention_ui.streamlit_insides import IN_BROWSER
from lessons.example.real_model import DEFAULT_TEXT, CutText, cut_text
from lessons.screen import ListOf, Percent, Token, percent, render, render_all
from lessons.shared.head_jobs import JOBS, MIXTURE, HeadJobs, Share
from lessons.start.overview.model_view import (
    HEADS,
    MOST_TOKENS,
    SENTENCES,
    ModelChoices,
    ReadSentence,
    about_head,
    beside_its_name,
    by_chance_too,
    expected,
    look_back,
    model_screen,
    named_heads,
    read_sentence,
    rules_table,
    shipped_sentence,
    usual_query,
    what_is_lost,
)
from tests.printed import readings
from tests.rounding import assert_close_for_size

TEXTS = (
    *SENTENCES.values(),
    "a",
    "Ça va, 東京? it",
    "one word after the other and then some more words again " * 3,
    "the the the the it",
)


@pytest.fixture(scope="module")
def theirs():
    """What `transformers` computes with the very tensors of the model, whole and without one head."""
    fed = []

    def compute(model, ids, off=None):
        if not fed:
            fed.append(fed_with(model.transformer))
        hooks = [] if off is None else [without(fed[0], *off)]
        with torch.inference_mode():
            found = fed[0](torch.tensor([ids]), output_attentions=True)
        for hook in hooks:
            hook.remove()
        return torch.cat(found.attentions), found.logits[0, -1].softmax(dim=-1)

    return compute


def without(fed, layer, head):
    def cut(module, given):
        (found,) = given
        found = found.clone()
        found[..., 64 * head : 64 * (head + 1)] = 0
        return (found,)

    return fed.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(cut)


@pytest.mark.parametrize("text", TEXTS)
def test_weights_guesses_and_what_they_lose_are_those_of_another_program(smollm2, theirs, text):
    asked = ModelChoices(text=text, layer=13, head=8, off=True)
    read = read_sentence(smollm2, asked)
    ids = smollm2.tokenizer.encode(" ".join(text.split()), add_special_tokens=False).ids[:MOST_TOKENS]
    assert list(read.cut.ids) == ids
    weights, shares = theirs(smollm2, ids)
    less = theirs(smollm2, ids, off=(13, 8))[1]
    figure = model_screen(read, None).figures[0]
    scores = [layer.attention.heads.scaled / 2 for layer in smollm2.trace(ids).layers]
    assert_close_for_size(np.stack(figure.of_query), weights[:, :, figure.query], *scores)
    assert_close_for_size(figure.of_head, weights[13, 8], *scores)
    most, places = shares.topk(5)
    assert [guess.share for guess in figure.guesses] == pytest.approx(most.tolist(), abs=1e-4)
    assert [guess.without for guess in figure.guesses] == pytest.approx(less[places].tolist(), abs=1e-4)
    decoded = [smollm2.tokenizer.decode([place]).strip() or " " for place in places.tolist()]
    assert [guess.token for guess in figure.guesses] == decoded


def test_the_first_sentence_is_what_was_measured(smollm2):
    screen = model_screen(read_sentence(smollm2, ModelChoices(off=True)), None)
    assert render(screen.headline) == "How does a language model know who “it” is?"
    assert render_all(screen.lead) == (
        "By looking back: from “it”, one of its 270 attention heads sends 80% of its attention to “cat”."
    )
    assert render_all(screen.figures[0].notice[1:]) == (
        "Its first guess for what comes next is “happy”: 8%. "
        "Without head 13.8, the probability of “tired” falls from 7% to 3%."
    )


def test_each_of_our_sentences_fits_and_is_looked_at_with_a_head_that_does_something(smollm2):
    for key, text in SENTENCES.items():
        cut = cut_text(smollm2, text)
        assert len(cut.ids) <= MOST_TOKENS, key
        layer, head = HEADS.get(key, (13, 8))
        row = read_sentence(smollm2, ModelChoices(text, layer, head)).row
        assert float(row[1:].max()) > 0.5, "more than half of the attention of one token goes to another than the first"


def test_of_a_long_text_it_is_said_that_its_end_is_not_read(smollm2):
    for words, said in ((16, ()), (17, ("It reads the first 16 tokens.",))):
        screen = model_screen(read_sentence(smollm2, ModelChoices("a " * words)), None)
        assert tuple(map(render, screen.lead[1:])) == said and len(screen.figures[0].tokens) == 16


def test_without_the_model_the_usual_sentence_is_computed_from_the_layer_that_ships(smollm2):
    whole = read_sentence(smollm2, ModelChoices())
    for head in range(9):
        shipped = shipped_sentence(ModelChoices(head=head))
        assert shipped.cut == whole.cut and (shipped.n_layers, shipped.n_heads) == (30, 9)
        weights = smollm2.trace(whole.cut.ids).layers[13].attention.heads.weights[head]
        assert np.allclose(shipped.attention.weights, weights, atol=5e-3), "16 bits of the numbers are kept"
    screen = model_screen(shipped_sentence(ModelChoices(off=True)), None)
    figure = screen.figures[0]
    assert render(screen.lead[0]) == render(look_back(whole))
    assert figure.of_query is None and figure.guesses == () and not figure.off and len(screen.figures) == 1


# Sentences, whatever the weights.


def with_row(shares, head=(13, 8)):
    """A sentence whose last token gives these shares, to itself last."""
    n = len(shares)
    scores = torch.zeros(n, n)
    scores[-1] = torch.tensor(shares).log()
    attention = attend(torch.eye(n) * n**0.5, scores.T, torch.zeros(n, 1))
    assert attention.weights[-1].tolist() == pytest.approx(shares, abs=1e-5)
    cut = CutText(tuple(range(n)), tuple(f" w{place}" for place in range(n)))
    return ReadSentence(ModelChoices(DEFAULT_TEXT, *head), 30, 9, cut, attention)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=7))
def test_where_it_looks_names_all_that_lead_and_no_other(parts):
    shares = [part / sum(parts) for part in parts]
    read = with_row(shares)
    said = look_back(read)
    arguments = said.arguments
    row = read.row.tolist()
    if len(row) == 1:
        assert "comes first" in said.template and set(arguments) == {"query"}
        return
    leads = [place for place, share in enumerate(row) if readings(share, percent) & readings(max(row), percent)]
    named = arguments.get("keys") or ListOf((arguments.get("key", arguments["query"]),))
    assert [token.position for token in named.items] == leads
    assert arguments["share"] == Percent(pytest.approx(max(row)))
    assert ("By looking back" in said.template) == (len(leads) == 1 and leads[0] < len(row) - 1)
    if "more of its attention" in said.template:
        assert max(row) <= 0.5
    assert arguments["query"].position == len(row) - 1 and isinstance(arguments["query"], Token)


def test_another_head_is_called_by_its_number():
    assert "one of its 270 attention heads" in render(look_back(with_row([0.7, 0.3])))
    assert "its attention head 9.4" in render(look_back(with_row([0.7, 0.3], (9, 4))))


def test_the_last_it_asks_or_else_the_last_token():
    assert usual_query(("It", " is", " it", " or", " it", " now")) == 4
    assert usual_query((" a", " b")) == 1


def test_nothing_is_said_to_fall_that_reads_the_same(smollm2):
    read = read_sentence(smollm2, ModelChoices("The capital of France is", off=True))
    (said,) = what_is_lost(read, expected(read))
    assert set(said.arguments) == {"head"} and "none of these" in said.template
    assert what_is_lost(read, ()) == ()


# What is said of jobs.


def jobs_with(shuffled=0.1, **shares):
    """A model of one layer and two heads; the first has these shares, the second none."""
    extra = ("others_to_noun", "it_to_animal", "it_to_thing")
    names = [*(job.key for job in JOBS), *extra]
    return HeadJobs({name: Share([[shares.get(name, 0.0), 0.0]], [[shuffled, 0.32]], 0.1, 9) for name in names})


@pytest.mark.parametrize("key", [job.key for job in JOBS])
def test_a_card_says_the_share_that_earned_the_name_and_the_table_what_chance_gives(key):
    jobs = jobs_with(**{key: 0.83, "it_to_animal": 0.6, "it_to_thing": 0.2, "others_to_noun": 0.4})
    assert "83%" in render_all(about_head(jobs, 0, 0)) and "%" not in render_all(beside_its_name(jobs, 0, 1))
    said = render_all(rules_table(jobs, 0, 0).notice)
    assert "layer shuffled, head 0.0 gives 10%; all shuffled heads together give 21% on average." in said
    if key == "it_to_noun":
        assert "sends 60% to the animal and 20% to the thing" in said and said.count("40%") == 1
    assert "83%" not in render_all(about_head(jobs, 0, 1)) and "requires" in render_all(about_head(jobs, 0, 1))


@given(st.integers(0, 10**6))
def test_what_chance_gives_a_named_head_is_what_that_very_head_gives(seed):
    random = np.random.default_rng(seed)
    extra = ("others_to_noun", "it_to_animal", "it_to_thing")
    names = (*(job.key for job in JOBS), *extra)
    jobs = HeadJobs({name: Share(*random.random((2, 5, 3)).round(3).tolist(), 0.1, 9) for name in names})
    for layer, head in jobs.all_heads:
        job, said = jobs.job_of(layer, head), beside_its_name(jobs, layer, head)
        assert bool(said) == (job is not MIXTURE)
        if said:
            shuffled = jobs.shares[job.key].shuffled
            mean = sum(share for row in shuffled for share in row) / 15
            assert said[-1].arguments == {
                "head": f"{layer}.{head}",
                "share": Percent(shuffled[layer][head]),
                "mean": Percent(pytest.approx(mean)),
            }


def test_the_legend_counts_every_head_once():
    jobs = jobs_with(previous=0.9)
    legend = named_heads(jobs)
    assert {one.key: one.count for one in legend if one.count} == {"previous": 1, "mixture": 1}
    assert all("{share}" in render(one.says) for one in legend[:-1])


def test_each_job_has_a_mark_of_its_own_even_without_colour():
    """But that a full circle means one thing where it is large and another where it is small."""
    script = (IN_BROWSER / "figures" / "shapes.js").read_text()
    shapes = dict(re.findall(r"^  (\w+): ([A-Z]+),$", script, re.MULTILINE))
    assert {job.key for job in JOBS} - shapes.keys() == {"it_to_noun", "first"}, "circles"
    assert len({*shapes.values()}) == len(shapes) == len(JOBS) - 2


def test_names_that_chance_earns_as_often_are_named():
    found = by_chance_too(jobs_with(shuffled=0.45, **{job.key: 0.9 for job in JOBS}))
    named = [item.arguments["name"] for item in found.arguments["names"].items]
    assert named == [job.name for job in JOBS], "one head of the model has one name; the shuffled one reaches two rules"
    fewer = by_chance_too(jobs_with(shuffled=0.1, it_to_noun=0.9)).arguments["names"]
    assert JOBS[0].name not in [item.arguments["name"] for item in fewer.items]
