"""The border of the core: whatever is passed, the right number comes back, or one sentence says what was expected.

Numbers are compared with plain loops and with PyTorch. What is refused has an error of the core's own class, and a
sentence that names what came. It is refused where it would otherwise be another number without a word: −1 for the last
token, True for a choice of rows, a layer that nobody has.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy as torch_cross_entropy

from attention_core.base.errors import InputError
from attention_core.base.randomness import MAX_SEED, generator
from attention_core.learning.losses import cross_entropy, squared_error
from attention_core.measured.permutation import attend_in_both_orders, random_permutation
from attention_core.measured.sliding import measure_sliding
from attention_core.model.cache import read_newest
from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from attention_core.model.generation import check_request
from attention_core.model.sampling import (
    Sampling,
    continue_text,
    keep_top_k,
    keep_top_p,
    next_token_probabilities,
    pick,
    renormalise,
)
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.one_head.attention import attend
from attention_core.one_head.distances import alibi_biases, distances, with_global_tokens
from attention_core.one_head.heads import MultiHeadAttention, features_per_head, share_heads, split_heads
from attention_core.one_head.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.one_head.online_softmax import attend_in_blocks
from attention_core.text.byte_pairs import CHARACTER_OF, BytePairs, readable
from attention_core.text.embeddings import (
    Rotary,
    embed,
    embedding_table,
    one_hot,
    rotate,
    rotation_angles,
    sinusoidal_positions,
)
from attention_core.text.positions import add_positions, added_positions, turn_vectors
from attention_core.text.tokens import Vocabulary, tokenize

# As they run outside the tests: without the checks of their annotations.
pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

TYPES = {
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "single": torch.float32,
    "double": torch.float64,
    "NumPy half": np.float16,
    "NumPy single": np.float32,
    "NumPy double": np.float64,
}
LATE = (0, 1, 256, 257, 1857, 2049, 40009)  # positions; 16 bits cannot tell the later ones apart


def as_type(numbers, dtype):
    return np.asarray(numbers, dtype) if isinstance(dtype, type) else torch.tensor(numbers, dtype=dtype)


def numbers(x):
    return np.asarray(x.detach().double() if hasattr(x, "detach") else x, float)


def resolution(dtype):
    return float((np if isinstance(dtype, type) else torch).finfo(dtype).eps)


def near(dtype, angle, size=1.0):
    """How far a number may be from the right one: half its last place, and what the angle has lost.

    An angle is computed in single precision at least; ω, a power of the base, is off by a few of its last places.
    """
    finer = min(resolution(dtype), resolution(np.float32))
    return size * (resolution(dtype) + 8 * finer * max(1, angle))


@pytest.mark.parametrize("position", LATE)
@pytest.mark.parametrize("kind", TYPES)
def test_a_vector_is_turned_by_the_angle_of_its_position(kind, position):
    dtype, d_k, base = TYPES[kind], 10, 5003.0
    x = as_type([[((7 * i) % 11 - 5) / 8 for i in range(d_k)]], dtype)
    turned, given = numbers(rotate(x, position, how=Rotary(base=base)))[0], numbers(x)[0]
    assert rotate(x, position).dtype == dtype
    for pair in range(d_k // 2):
        angle = position * base ** (-2 * pair / d_k)
        a, b = given[2 * pair : 2 * pair + 2]
        wanted = a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)
        np.testing.assert_allclose(turned[2 * pair : 2 * pair + 2], wanted, rtol=0, atol=near(dtype, angle))


@pytest.mark.parametrize("kind", TYPES)
def test_sines_and_cosines_are_those_of_their_position(kind):
    dtype, d_model = TYPES[kind], 7
    table = sinusoidal_positions(2053, d_model, like=as_type([[1.0]], dtype))
    assert table.dtype == dtype
    for position in (place for place in LATE if place < len(table)):
        for feature in range(d_model):
            angle = position * 10000 ** (-(feature - feature % 2) / d_model)
            wanted = (math.cos if feature % 2 else math.sin)(angle)
            assert abs(float(table[position, feature]) - wanted) <= near(dtype, angle)


@pytest.mark.parametrize("kind", TYPES)
def test_neighbouring_positions_are_told_apart(kind):
    like = as_type([[1.0]], TYPES[kind])
    rows, angles = numbers(sinusoidal_positions(2053, 8, like)), numbers(rotation_angles(2053, 8, like=like))
    assert (np.abs(np.diff(rows, axis=0)).max(axis=1) > 0.1).all()
    np.testing.assert_allclose(angles[:, 0], np.arange(2053))


@pytest.mark.parametrize("kind", TYPES)
def test_scores_of_turned_vectors_know_the_distance_alone(kind):
    dtype, d_k = TYPES[kind], 6
    query, key = (as_type([[((5 * i + shift) % 7 - 3) / 4 for i in range(d_k)]], dtype) for shift in (1, 4))
    for distance in (0, 3, 11):
        found = [
            float((numbers(rotate(query, first + distance)) * numbers(rotate(key, first))).sum()) for first in (0, 1009)
        ]
        assert found[0] == pytest.approx(found[1], abs=d_k * near(dtype, 1009))


@pytest.mark.parametrize("kind", TYPES)
def test_a_lesson_that_turns_vectors_keeps_their_type(kind):
    x, W = (as_type(np.arange(n).reshape(-1, 6) / 7, TYPES[kind]) for n in (18, 36))
    turned = turn_vectors(x, W, W)
    assert turned.q_turned.dtype == turned.k_turned.dtype == TYPES[kind]
    step = 8 * near(TYPES[kind], 2, size=np.abs(numbers(turned.q)).max())
    np.testing.assert_allclose(numbers(turned.q_turned), numbers(rotate(turned.q)), rtol=0, atol=step)


# What is computed: ours, and what another implementation or a plain loop finds.

random = generator(11)
Q, K, V = torch.randn(3, 2, 5, 4, generator=random)
SINKS = torch.tensor([0.5, -math.inf])
TABLE = torch.arange(21.0).reshape(7, 3)
CONFIG = ModelConfig(vocabulary=7, context=5, d_model=6, n_heads=2, n_layers=2, positions="sinusoidal")
TINY = draw_model(CONFIG, generator(0))
IDS = torch.tensor([3, 0, 6, 2])
LOGITS = torch.tensor([0.5, 2.0, -1.0, 1.5, 0.25])
SIZES = TransformerConfig(
    vocabulary=7, context=5, d_model=6, n_layers=2, d_hidden=11, n_heads=3, kv_heads=1, d_head=2, unembedding="tied"
)
SHAPES = weight_shapes(SIZES)
LARGE = build_transformer(SIZES, {name: torch.randn(*SHAPES[name], generator=random) for name in SHAPES})
HEADS = MultiHeadAttention.draw(6, 2, generator=generator(1))
X = torch.randn(5, 6, generator=random)
BYTES = BytePairs(tuple(CHARACTER_OF[byte] for byte in b"abc "), ((CHARACTER_OF[97], CHARACTER_OF[98]),))
WORDS = Vocabulary(("the", "cat", "sat"))
IDENTITY = torch.eye(6)


def with_a_key_for_the_sink(sinks):
    """A sink is one more key with this score, and a value of zeros."""
    scores = torch.cat([Q @ K.mT / 2, sinks[:, None, None].expand(2, 5, 1)], dim=-1)
    return scores.softmax(-1) @ torch.cat([V, torch.zeros(2, 1, 4)], dim=1)


def without(model, pairs):
    """A model whose heads have no columns of W_v: what they find is zeros."""
    from dataclasses import replace

    layers = list(model.layers)
    for layer, head in pairs:
        attention, width = layers[layer].attention, layers[layer].attention.d_head
        W_o = attention.W_o.clone()
        W_o[head * width : (head + 1) * width] = 0
        layers[layer] = replace(layers[layer], attention=replace(attention, W_o=W_o))
    return replace(model, layers=tuple(layers))


RIGHT = {
    "sinks, one of them −∞": (lambda: attend(Q, K, V, sink=SINKS).output, lambda: with_a_key_for_the_sink(SINKS)),
    "a sink below all scores": (lambda: attend(Q, K, V, sink=-3e38).output, lambda: attend(Q, K, V).output),
    "a sink of NumPy": (
        lambda: attend(Q, K, V, sink=np.float32(0.5)).output,
        lambda: with_a_key_for_the_sink(torch.tensor([0.5, 0.5])),
    ),
    "sinks in blocks": (
        lambda: [*attend_in_blocks(Q, K, V, block=2, sink=SINKS)][-1].output,
        lambda: with_a_key_for_the_sink(SINKS),
    ),
    "a scale without axes": (lambda: attend(Q, K, V, scale=torch.tensor(0.5)).output, lambda: attend(Q, K, V).output),
    "a whole scale of torch": (
        lambda: attend(Q, K, V, scale=torch.tensor(2)).output,
        lambda: (2 * Q @ K.mT).softmax(-1) @ V,
    ),
    "the largest cap": (lambda: attend(Q, K, V, soft_cap=1e30).weights.sum(-1), lambda: torch.ones(2, 5)),
    "a block of NumPy": (
        lambda: [*attend_in_blocks(Q, K, V, block=np.int64(2))][-1].output,
        lambda: attend(Q, K, V).output,
    ),
    "a block beyond the keys": (
        lambda: [*attend_in_blocks(Q, K, V, block=1009)][-1].output,
        lambda: attend(Q, K, V).output,
    ),
    "ids": (lambda: embed(IDS, TABLE), lambda: torch.stack([TABLE[3], TABLE[0], TABLE[6], TABLE[2]])),
    "ids of 32 bits": (lambda: embed(IDS.int(), TABLE), lambda: TABLE[IDS]),
    "bytes of NumPy as ids": (
        lambda: embed(np.array([6, 0], np.uint8), TABLE.numpy()),
        lambda: torch.stack([TABLE[6], TABLE[0]]),
    ),
    "no ids": (lambda: embed(IDS[:0], TABLE), lambda: torch.zeros(0, 3)),
    "ids below 0 in rows of zeros and ones": (
        lambda: one_hot(torch.tensor([1, -100, -1]), 3, TABLE),
        lambda: torch.tensor([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]]),
    ),
    "a target that does not count": (
        lambda: cross_entropy(TABLE[:3], torch.tensor([1, -100, 2])).loss,
        lambda: torch_cross_entropy(TABLE[:3], torch.tensor([1, -100, 2])),
    ),
    "a head off": (lambda: TINY(IDS, [(1, 0)]).logits, lambda: without(TINY, [(1, 0)])(IDS).logits),
    "a head off, named with NumPy": (
        lambda: TINY(IDS, [(np.int64(0), np.int64(1))]).logits,
        lambda: without(TINY, [(0, 1)])(IDS).logits,
    ),
    "heads off in a large model": (
        lambda: LARGE(IDS, [(0, 2), (1, 1)]).logits,
        lambda: without(LARGE, [(0, 2), (1, 1)])(IDS).logits,
    ),
    "top-k of NumPy": (
        lambda: keep_top_k(LOGITS, np.int64(2)),
        lambda: torch.tensor([False, True, False, True, False]),
    ),
    "top-k beyond the vocabulary": (lambda: keep_top_k(LOGITS, 1009), lambda: torch.ones(5) == 1),
    "a whole top-p": (lambda: keep_top_p(LOGITS.softmax(0), 1), lambda: torch.ones(5) == 1),
    "a whole temperature": (lambda: next_token_probabilities(LOGITS, 2), lambda: (LOGITS / 2).softmax(0)),
    "the last stretch": (lambda: pick(torch.tensor([0.5, 0.5, 0.0]), 1 - 1e-12), lambda: torch.tensor(1)),
    "a width of NumPy": (
        lambda: sliding_window_mask(3, np.int64(2)),
        lambda: torch.tensor([[True, True, False], [True, True, True], [False, True, True]]),
    ),
    "keys that come after": (lambda: distances(2, 3, -1), lambda: torch.tensor([[1, 2, 3], [0, 1, 2]])),
    "other output of a head": (
        lambda: HEADS(X, patched={1: torch.zeros(5, 3)})[0],
        lambda: HEADS(X, ablated=[1])[0],
    ),
    "the end of a text": (lambda: read_newest(TINY, IDS, context=2).logits[-1], lambda: TINY(IDS[-2:]).logits[-1]),
    "no new tokens": (lambda: continue_text(TINY, [1, 2], 0, generator=generator(0)), lambda: torch.tensor([1, 2])),
    "positions of which none is added": (lambda: add_positions(X, "rotary", 0).going_in, lambda: X),
    "merged bytes": (lambda: torch.tensor(BYTES.ids["a"]), lambda: torch.tensor(0)),
    "a text of no bytes": (lambda: torch.tensor(BYTES.encode(""), dtype=torch.long), lambda: IDS[:0]),
    "the largest seed": (
        lambda: torch.rand(3, generator=generator(MAX_SEED)),
        lambda: torch.rand(3, generator=torch.Generator().manual_seed(MAX_SEED)),
    ),
}


@pytest.mark.parametrize("passed", RIGHT)
def test_what_is_taken_gives_the_right_number(passed):
    ours, theirs = (numbers(compute()) for compute in RIGHT[passed])
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def sampling(**given):
    return lambda: Sampling(**given)


def heads_off(model, pairs):
    return lambda: model(IDS, pairs)


def drawn(**given):
    return lambda: MultiHeadAttention.draw(**{"d_model": 6, "n_heads": 2, "generator": generator(0), **given})


def infinite(*shape):
    return torch.full(shape, math.inf)


NAN = math.nan
BIT = torch.tensor([True, False, True, False])

# What is refused, and words of the sentence that says why.
REFUSED = {
    # scores
    "an infinite sink among others": (
        lambda: attend(Q, K, V, sink=torch.tensor([0.0, math.inf])),
        r"sinks are scores.*\(1,\).*inf",
    ),
    "a sink that is no number among others": (lambda: attend(Q, K, V, sink=torch.tensor([NAN, 0.0])), r"\(0,\).*nan"),
    "sinks of NumPy that are no numbers": (
        lambda: attend(*(x.numpy() for x in (Q, K, V)), sink=np.array([0, np.nan], np.float32)),
        r"\(1,\).*nan",
    ),
    "one infinite sink in an array": (lambda: attend(Q[0], K[0], V[0], sink=infinite()), "a sink is a score.*inf"),
    "infinite sinks in blocks": (lambda: next(attend_in_blocks(Q, K, V, block=2, sink=infinite(2))), r"\(0,\).*inf"),
    "a sink too large for its type": (lambda: attend(Q, K, V, sink=1e39), "a sink is a score.*1e[+]39"),
    "a sink of objects": (lambda: attend(Q, K, V, sink=Decimal(1)), "a sink is a score.*Decimal"),
    "True as a sink": (lambda: attend(Q, K, V, sink=True), "a sink is a score.*True"),
    "a boolean sink of torch": (lambda: attend(Q, K, V, sink=torch.tensor(True)), "a sink is a score.*True"),
    "a complex sink": (lambda: attend(Q, K, V, sink=1j), "a sink is a score.*1j"),
    "a scale too large for its type": (lambda: attend(Q, K, V, scale=1e39), "finite number.*1e[+]39"),
    "a scale too large for half": (lambda: attend(Q.half(), K.half(), V.half(), scale=1e5), "finite number.*100000"),
    "a scale too large for a float": (lambda: attend(Q, K, V, scale=10**400), "finite number"),
    "a fraction as a scale": (lambda: attend(Q, K, V, scale=Fraction(1, 2)), "finite number.*Fraction"),
    "a complex scale": (lambda: attend(Q, K, V, scale=torch.tensor(1j)), "finite number.*1.j"),
    "NumPy's True as a scale": (lambda: attend(Q, K, V, scale=np.bool_(True)), "finite number.*True"),
    "a scale with an axis": (lambda: attend(Q, K, V, scale=np.ones(1)), "finite number.*array"),
    "a cap too large for its type": (lambda: attend(Q, K, V, soft_cap=1e39), "soft cap.*1e[+]39"),
    "a cap too small for its type": (lambda: attend(Q, K, V, soft_cap=1e-320), "soft cap.*e-320"),
    "a cap for each head": (lambda: attend(Q, K, V, soft_cap=torch.ones(2)), "soft cap.*tensor"),
    "a word as a cap": (lambda: attend(Q, K, V, soft_cap="30"), "soft cap.*'30'"),
    # blocks
    "half a key in a block": (lambda: next(attend_in_blocks(Q, K, V, block=2.5)), "block is a whole number.*2.5"),
    "a whole float as a block": (lambda: next(attend_in_blocks(Q, K, V, block=2.0)), "block is a whole number.*2.0"),
    "True as a block": (lambda: next(attend_in_blocks(Q, K, V, block=True)), "block is a whole number.*True"),
    "−2 keys in a block": (lambda: next(attend_in_blocks(Q, K, V, block=-2)), "at least 1, but got -2"),
    "a word as a block": (lambda: next(attend_in_blocks(Q, K, V, block="2")), "block is a whole number.*'2'"),
    "None as a block": (lambda: next(attend_in_blocks(Q, K, V, block=None)), "block is a whole number.*None"),
    "NaN keys in a block": (lambda: next(attend_in_blocks(Q, K, V, block=NAN)), "block is a whole number.*nan"),
    "blocks as an array": (lambda: next(attend_in_blocks(Q, K, V, block=IDS)), "block is a whole number.*tensor"),
    # ids
    "an id below 0": (lambda: embed(torch.tensor([1, -1]), TABLE), r"ids go from 0 to 6, but at \(1,\) there is -1"),
    "an id beyond the table": (lambda: embed(torch.tensor([[1, 7]]), TABLE), r"0 to 6, but at \(0, 1\) there is 7"),
    "ids that are fractions": (lambda: embed(torch.tensor([1.0]), TABLE), "whole numbers.*torch float32"),
    "ids that are true or false": (lambda: embed(BIT, TABLE[:4]), "whole numbers.*torch bool"),
    "ids of bytes in torch": (lambda: embed(torch.tensor([1, 0], dtype=torch.uint8), TABLE), "int32 or int64.*uint8"),
    "ids of 16 bits in torch": (lambda: embed(IDS.short(), TABLE), "int32 or int64.*int16"),
    "true or false in NumPy": (lambda: embed(BIT.numpy(), TABLE[:4].numpy()), "whole numbers.*NumPy bool"),
    "ids of NumPy below 0": (lambda: embed(np.array([-1]), TABLE.numpy()), r"\(0,\) there is -1"),
    "ids of texts": (lambda: embed(np.array(["1"]), TABLE.numpy()), "whole numbers.*<U1"),
    "ids in a list": (lambda: embed([1, 2], TABLE), r"whole numbers.*\[1, 2\]"),
    "one id alone": (lambda: embed(3, TABLE), "whole numbers.*3"),
    "None as ids": (lambda: embed(None, TABLE), "whole numbers.*None"),
    "a row for an id beyond": (lambda: one_hot(torch.tensor([3]), 3, TABLE), r"-128 to 2, but at \(0,\) there is 3"),
    "a row for an id far below 0": (lambda: one_hot(torch.tensor([-129]), 3, TABLE), "-128 to 2.*-129"),
    "a row of NumPy for an id beyond": (lambda: one_hot(np.array([3]), 3, TABLE.numpy()), "-128 to 2.*3"),
    "a row for a fraction": (lambda: one_hot(torch.tensor([0.5]), 3, TABLE), "whole numbers.*float32"),
    "a row for true": (lambda: one_hot(BIT, 4, TABLE), "whole numbers.*bool"),
    "a target below 0": (lambda: cross_entropy(TABLE[:2], torch.tensor([1, -1])), r"0 to 2, but at \(1,\) there is -1"),
    "a target beyond": (lambda: cross_entropy(TABLE[:2], torch.tensor([1, 3])), r"0 to 2.*3"),
    "targets that are fractions": (lambda: cross_entropy(TABLE[:2], torch.tensor([1.0, 0.0])), "whole numbers"),
    "vectors of another shape": (lambda: squared_error(TABLE, TABLE[0]), r"\(7, 3\).*\(3,\)"),
    "vectors of another type": (lambda: squared_error(TABLE, TABLE.double()), "float32.*float64"),
    "a model's id below 0": (lambda: TINY(torch.tensor([2, -1])), r"0 to 6.*\(1,\) there is -1"),
    "a model's id beyond": (lambda: TINY(torch.tensor([7])), "0 to 6.*7"),
    "a large model's id below 0": (lambda: LARGE(torch.tensor([2, -1])), r"0 to 6.*\(1,\) there is -1"),
    "a large model's id beyond": (lambda: LARGE(torch.tensor([7])), "0 to 6.*7"),
    "a model's ids that are true": (lambda: TINY(BIT), "whole numbers.*bool"),
    "a large model's ids that are true": (lambda: LARGE(BIT), "whole numbers.*bool"),
    "a model's ids that are fractions": (lambda: TINY(IDS.float()), "whole numbers.*float32"),
    "a model's ids in a list": (lambda: TINY([1, 2]), r"whole numbers.*\[1, 2\]"),
    "more tokens than a model sees": (lambda: TINY(torch.zeros(6).long()), "sees 1 to 5 tokens at once, but got 6"),
    "no tokens": (lambda: LARGE(IDS[:0]), "sees 1 to 5 tokens at once, but got 0"),
    "a token below 0": (lambda: WORDS.decode([0, -1]), "ids go from 0 to 2, but got -1"),
    "a token beyond": (lambda: WORDS.decode([3]), "ids go from 0 to 2, but got 3"),
    "half a token": (lambda: WORDS.decode([0.5]), "ids go from 0 to 2, but got 0.5"),
    "true as a token": (lambda: WORDS.decode([True]), "ids go from 0 to 2, but got True"),
    "a word that nobody knows": (lambda: WORDS.encode(["dog"]), "not in the vocabulary of 3: 'dog'"),
    "another way to cut": (lambda: tokenize("the cat", "letters"), "words or characters, but got 'letters'"),
    # bytes
    "an unknown byte": (lambda: BYTES.encode("acd"), "“acd” has the piece “d”, which is none of the 4"),
    "an unknown letter": (lambda: BYTES.encode("é"), "“é” has the piece “Ã”"),
    "a pair that is no piece": (lambda: BYTES.encode("ab"), "“ab” has the piece “ab”"),
    "half of a character": (lambda: BYTES.encode("a\ud800"), r"half of a character.*\\ud800"),
    "a piece below 0": (lambda: BYTES.decode([-1]), "ids go from 0 to 3, but got -1"),
    "a piece beyond": (lambda: BYTES.decode([4]), "ids go from 0 to 3, but got 4"),
    "half a piece": (lambda: BYTES.decode([1.5]), "ids go from 0 to 3, but got 1.5"),
    "a character that is no byte": (lambda: readable("▁cat"), "“▁cat” “▁” stands for none"),
    # heads
    "a layer that there is not": (heads_off(TINY, [(2, 0)]), r"layers go from 0 to 1 .* 0 to 1, but got \(2, 0\)"),
    "a head that there is not": (heads_off(TINY, [(0, 2)]), r"heads from 0 to 1, but got \(0, 2\)"),
    "a layer below 0": (heads_off(TINY, [(-1, 0)]), r"got \(-1, 0\)"),
    "half a head": (heads_off(TINY, [(0, 0.5)]), r"two whole numbers.*\(0, 0.5\)"),
    "a head alone": (heads_off(TINY, [1]), "two whole numbers.*1"),
    "true as a head": (heads_off(TINY, [(True, False)]), r"two whole numbers.*\(True, False\)"),
    "three numbers for a head": (heads_off(TINY, [(0, 1, 0)]), r"two whole numbers.*\(0, 1, 0\)"),
    "a large model's layer that there is not": (heads_off(LARGE, [(2, 0)]), r"got \(2, 0\)"),
    "a large model's head that there is not": (heads_off(LARGE, [(0, 3)]), r"got \(0, 3\)"),
    "a large model's layer below 0": (heads_off(LARGE, [(-1, 0)]), r"got \(-1, 0\)"),
    "another output for a layer that there is not": (
        lambda: LARGE(IDS, patched={(2, 0): torch.zeros(4, 2)}),
        r"got \(2, 0\)",
    ),
    "another output of another shape": (
        lambda: LARGE(IDS, patched={(0, 1): torch.zeros(3, 2)}),
        r"head 1 has the shape \(4, 2\).*\(3, 2\)",
    ),
    "another output of another type": (lambda: HEADS(X, patched={0: torch.zeros(5, 3).double()}), "float32.*float64"),
    "no other output": (lambda: HEADS(X, patched={0: None}), "None"),
    "a head of attention that there is not": (lambda: HEADS(X, ablated=[2]), "0 to 1, but got 2"),
    "half a head of attention": (lambda: HEADS(X, ablated=[0.5]), "0 to 1, but got 0.5"),
    "another output for no head": (lambda: HEADS(X, patched={-1: torch.zeros(5, 3)}), "0 to 1, but got -1"),
    "half a head to split": (lambda: split_heads(X, 1.5), "n_heads is a whole number.*1.5"),
    "−2 heads to split": (lambda: split_heads(X, -2), "at least 1, but got -2"),
    "half a head to share": (lambda: share_heads(X[None], 1.5), "n_heads is a whole number.*1.5"),
    "features for half a head": (lambda: features_per_head(6, 1.5), "n_heads is 1.5"),
    "features for heads that do not divide": (lambda: features_per_head(6, 4), "works with 1, 2, 3, 6 heads.* is 4"),
    "keys of half a head": (drawn(kv_heads=0.5), "kv_heads is a whole number.*0.5"),
    "keys of no heads": (drawn(kv_heads=0), "kv_heads is a whole number of at least 1, but got 0"),
    "keys of heads that do not divide": (drawn(n_heads=3, kv_heads=2), "3 heads cannot share.* 2 evenly"),
    "half a feature": (drawn(d_k=1.5), "d_k is a whole number.*1.5"),
    "no features of values": (drawn(d_v=0), "d_v is a whole number of at least 1, but got 0"),
    "a dropout above 1": (drawn(dropout=1.5), "dropout is a number from 0 to 1, but got 1.5"),
    "a dropout that is no number": (drawn(dropout=NAN), "dropout is a number from 0 to 1, but got nan"),
    # sampling
    "half a token in top-k": (sampling(top_k=2.5), "top-k keeps a whole number.*2.5"),
    "a whole float as top-k": (sampling(top_k=2.0), "top-k keeps a whole number.*2.0"),
    "true as top-k": (sampling(top_k=True), "top-k keeps a whole number.*True"),
    "NaN as top-k": (sampling(top_k=NAN), "top-k keeps a whole number.*nan"),
    "a word as top-k": (sampling(top_k="3"), "top-k keeps a whole number.*'3'"),
    "0 as top-k": (sampling(top_k=0), "top-k keeps a whole number.*0"),
    "a top-p above 1": (sampling(top_p=1.01), "top-p is a share.*1.01"),
    "0 as top-p": (sampling(top_p=0), "top-p is a share.*0"),
    "NaN as top-p": (sampling(top_p=NAN), "top-p is a share.*nan"),
    "a word as top-p": (sampling(top_p="1"), "top-p is a share.*'1'"),
    "None as top-p": (sampling(top_p=None), "top-p is a share.*None"),
    "true as top-p": (sampling(top_p=True), "top-p is a share.*True"),
    "a temperature below 0": (sampling(temperature=-1), "temperature.*-1"),
    "an infinite temperature": (sampling(temperature=math.inf), "temperature.*inf"),
    "a word as a temperature": (sampling(temperature="1"), "temperature.*'1'"),
    "None as a temperature": (sampling(temperature=None), "temperature.*None"),
    "true as a temperature": (sampling(temperature=True), "temperature.*True"),
    "a temperature for each token": (sampling(temperature=torch.ones(2)), "temperature.*tensor"),
    "half a token of the likeliest": (lambda: keep_top_k(LOGITS, 2.5), "top-k keeps a whole number.*2.5"),
    "the likeliest of what is no number": (lambda: keep_top_k(LOGITS * NAN, 2), "not finite: 5 of 5"),
    "scores of no token": (lambda: next_token_probabilities(LOGITS[:0]), r"a score.*\(0,\)"),
    "whole scores": (lambda: next_token_probabilities(IDS), "floating-point.*int64"),
    "nothing kept": (lambda: renormalise(LOGITS.softmax(0), LOGITS > 9), "nothing is left"),
    "what is no number kept": (lambda: renormalise(LOGITS * NAN, LOGITS > 0), "nothing is left"),
    "a draw of 1": (lambda: pick(LOGITS.softmax(0), 1.0), "from 0 to below 1, but got 1.0"),
    "a draw below 0": (lambda: pick(LOGITS.softmax(0), -0.1), "from 0 to below 1, but got -0.1"),
    "a draw that is no number": (lambda: pick(LOGITS.softmax(0), NAN), "from 0 to below 1, but got nan"),
    "half a new token": (lambda: continue_text(TINY, [1], 0.5, generator=generator(0)), "n_new is a whole.*0.5"),
    "−1 new tokens": (lambda: continue_text(TINY, [1], -1, generator=generator(0)), "n_new is a whole.*-1"),
    "nothing to go on from": (lambda: continue_text(TINY, [], 1, generator=generator(0)), "at least one token"),
    "an unknown token to go on from": (lambda: continue_text(TINY, [7], 1, generator=generator(0)), "0 to 6.*7"),
    "half a token asked for": (lambda: check_request(["a"], 2.5), "0 to 200 tokens, but got 2.5"),
    "too many tokens asked for": (lambda: check_request(["a"], 201), "0 to 200 tokens, but got 201"),
    "no context": (lambda: read_newest(TINY, IDS, context=0), "context is a whole number of at least 1, but got 0"),
    "a context of −1": (lambda: read_newest(TINY, IDS, context=-1), "context is a whole number.*-1"),
    "half a context": (lambda: read_newest(TINY, IDS, context=1.5), "context is a whole number.*1.5"),
    "a text that slides by nothing": (lambda: measure_sliding(TINY, IDS), "slides after 5 tokens, but the text has 4"),
    # masks and distances
    "half a token of width": (lambda: sliding_window_mask(4, 1.5), "width of at least 1, but got 1.5"),
    "NaN as a width": (lambda: sliding_window_mask(4, NAN), "width of at least 1, but got nan"),
    "half a real token": (lambda: padding_mask(4, 2.5), "at most 4, its whole length, but got 2.5"),
    "true as the number of real tokens": (lambda: padding_mask(4, True), "its whole length, but got True"),
    "half a token in a mask": (lambda: full_mask(2.5), "n_tokens is a whole number.*2.5"),
    "a cell of 2": (lambda: drawn_mask([[2, 0], [1, 1]]), "True or False, but got 2"),
    "a cell that is no number": (lambda: drawn_mask([[NAN, 0], [1, 1]]), "True or False, but got nan"),
    "a cell that is a word": (lambda: drawn_mask([["x", 0], [1, 1]]), "True or False, but got 'x'"),
    "a row too short": (lambda: drawn_mask([[1, 0], [1]]), r"2 cells in every row, but got \[1, 2\]"),
    "a past of half a key": (lambda: distances(2, 3, 0.5), "past is a whole number.*0.5"),
    "a past before all queries": (lambda: distances(2, 3, -3), "past is a whole number of at least -2, but got -3"),
    "biases of half a head": (lambda: alibi_biases(distances(2, 2), 1.5), "n_heads is a whole number.*1.5"),
    "places of global tokens": (lambda: with_global_tokens(causal_mask(2), torch.tensor([0, 1])), "boolean.*int64"),
    "global tokens in a float mask": (lambda: with_global_tokens(TABLE, BIT), "both masks are boolean"),
    # positions
    "an infinite base": (lambda: rotate(X, how=Rotary(base=math.inf)), "above 0, but got inf"),
    "a base that is no number": (lambda: rotate(X, how=Rotary(base=NAN)), "above 0, but got nan"),
    "a base for each feature": (lambda: rotate(X, how=Rotary(base=torch.ones(3))), "above 0, but got tensor"),
    "a word as a base": (lambda: rotate(X, how=Rotary(base="1e4")), "above 0, but got 1e4"),
    "an infinite stretch": (lambda: rotate(X, how=Rotary(stretch=math.inf)), "above 0, .* inf"),
    "half a feature to turn": (lambda: rotate(X, how=Rotary(features=2.5)), "features.*2.5"),
    "−2 features to turn": (lambda: rotate(X, how=Rotary(features=-2)), "-2"),
    "half a first position": (lambda: rotate(X, 0.5), "first is a whole number.*0.5"),
    "a vector without tokens": (lambda: rotate(X[0]), r"a row for each token.*\(6,\)"),
    "positions of half a token": (lambda: sinusoidal_positions(2.5, 4), "n_tokens is a whole number.*2.5"),
    "positions of no token": (lambda: sinusoidal_positions(0, 4), "n_tokens .* at least 1, but got 0"),
    "positions of no feature": (lambda: sinusoidal_positions(4, 0), "d_model .* at least 1, but got 0"),
    "positions of whole numbers": (lambda: sinusoidal_positions(4, 2, like=IDS), "floating-point.*int64"),
    "angles of whole numbers": (lambda: rotation_angles(4, 2, like=np.arange(3)), "floating-point.*int64"),
    "positions that nobody adds": (lambda: added_positions("rope", 4, 2, 0), "sinusoidal or learned, but got 'rope'"),
    "positions that nobody knows": (lambda: add_positions(X, "rope", 0), "sinusoidal or learned, but got 'rope'"),
    "a table of no token": (lambda: embedding_table(0, 4, generator(0)), "vocabulary .* at least 1, but got 0"),
    "an order that forgets a token": (
        lambda: attend_in_both_orders(X, IDENTITY, IDENTITY, IDENTITY, (0, 0, 1, 2, 3), None, 1.0, "none", 0),
        r"each of the positions 0 to 4 once, but got \(0, 0, 1, 2, 3\)",
    ),
    "an order that counts from the end": (
        lambda: attend_in_both_orders(X, IDENTITY, IDENTITY, IDENTITY, (-1, 0, 1, 2, 3), None, 1.0, "none", 0),
        "each of the positions 0 to 4 once",
    ),
    "an order of −1 tokens": (lambda: random_permutation(-1, 0), "n_tokens is a whole number.*-1"),
    "half a seed": (lambda: generator(0.5), "a seed is a whole number.*0.5"),
    "true as a seed": (lambda: generator(True), "a seed is a whole number.*True"),
    "a word as a seed": (lambda: generator("7", "shuffle"), "a seed is a whole number.*'7'"),
    "a seed too large": (lambda: generator(MAX_SEED + 1), "a seed is a whole number"),
}


@pytest.mark.parametrize("passed", REFUSED)
def test_what_has_no_right_number_is_refused_in_one_sentence(passed):
    call, words = REFUSED[passed]
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
