"""The script that trains the language model, with a much smaller model and generated stories alone."""

import random
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.pieces import SPACE, START, UNKNOWN, Pieces
from attention_core.tasks import NO_TARGET
from attention_core.weights import named_weights
from training import language_model
from training.curriculum import STAGES, Stage, corpus, draw_batch
from training.language_model import Plan, begin, loss_on, prepare, rate, stage_at, stage_ends, train_on
from training.stories import ALWAYS_HE, ALWAYS_SHE, character, stories, story
from training.texts import divide, paragraphs, string_vectors
from training.tokenizer import learn, library_of

STEPS = 40


@pytest.fixture(scope="module")
def pieces():
    return learn(stories("learned", 40), 300)


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(language_model, "KEEP_EVERY", 7)
    monkeypatch.setattr(language_model, "WARM_UP", 4)
    return Plan(seed=5, steps=STEPS, out=tmp_path / "model", small=True, stories_only=True)


def trained(plan, stop=STEPS):
    """The losses and the weights when training is stopped after so many steps."""
    losses, (pieces, texts) = [], prepare(plan)
    progress = begin(plan, pieces)
    for step, loss in train_on(plan, pieces, texts, progress):
        losses.append(loss)
        if step == stop:
            break
    return losses, {name: array.detach().clone() for name, array in named_weights(progress.model)}


@pytest.mark.slow
def test_it_learns_and_goes_on_where_it_was_stopped(plan, tmp_path):
    losses, weights = trained(plan)
    assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.5
    stopped = Plan(seed=5, steps=STEPS, out=tmp_path / "stopped", small=True, stories_only=True)
    first, _ = trained(stopped, stop=32)
    rest, resumed = trained(stopped)
    assert len(rest) == STEPS - 30  # the stage of the lists ended there, and was kept
    assert first[:30] + rest == losses
    assert all(torch.equal(weights[name], resumed[name]) for name in weights)
    with pytest.raises(ValueError, match="asked for are seed 5 and 41 steps; take another folder"):
        begin(Plan(seed=5, steps=41, out=stopped.out, small=True, stories_only=True), prepare(stopped)[0])


def test_what_is_said_first_counts_nothing(pieces):
    texts = corpus(pieces, (), stories("learned", 40))
    batch = draw_batch(texts, pieces, 64, STAGES[2], 1.0, torch.Generator().manual_seed(3))
    assert batch.inputs.shape == batch.targets.shape == (32, 64)
    assert (batch.inputs[:, 0] == pieces.ids[START]).all()
    counted = batch.targets != NO_TARGET
    assert (batch.targets[:, :-1] == batch.inputs[:, 1:])[counted[:, :-1]].all()
    assert counted[:16].float().mean() > 0.99  # running text counts
    for row, counts in zip(batch.inputs[16:].tolist(), counted[16:].tolist(), strict=True):
        length = counts.index(True) - 1
        assert 1 <= length <= 31
        assert all(row[i] == row[i - length] for i in range(length + 1, 64))


def test_lists_begin_with_the_most_frequent_words(pieces):
    texts = corpus(pieces, (), stories("learned", 40))
    lists = Stage("lists", 1.0, novels=0, stories=0, lists=32)
    rows = draw_batch(texts, pieces, 64, lists, 0.0, torch.Generator().manual_seed(3)).inputs[:, 1:]
    assert set(rows.flatten().tolist()) <= set(texts.common[:64].tolist())
    later = draw_batch(texts, pieces, 64, lists, 1.0, torch.Generator().manual_seed(3)).inputs[:, 1:]
    assert len(set(later.flatten().tolist())) > 64


def test_stages_and_rate():
    assert stage_ends(60) == [30, 45, 60]
    assert [stage_at(step, 60)[0].name for step in (0, 29, 30, 45, 59)] == [STAGES[i].name for i in (0, 0, 1, 2, 2)]
    assert stage_at(35, 60)[1] == pytest.approx(5 / 15)
    assert rate(100, 5000) < rate(1000, 5000) == rate(3749, 5000) > rate(4500, 5000) > rate(4999, 5000) > 0
    ordinary = [(s.novels + s.stories) / (s.novels + s.stories + s.lists + s.sentences) for s in STAGES]
    assert min(ordinary) >= 0.4
    assert sum(stage.share for stage in STAGES) == 1


