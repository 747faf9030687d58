"""The language model that ships: what enters a head, what heads look at, and the scores that ship with it."""

import json
import random

import pytest
import torch
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from attention_core.head_patterns import (
    NAME_PAIRS,
    PATTERNS,
    PRONOUN_SENTENCES,
    MeasuredHeads,
    MeasuredPattern,
    lists_said_twice,
    pattern_scores,
    pronoun_score,
)
from attention_core.language_model import PRETRAINED, language_model, measured_model, scores_after_layers
from attention_core.model import ModelConfig, TinyTransformer
from attention_core.pieces import SPACE, START, Pieces
from attention_core.randomness import generator
from attention_core.weights import count_weights
from lessons.example.example import Example, projection_of, run_example
from training.measure import LIST_LENGTH, LISTS, STORIES_MEASURED, rows
from training.stories import stories

TEXT = "The old man saw the dog, and the old dog saw him."


def turned(x):
    """Rotary positions, pair by pair, as complex numbers."""
    n_tokens, d_k = x.shape
    angles = torch.arange(n_tokens)[:, None] * 10000 ** (-torch.arange(0, d_k, 2) / d_k)
    pairs = torch.view_as_complex(x.double().reshape(n_tokens, -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles).double(), angles.double())).flatten(1)


@pytest.mark.parametrize("layer, head", [(0, 3), (2, 1), (3, 0)])
def test_what_enters_a_head_of_the_running_example_and_what_it_makes_of_it(layer, head):
    found, reader = run_example(Example(source="language", text=TEXT, layer=layer + 1)), language_model()
    block, n = reader.model.layers[layer], len(found.ids)
    below = reader.trace(reader.encode(TEXT).ids[:n]).layers[layer].x
    x = layer_norm(below.double(), (64,), block.norm.gain.double(), block.norm.shift.double())
    assert torch.allclose(found.x.double(), x, atol=1e-5)
    W_q, W_k, W_v = (projection_of(found, role, head) for role in "qkv")
    assert (W_q.shape, W_k.shape, W_v.shape) == ((64, 32), (64, 32), (64, 16))
    q, k, v = turned(found.x @ W_q), turned(found.x @ W_k), (found.x @ W_v).double()
    assert torch.allclose(found.heads.q[head].double(), q, atol=1e-4)
    output = scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(found.heads.output[head].double(), output, atol=1e-4)
    all_heads = reader.trace(found.ids).layers[layer].attention.concatenated
    assert torch.allclose(all_heads[:, 16 * head : 16 * (head + 1)].double(), output, atol=1e-4)
    assert reader.encode(TEXT).tokens[0] == START
    assert "".join(reader.encode(TEXT).tokens[1:]).replace(SPACE, " ").strip() == TEXT.lower()


def test_a_long_text_is_cut_and_strange_characters_are_counted():
    reader = language_model()
    encoded = reader.encode("the dog " * 40)
    assert (len(encoded.ids), encoded.cut, encoded.unknown) == (64, 80 - 63, 0)
    assert reader.encode("a ☃ b ☃").unknown == 2
    assert reader.encode("").tokens == (START,)


def test_scores_after_the_last_layer_are_the_models_own():
    reader = language_model()
    trace = reader.trace(reader.encode(TEXT).ids)
    early = scores_after_layers(reader.model, trace, 3)
    assert early.shape == (5, 4000)
    assert torch.allclose(early[-1], trace.logits[3], atol=1e-4)
    first = layer_norm(trace.layers[0].x[3], (64,), reader.model.norm.gain, reader.model.norm.shift)
    assert torch.allclose(early[0], first @ reader.model.W_unembed + reader.model.b_unembed, atol=1e-4)


BY_HAND = Pieces(tuple((SPACE, letter) for letter in "abc"))


def named_by_loops(name, tokens):
    """Pairs (query, key) that a pattern names, one by one."""
    mark = [token in (",", SPACE + ",") for token in tokens]
    for i in range(len(tokens)):
        for j in range(i + 1):
            if {
                "previous token": j == i - 1,
                "start": j == 0,
                "punctuation": mark[j] and not mark[i],
                "same token": j < i and tokens[j] == tokens[i],
                "induction": 0 < j < i and tokens[j - 1] == tokens[i],
            }[name]:
                yield i, j


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_and_their_scores_by_loops(name):
    tokens = [START, "▁a", "▁b", ",", "▁a", "▁b", "▁b", ",", "▁c", "▁a"]
    ids = [BY_HAND.ids[token] for token in tokens]
    pairs = set(named_by_loops(name, tokens))
    named = PATTERNS[name](torch.tensor(ids), BY_HAND)
    visible = {(i, j) for i, j in named.nonzero().tolist() if j <= i}
    assert visible == pairs and pairs

    config = ModelConfig(vocabulary=len(BY_HAND.tokens), context=11, d_model=6, n_heads=3, n_layers=2)
    model = TinyTransformer.draw(config, generator(3))
    short = ids[:5]
    sums, even, queries = 0.0, 0.0, 0
    for text in (ids, short):
        weights = [layer.attention.heads.weights for layer in model(torch.tensor(text)).layers]
        counted = [(i, j) for i, j in pairs if 2 <= i < len(text)]
        queries += len({i for i, _ in counted})
        sums += sum(float(weights[1][2, i, j]) for i, j in counted)
        even += sum(1 / (i + 1) for i, _ in counted)
    score = pattern_scores(model, BY_HAND, [ids, short])[name]
    assert score.n == queries > 0
    assert float(score.heads[1, 2]) == pytest.approx(sums / queries, abs=1e-5)
    assert score.even == pytest.approx(even / queries, abs=1e-5)


