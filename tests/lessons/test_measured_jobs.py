"""The names of a real model's heads: measured as is said, and none is given that was not earned."""

import pytest
import torch

from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from lessons.shared import head_jobs, measure_jobs
from lessons.shared.head_jobs import (
    JOBS,
    MIXTURE,
    PEOPLE,
    PLAIN,
    HeadJobs,
    Share,
    paragraphs,
    sentences_with_it,
    sentences_with_names,
)
from lessons.shared.measure_jobs import lists_said_twice, measure_head_jobs


def with_shares(**shares):
    """Two layers of two heads with these shares; no shuffled head has any."""
    nothing = [[0.0, 0.0], [0.0, 0.0]]
    return HeadJobs({job.key: Share(shares.get(job.key, nothing), nothing, 0.1, 9) for job in JOBS})


def test_96_sentences_each_noun_as_often_in_either_place():
    sentences = sentences_with_it()
    assert len({sentence.text for sentence in sentences}) == 96
    mixed = [
        one.nouns for one in sentences if (one.nouns[0] in head_jobs.ANIMALS) != (one.nouns[1] in head_jobs.ANIMALS)
    ]
    assert len(mixed) == 72 and sorted(mixed) == sorted((second, first) for first, second in mixed)
    for sentence in sentences:
        words = sentence.text.split()
        assert max(map(words.index, sentence.nouns)) < words.index("it") and words.count("it") == 1


def test_48_sentences_with_names_each_name_as_often_first_second_and_again():
    sentences = sentences_with_names()
    assert len({sentence.text for sentence in sentences}) == 48
    places = {name: [0, 0, 0] for name in PEOPLE}
    for sentence in sentences:
        named = [word for word in sentence.text.split() if word in PEOPLE]
        assert named.count(sentence.again) == 2 and named[2] == sentence.again and named[0] != named[1]
        assert sentence.text.endswith(" to")
        for place, name in enumerate(named):
            places[name][place] += 1
    assert set(map(tuple, places.values())) == {(12, 12, 12)}


def test_a_paragraph_is_of_four_plain_sentences_each_in_one():
    assert len(paragraphs()) == 3 and " ".join(paragraphs()) == " ".join(PLAIN)


def test_a_name_is_earned_by_the_first_rule_that_is_met_and_none_otherwise():
    found = with_shares(
        it_to_noun=[[0.4, 0.39], [0.0, 0.0]], previous=[[0.6, 0.0], [0.49, 0.5]], first=[[0, 0], [0, 1]]
    )
    keys = [found.job_of(*place).key for place in found.all_heads]
    assert keys == ["it_to_noun", "mixture", "mixture", "previous"]
    counts = {job.key: found.count(job) for job in (*JOBS, MIXTURE) if found.count(job)}
    assert counts == {"it_to_noun": 1, "previous": 1, "mixture": 2}
    assert not any(map(found.by_chance, JOBS))


def test_what_was_kept_is_what_was_found():
    found = with_shares(first=[[0.5, 0.25], [0.125, 1.0]])
    assert HeadJobs.from_json(found.as_json()).as_json() == found.as_json()


def a_small_model(smollm2):
    """Two layers drawn at random, with the vocabulary of the real one."""
    config = TransformerConfig(
        vocabulary=smollm2.transformer.config.vocabulary,
        context=64,
        d_model=8,
        n_layers=2,
        d_hidden=8,
        n_heads=2,
        kv_heads=1,
        d_head=4,
        unembedding="none",
    )
    random = torch.Generator().manual_seed(5)
    weights = {name: torch.randn(shape, generator=random) for name, shape in weight_shapes(config).items()}
    return build_transformer(config, weights)


