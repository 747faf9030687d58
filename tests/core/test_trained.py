"""The small models behind the running example: trained, recorded, and handed to the lessons as they are."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.learning.steps import EVALUATE_EVERY
from attention_core.learning.training import train
from lessons.example.example import Example, first_query, learnt_example, model_settings, run_example
from lessons.example.source import Sizes
from lessons.example.task_models import MOST_RECORDINGS, RECORDINGS, TASK_SOURCES, recorded, recording_of
from lessons.model.heads.example import HeadsChosen, run_heads
from lessons.screen import format_value

SOURCES = sorted(TASK_SOURCES)
QUICK = dict(d_model=5, d_k=2, d_v=3, n_heads=2)


def test_a_recording_has_the_weights_of_the_run_bit_for_bit():
    settings = model_settings(learnt_example("pronouns", **QUICK))
    recording = recorded(settings)
    assert sorted(recording.weights) == list(range(0, settings.steps + 1, EVALUATE_EVERY))
    for step in itertools.islice(train(settings), 3 * EVALUATE_EVERY + 1):
        if step.step % EVALUATE_EVERY == 0:
            assert np.array_equal(recording.weights[step.step], step.weights)
            here = recording.evaluation(step.step)
            assert (here.step, here.loss, here.accuracy) == (step.step, step.evaluation.loss, step.evaluation.accuracy)
            assert np.array_equal(here.role_weights, step.evaluation.role_weights)


@pytest.mark.parametrize("source", SOURCES)
def test_the_sizes_of_a_source_learn_its_task(source):
    for seed in (42, 0, 1):
        trained = run_example(learnt_example(source, seed=seed)).trained
        assert trained.evaluation.accuracy >= 0.95
        assert trained.job(0).done and trained.job(0).share > 2 * trained.job(0).even


def test_the_default_shows_at_once_what_its_head_does_and_shares_its_weight_between_two_words():
    trace = run_example(learnt_example("stories"))
    query = first_query(trace)
    *_, second, first = trace.heads.weights[0, query].argsort().tolist()
    assert [trace.tokens[place] for place in (query, first, second)] == ["She", "girl", "left"]
    assert 0.5 < float(trace.heads.weights[0, query, first]) < 0.85
    assert 0.1 < float(trace.heads.weights[0, query, second]) < 0.35
    assert trace.trained.evaluation.accuracy == 1


def test_one_can_stop_often_where_the_row_of_the_story_changes_and_seldom_where_it_does_not():
    example = learnt_example("stories")
    recording = recorded(model_settings(example))
    ids = torch.tensor(run_example(example).ids)
    rows = [recording.model(at)(ids).layers[0].attention.heads.weights[0, 6] for at in recording.kept]
    moved = [float((b - a).abs().sum()) / 2 for a, b in itertools.pairwise(rows)]
    late = sum(at >= 240 for at in recording.kept[:-1])
    assert sum(moved[-late:]) < 0.15 * sum(moved) and late <= 3
    assert max(moved) < 0.2 and len(moved) > 30


@pytest.mark.parametrize(
    ("example", "asks"),
    [
        (Example(source="language", text=""), "it"),
        (learnt_example("stories"), "She"),
        (learnt_example("pronouns"), "he"),  # nothing stands behind it
        (learnt_example("stories", text="She left the king"), "She"),
        (Example(source="meanings"), "She"),
        (Example(source="sentence", text="one two"), "two"),
    ],
)
def test_the_word_asks_first_that_the_example_is_about(example, asks):
    trace = run_example(example)
    assert trace.tokens[first_query(trace)].strip() == asks


@given(seed=st.integers(0, 99), words=st.integers(4, 9), causal=st.booleans())
def test_else_the_row_that_is_spread_most_asks_and_never_the_last(seed, words, causal):
    text = " ".join(map(str, range(words)))
    trace = run_example(Example(source="sentence", text=text, seed=seed, causal=causal))
    masked = run_example(Example(source="sentence", text=text, seed=seed)).heads.weights[0].tolist()
    entropy = [-sum(w * math.log(w) for w in row if w) for row in masked]
    assert entropy[first_query(trace)] == pytest.approx(max(entropy[2:-1]), abs=1e-5)
    assert 2 <= first_query(trace) < words - 1


@pytest.mark.parametrize("source", SOURCES)
@given(updates=st.integers(0, 300), layer=st.integers(1, 3))
def test_x_is_what_enters_the_layer(source, updates, layer):
    example = learnt_example(source, updates=updates, layer=layer)
    trace = run_example(example)
    model = recorded(model_settings(example)).model(updates)
    x = model.table[list(trace.ids)]
    if model.config.positions == "learned":
        x = x + model.position_table[: len(x)]
    for block in model.layers[: trace.trained.layer]:
        x = x + by_loops(normed_by_loops(x, block.norm), block.attention, model.config)
    assert trace.trained.layer == min(layer, len(model.layers)) - 1
    assert torch.allclose(trace.x, normed_by_loops(x, model.layers[trace.trained.layer].norm), atol=1e-5)
    kept = [moment for moment in recorded(model_settings(example)).kept if moment <= updates]
    assert trace.trained.updates == kept[-1]


def normed_by_loops(x, norm):
    """Each row with mean 0 and variance 1, scaled and shifted as learnt; as it is where there is no norm."""
    if norm is None:
        return x
    rows = [(row - row.mean()) / math.sqrt(row.var(correction=0) + norm.epsilon) for row in x]
    return torch.stack(rows) * norm.gain + norm.shift


def by_loops(x, heads, config):
    """What one layer of attention hands on, query by query."""
    n, d_k, d_v, found = len(x), config.query_features, config.value_features, []
    for i in range(n):
        row = []
        for head in range(config.n_heads):
            W_q, W_k = (W[:, head * d_k : (head + 1) * d_k] for W in (heads.W_q, heads.W_k))
            W_v = heads.W_v[:, head * d_v : (head + 1) * d_v]
            seen = range(i + 1 if config.causal else n)
            scores = [float((x[i] @ W_q) @ (x[j] @ W_k)) / (math.sqrt(d_k) if config.scaling else 1) for j in seen]
            powers = [math.exp(score - max(scores)) for score in scores]
            row.append(sum(p / sum(powers) * (x[j] @ W_v) for p, j in zip(powers, seen, strict=True)))
        found.append(torch.cat(row) @ heads.W_o + (0 if heads.b_o is None else heads.b_o))
    return torch.stack(found)


def test_rows_are_shared_where_nothing_but_the_token_makes_them():
    pronouns = run_example(learnt_example("pronouns", text="boy met boy"))
    assert pronouns.row_ids == pronouns.ids and torch.equal(pronouns.x, pronouns.fetched)
    letters = run_example(learnt_example("previous", text="aba"))
    assert letters.row_ids == (0, 1, 2) and not torch.equal(letters.x[0], letters.x[2])
    assert torch.equal(letters.fetched[0], letters.fetched[2])


def test_mask_and_scaling_act_on_the_same_weights_and_can_be_left_out_of_the_training():
    usual, free = (run_example(learnt_example("pronouns", causal=causal)) for causal in (True, False))
    assert torch.equal(usual.W_q, free.W_q) and not torch.equal(usual.heads.weights, free.heads.weights)
    without = run_example(learnt_example("pronouns", train_mask=False, train_scaling=False))
    assert not torch.equal(usual.W_q, without.W_q)
    settings = without.trained.recording.settings.model
    assert (settings.causal, settings.scaling) == (False, False)
    assert not model_settings(learnt_example("reverse")).model.causal  # whose answers stand further on


@pytest.mark.parametrize(
    ("source", "text", "tokens", "note"),
    [
        ("pronouns", "The BOY met she", ("boy", "met", "she"), "never met “the”"),
        ("pronouns", "", ("boy", "found", "lamp", "near", "girl", "when", "he"), ""),
        ("pronouns", "<b>one</b>", ("boy", "found", "lamp", "near", "girl", "when", "he"), "nothing to show yet"),
        ("pronouns", "boy " * 20, ("boy",) * 12, "12 tokens at once"),
        ("stories", "the BOY met A queen. he", ("the", "boy", "met", "queen", ".", "He"), "never met “a”"),
        ("stories", "", ("The", "girl", "left", "the", "king", ".", "She", "cried", "."), ""),
        ("reverse", "abc", ("a", "b", "c"), "trained on 8 tokens at a time; with 3"),
        ("previous", "a z b", ("a", "b"), "never met “z”"),
        ("lookup", "a1 b2 a?", ("a1", "b2", "a?"), ""),
    ],
)
def test_a_sentence_is_cut_into_what_the_model_knows(source, text, tokens, note):
    trace = run_example(learnt_example(source, text=text))
    assert trace.tokens == tokens
    assert note in " ".join(map(format_value, trace.notes)) and bool(note) == bool(trace.notes)


def test_few_recordings_are_kept_and_the_last_asked_for_among_them():
    first = model_settings(learnt_example("pronouns"))
    kept = recorded(first)
    blank = {settings_of_seed(seed): kept for seed in range(1000, 1000 + MOST_RECORDINGS)}
    RECORDINGS.update(blank)
    newest = model_settings(learnt_example("pronouns", **QUICK, seed=7))
    assert recorded(newest) is RECORDINGS[newest] and len(RECORDINGS) == MOST_RECORDINGS
    for settings in blank:
        RECORDINGS.pop(settings, None)


def settings_of_seed(seed):
    return TASK_SOURCES["pronouns"].settings(Sizes(seed=seed), causal=True, scaling=True)


def test_recording_goes_step_by_step_so_that_others_can_go_first():
    settings = model_settings(learnt_example("pronouns", **QUICK, seed=8))
    RECORDINGS.pop(settings, None)
    recording = recording_of(settings)
    assert recording_of(settings) is recording
    assert sum(1 for _ in recording.train_to(47)) == 41 and max(recording.weights) == 40
    assert sum(1 for _ in itertools.islice(recording.train_to(300), 31)) == 31  # and whoever trained it has left
    assert sum(1 for _ in recording.train_to(settings.steps)) == settings.steps - 71
    assert sum(1 for _ in recording.train_to(settings.steps)) == 0


def test_a_run_whose_loss_becomes_no_number_ends_there():
    settings = replace(model_settings(learnt_example("pronouns", **QUICK)), learning_rate=1e30)
    recording = recorded(settings)
    assert max(recording.weights) < settings.steps and recording.reached(settings.steps) == max(recording.weights)
    RECORDINGS.pop(settings)


def test_an_example_is_computed_once_and_fit_for_every_use():
    example = learnt_example("pronouns", seed=3)
    with torch.inference_mode():
        trace = run_example(example)
    assert run_example(replace(example)) is trace and not trace.x.is_inference()
    assert run_example(replace(example, seed=4)) is not trace


def test_several_heads_of_a_model_are_those_that_were_trained():
    running = run_example(learnt_example("pronouns"))
    trace = run_heads(running.example, HeadsChosen(d_model=8, n_heads=2, dropout=0.0))
    settings = trace.trained.recording.settings
    assert (settings.model.d_model, settings.model.n_heads, settings.model.query_features) == (8, 2, 4)
    block = recorded(settings).model(300)(torch.tensor(running.ids)).layers[0]
    assert torch.allclose(trace.output, block.attention.output, atol=1e-6)
    assert trace.trained.evaluation.accuracy > 0.9


@pytest.mark.parametrize("choices", [{"updates": -1}, {"updates": 601}, {"d_k": 17}])
def test_what_cannot_be_is_an_error(choices):
    with pytest.raises(ValueError, match="go"):
        Example(**{"source": "pronouns"} | choices)