def test_the_loss_leaves_out_what_does_not_count(plan):
    pieces, texts = prepare(plan)
    model = begin(plan, pieces).model
    batch = draw_batch(texts, pieces, 64, STAGES[1], 0.5, torch.Generator().manual_seed(3))
    logits = model(batch.inputs).logits.detach().double().log_softmax(-1)
    surprises = [
        -float(logits[i, j, target])
        for i, row in enumerate(batch.targets.tolist())
        for j, target in enumerate(row)
        if target != NO_TARGET
    ]
    assert loss_on(model, batch).item() == pytest.approx(sum(surprises) / len(surprises), abs=1e-4)


@given(st.text(max_size=40) | st.text("aehlstTHE .,'é“—\n▁🙂", max_size=60))
@settings(max_examples=300, deadline=None)
def test_our_reader_agrees_with_the_library(text):
    library, ours = ON_STORIES
    assert ours.encode(text) == library.encode(text).ids


def test_our_reader_agrees_with_the_library_on_stories():
    library, ours = ON_STORIES
    for told in stories("other", 20):
        ids = ours.encode(told)
        assert ids == library.encode(told).ids
        assert ours.decode(ids).replace(" ", "") == told.replace(" ", "")


def with_library(pieces):
    return library_of(pieces), pieces


ON_STORIES = with_library(learn(stories("learned", 60), 400))


def test_pieces_by_hand():
    by_hand = Pieces(((SPACE, "t"), ("h", "e"), (SPACE + "t", "he"), ("c", "a")))
    assert [by_hand.tokens[i] for i in by_hand.encode("The  CÁT!")] == [SPACE + "the", SPACE, "ca", "t", "!"]
    assert [by_hand.tokens[i] for i in by_hand.encode("the ☃")] == [SPACE + "the", SPACE, UNKNOWN]
    assert by_hand.encode("") == by_hand.encode(" \n") == []
    assert by_hand.decode(by_hand.encode("The cat!")) == "the cat!"


def test_stories_agree_with_their_seed_and_their_grammar():
    assert list(stories("a", 5)) == list(stories("a", 5)) != list(stories("b", 5))
    r = random.Random(4)
    for _ in range(300):
        who = character(r)
        assert (who.he, who.him, who.his) in (("she", "her", "her"), ("he", "him", "his"), ("it", "it", "its"))
        assert who.he == "she" or who.noun not in ALWAYS_SHE
        assert who.he == "he" or who.noun not in ALWAYS_HE
        told = story(r)
        assert told == told.lower() and "  " not in told and told.count('"') % 2 == 0
        assert not any(f" a {vowel}" in told for vowel in "aeiou")


def test_paragraphs_are_running_text():
    heading, story, note = (
        "CHAPTER I",
        "It was a _very_ long sentence,\nand it ran over two lines.",
        "This Etext is free for all.",
    )
    lines = "\n\n".join((heading, story, note, "Ah.")).split("\n")
    found = list(paragraphs(lines))
    assert found == ["It was a very long sentence, and it ran over two lines."]


def test_the_two_held_out_sets_and_the_rest_are_apart():
    class OfNumbers:
        paragraphs = tuple(map(str, range(1000)))

    texts = divide([OfNumbers()])
    assert len(texts.naming) == len(texts.confirming) == 10
    assert sorted(texts.learned + texts.naming + texts.confirming) == sorted(OfNumbers.paragraphs)


def test_strings_are_read_from_the_format_of_r():
    def strings(*texts):
        return (
            b"\0\0\0\x10"
            + struct.pack(">i", len(texts))
            + b"".join(b"\0\4\0\x09" + struct.pack(">i", len(text.encode())) + text.encode() for text in texts)
        )

    data = b"RDX2" + strings("few") + b"\0" + strings("“one”", "", "three") + strings("a", "b", "c")
    assert string_vectors(data, least=3) == [["“one”", "", "three"], ["a", "b", "c"]]