def by_hand(model, tokenizer):
    """Each share with a loop over sentences, queries and keys."""
    kept = {}

    def note(name, row, keys):
        kept.setdefault(name, []).append(row[:, :, list(keys)].sum(-1))

    def rows(ids):
        with torch.inference_mode():
            layers = model(torch.tensor(ids)).layers
        return torch.stack([layer.attention.heads.weights for layer in layers])

    for sentence in sentences_with_it():
        pieces = [tokenizer.decode([i]).strip() for i in tokenizer.encode(sentence.text, add_special_tokens=False).ids]
        weights = rows(tokenizer.encode(sentence.text, add_special_tokens=False).ids)
        first, second, it = (pieces.index(word) for word in (*sentence.nouns, "it"))
        note("it_to_noun", weights[:, :, it], (first, second))
        for other in range(second + 1, len(pieces)):
            if other != it:
                note("others_to_noun", weights[:, :, other], (first, second))
        kinds = [word in head_jobs.ANIMALS for word in sentence.nouns]
        if sorted(kinds) == [False, True]:
            note("it_to_animal", weights[:, :, it], [(first, second)[kinds.index(True)]])
            note("it_to_thing", weights[:, :, it], [(first, second)[kinds.index(False)]])
    for listed in lists_said_twice(model):
        ids = listed.ids.tolist()
        assert ids[:30] == ids[30:] and len(set(ids)) == 30
        weights = rows(ids)
        for query in range(30, 60):
            note("induction", weights[:, :, query], [query - 29])
            note("same", weights[:, :, query], [query - 30])
    for sentence in sentences_with_names():
        ids = tokenizer.encode(sentence.text, add_special_tokens=False).ids
        pieces = [tokenizer.decode([i]).strip() for i in ids]
        first = pieces.index(sentence.again)
        note("name_again", rows(ids)[:, :, -1], [pieces.index(sentence.again, first + 1)])
    for text in paragraphs():
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        marks = [place for place, i in enumerate(ids) if tokenizer.decode([i]) in (".", ",")]
        assert len(marks) == text.count(".") + text.count(",")
        weights = rows(ids)
        for query in range(marks[0], len(ids)):
            if query not in marks:
                note("punctuation", weights[:, :, query], [mark for mark in marks if mark < query])
    for text in PLAIN:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        weights = rows(ids)
        for query in range(2, len(ids)):
            note("previous", weights[:, :, query], [query - 1])
            note("first", weights[:, :, query], [0])
    return {name: (torch.stack(found).mean(dim=0), len(found)) for name, found in kept.items()}


def agrees(found, expected):
    assert found.shares.keys() == expected.keys()
    for name, (shares, n) in expected.items():
        assert found.shares[name].n == n, name
        torch.testing.assert_close(torch.tensor(found.shares[name].heads), shares, atol=1e-5, rtol=0)


def test_shares_are_means_over_sentences_and_queries(smollm2):
    model = a_small_model(smollm2)
    told = []
    found = measure_head_jobs(model, smollm2.tokenizer, told.append)
    agrees(found, by_hand(model, smollm2.tokenizer))
    assert told[0] == 0 and told == sorted(told) and told[-1] < 1
    n = len(found.all_heads)
    assert n == 4 and all(len(share.shuffled) == 2 and len(share.shuffled[0]) == 2 for share in found.shares.values())


def test_shuffled_heads_have_the_same_numbers_in_other_places(smollm2):
    model = a_small_model(smollm2)
    for heads, layer in zip(measure_jobs.shuffled_heads(model), model.layers, strict=True):
        for name in ("W_q", "W_k"):
            shuffled, weights = getattr(heads, name), getattr(layer.attention, name)
            assert torch.equal(shuffled.flatten().sort().values, weights.flatten().sort().values)
            assert not torch.equal(shuffled, weights)
        assert heads.W_v is layer.attention.W_v


@pytest.mark.slow  # ten seconds
def test_the_real_model_s_heads(smollm2):
    found = measure_head_jobs(smollm2.transformer, smollm2.tokenizer)
    agrees(found, by_hand(smollm2.transformer, smollm2.tokenizer))
    named = {job.key: [place for place in found.all_heads if found.job_of(*place) is job] for job in JOBS}
    assert (13, 8) in named["it_to_noun"] and (18, 6) in named["induction"]
    assert named["name_again"] == [(20, 0), (23, 3), (25, 2)] and named["punctuation"] == [(1, 1)]
    assert named["same"] == [(2, 4), (5, 6), (8, 0), (14, 3)] and (2, 1) in named["previous"]
    chance = {job.key: found.by_chance(job) for job in JOBS}
    for key in ("induction", "same", "previous", "punctuation"):
        assert chance[key] == 0, key
    assert chance["name_again"] < 3