def test_lists_said_twice():
    pieces = language_model().pieces
    for ids in lists_said_twice(pieces, 5, 17, generator(1)):
        assert ids[0] == pieces.ids[START] and ids[1:18] == ids[18:] and len(set(ids)) == 18


@pytest.mark.slow
def test_pronouns_by_loops():
    reader, matching, other, n = language_model(), 0.0, 0.0, 0
    layer, head = 2, 3
    for sentence in PRONOUN_SENTENCES:
        for woman, man in NAME_PAIRS:
            for first, second in ((woman, man), (man, woman)):
                for pronoun in ("she", "he"):
                    encoded = reader.encode(sentence.format(first=first, second=second, pronoun=pronoun))
                    at = {
                        word: [i for i, token in enumerate(encoded.tokens) if token == SPACE + word]
                        for word in (woman.split()[-1], man.split()[-1], pronoun)
                    }
                    if not all(at.values()):
                        continue
                    she, he, query = (positions[0] for positions in at.values())
                    row = reader.trace(encoded.ids).layers[layer].attention.heads.weights[head, query]
                    right, wrong = (she, he) if pronoun == "she" else (he, she)
                    matching, other, n = matching + float(row[right]), other + float(row[wrong]), n + 1
    score = pronoun_score(reader.model, reader.pieces)
    assert score.n == n > 100
    assert float(score.matching[layer, head]) == pytest.approx(matching / n, abs=1e-5)
    assert float(score.other[layer, head]) == pytest.approx(other / n, abs=1e-5)


def test_a_name_has_to_be_earned_and_confirmed():
    def pattern(weight, even=0.1, untrained=0.1):
        return MeasuredPattern([[weight]], even, untrained, 10)

    def name(naming, confirming):
        return MeasuredHeads(naming, confirming).name_of(0, 0)

    assert name({"start": pattern(0.4)}, {"start": pattern(0.4)}) == "start"
    assert name({"start": pattern(0.39)}, {"start": pattern(0.9)}) is None
    assert name({"start": pattern(0.9)}, {"start": pattern(0.39)}) is None
    assert name({"start": pattern(0.5, even=0.26)}, {"start": pattern(0.5)}) is None
    assert name({"start": pattern(0.5, untrained=0.5)}, {"start": pattern(0.5)}) is None
    both = {"start": pattern(0.7, even=0.3), "induction": pattern(0.6, even=0.1)}
    assert name(both, both) == "induction"


@pytest.mark.slow
def test_the_scores_that_ship_are_those_of_the_weights_that_ship():
    reader, kept = language_model(), json.loads((PRETRAINED / "scores.json").read_text())
    tales = rows(reader.pieces, stories("measured", STORIES_MEASURED))
    lists = lists_said_twice(reader.pieces, LISTS, LIST_LENGTH, generator(0, "confirming"))
    sample = random.Random(0).sample(range(16), 5)
    for texts, said in ((tales, kept["others"]["stories"]), (lists, {"induction": kept["confirming"]["induction"]})):
        scores = pattern_scores(reader.model, reader.pieces, texts)
        for name, measured in said.items():
            assert (measured["n"], measured["even"]) == (scores[name].n, pytest.approx(scores[name].even, abs=1e-4))
            for head in sample:
                weight = float(scores[name].heads.flatten()[head])
                assert measured["heads"][head // 4][head % 4] == pytest.approx(weight, abs=1e-3)
    found = pronoun_score(reader.model, reader.pieces)
    assert kept["pronoun"]["n"] == found.n
    assert torch.allclose(torch.tensor(kept["pronoun"]["matching"]), found.matching, atol=1e-3)
    assert measured_model().heads.confirming["induction"].n == kept["confirming"]["induction"]["n"]


def test_what_ships_is_small():
    assert (PRETRAINED / "weights.safetensors").stat().st_size < 3_000_000
    assert count_weights(language_model().model) <= 1_400_000
