import math
import re
from dataclasses import fields

import pytest
import torch
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import MAX_SEED, generator
from attention_core.one_head.attention import AttentionTrace, attend
from attention_core.text.embeddings import embed, embedding_table
from lessons.example.example import LIMITS, Example, run_example
from lessons.example.presets import JOURNEY_TOKENS, JOURNEY_X, draw_weight
from lessons.example.real_model import MAX_TOKENS
from lessons.example.source import DEFAULT_SENTENCE
from lessons.screen import format_value
from tests.printed import as_printed

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


def sentence(text=DEFAULT_SENTENCE, **choices):
    return Example(source="sentence", text=text, **choices)


# The notebook's numbers


def test_the_plain_dot_products_are_those_that_the_notebook_prints():
    x = torch.tensor(JOURNEY_X)
    trace = attend(x, x, x, scale=1.0)
    assert JOURNEY_TOKENS == ("Your", "journey", "starts", "with", "one", "step")
    assert trace.scores[1].tolist() == as_printed([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])
    assert trace.weights[1].tolist() == as_printed([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])


def test_the_plain_context_vector_is_the_weighted_sum_of_the_vectors():
    x = torch.tensor(JOURNEY_X)
    trace = attend(x, x, x, scale=1.0)
    context = sum(float(trace.weights[1, j]) * x[j] for j in range(6))
    torch.testing.assert_close(trace.output[1], context)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scaling", [False, True])
@pytest.mark.parametrize("seed", [42, 123])
def test_the_journey_is_what_the_notebook_computes(seed, scaling, causal):
    x = torch.tensor(JOURNEY_X)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        W_q, W_k, W_v = torch.randn(3, 2), torch.randn(3, 2), torch.randn(3, 2)
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    scores = q @ k.T / (math.sqrt(2) if scaling else 1)
    if causal:
        scores = scores.masked_fill(torch.triu(torch.ones(6, 6), diagonal=1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)

    trace = run_example(Example(seed=seed, scaling=scaling, causal=causal))
    assert torch.equal(trace.x, x)
    for drawn, expected in ((trace.W_q, W_q), (trace.W_k, W_k), (trace.W_v, W_v)):
        assert torch.equal(drawn, expected)
    head = trace.heads.select(0)
    torch.testing.assert_close(head.q, q)
    torch.testing.assert_close(head.k, k)
    torch.testing.assert_close(head.v, v)
    torch.testing.assert_close(head.masked, scores)
    torch.testing.assert_close(head.weights, weights)
    torch.testing.assert_close(head.output, weights @ v)


def test_the_attention_lab_s_printed_numbers_come_out_of_the_same_steps():
    """The one-head example of the “hello world” notebook: its printed vectors, to the printed digits."""
    with torch.random.fork_rng():
        torch.manual_seed(1337)
        x = torch.randn(2, 4, 8)
        key, query, value = (torch.nn.Linear(8, 8, bias=False) for _ in range(3))
    random = generator(1337)
    assert torch.equal(torch.randn(2, 4, 8, generator=random), x)
    W_k, W_q, W_v = (draw_weight("linear", 8, 8, random) for _ in range(3))
    trace = attend(x @ W_q, x @ W_k, x @ W_v, torch.ones(4, 4).tril().bool())

    assert x[0, 0].tolist() == as_printed([0.1808, -0.0700, -0.3596, -0.9152, 0.6258, 0.0255, 0.9545, 0.0643])
    assert trace.q[0, 0].tolist() == as_printed([0.0110, -0.1263, 0.4046, 0.0332, 0.2670, -0.1756, 0.1955, -0.0063])
    assert trace.q[0, 3].tolist() == as_printed([-0.2882, 0.1333, 0.5673, 1.1221, 0.8594, 0.3488, 0.5764, -0.1420])
    assert trace.k[0, 0].tolist() == as_printed([0.1337, 0.1884, 0.2608, 0.0804, -0.4088, 0.2697, -0.0554, 0.2315])
    assert trace.k[0, 1].tolist() == as_printed([0.7615, 0.6625, -0.1835, 0.1656, 0.8969, 0.4457, -0.2870, 0.5668])
    assert trace.k[0, 2].tolist() == as_printed([-0.6749, -0.9168, -0.1317, 0.0897, 1.0475, 0.3863, 1.2753, -0.6169])
    torch.testing.assert_close(trace.v, value(x))
    scores = (query(x) @ key(x).transpose(-2, -1) / 8**0.5).masked_fill(torch.ones(4, 4).tril() == 0, float("-inf"))
    torch.testing.assert_close(trace.output, torch.softmax(scores, dim=-1) @ value(x))


# Vectors


def test_the_same_word_has_the_same_vector_and_another_word_another():
    trace = run_example(sentence("the cat saw the dog"))
    assert trace.ids == (0, 1, 2, 0, 3)
    assert torch.equal(trace.x[0], trace.x[3])
    assert not torch.allclose(trace.x[0], trace.x[1])


def test_the_vectors_are_drawn_from_a_stream_of_their_own():
    trace = run_example(sentence("a cat sat", d_model=5, seed=17))
    assert torch.equal(trace.x, embedding_table(3, 5, generator(17, "embedding")))
    assert not torch.isin(trace.x, trace.W_q).any()


def test_capital_letters_make_another_word():
    trace = run_example(sentence("The the"))
    assert trace.ids == (0, 1)


@given(rows=st.integers(1, 13), more=st.integers(1, 17), d_model=st.integers(1, 19), seed=st.integers(0, MAX_SEED))
def test_a_larger_table_begins_with_the_rows_of_the_smaller(rows, more, d_model, seed):
    small = embedding_table(rows, d_model, generator(seed, "embedding"))
    large = embedding_table(rows + more, d_model, generator(seed, "embedding"))
    assert small.shape == (rows, d_model)
    assert torch.equal(large[:rows], small)


def test_embedding_looks_up_rows_and_keeps_the_axes_of_the_ids():
    table = embedding_table(7, 3, generator(0))
    ids = torch.tensor([[1, 5, 1, 0, 6], [2, 2, 4, 3, 0]])
    x = embed(ids, table)
    assert x.shape == (2, 5, 3)
    for b in range(2):
        for i in range(5):
            assert torch.equal(x[b, i], table[ids[b, i]])


@pytest.mark.parametrize("unit", ["words", "characters"])
@pytest.mark.parametrize("more", ["mat", "sat", "!"])
def test_one_more_word_at_the_end_changes_no_earlier_row_and_no_map(unit, more):
    text = "a cat sat" if unit == "words" else "a cat"
    short, long = (run_example(sentence(t, unit=unit)) for t in (text, f"{text} {more}"))
    n = len(short.tokens)
    assert len(long.tokens) > n
    assert long.tokens[:n] == short.tokens and long.ids[:n] == short.ids
    assert torch.equal(long.x[:n], short.x)
    for name in ("W_q", "W_k", "W_v"):
        assert torch.equal(getattr(long, name), getattr(short, name))
    torch.testing.assert_close(long.heads.weights[:, :n, :n], short.heads.weights)
    torch.testing.assert_close(long.heads.output[:, :n], short.heads.output)


# Maps


def test_linear_weights_are_drawn_like_those_of_a_linear_layer():
    with torch.random.fork_rng():
        torch.manual_seed(7)
        layers = [torch.nn.Linear(5, 3, bias=False) for _ in range(2)]
    random = generator(7)
    for layer in layers:
        assert torch.equal(draw_weight("linear", 5, 3, random), layer.weight.T)


def test_small_weights_are_a_tenth_of_normal_ones():
    normal, small = (draw_weight(kind, 5, 3, generator(7)) for kind in ("normal", "small"))
    torch.testing.assert_close(small * 10, normal)


@pytest.mark.parametrize("kind", ["normal", "small", "linear"])
def test_projections_are_the_vectors_times_the_maps(kind):
    trace = run_example(sentence(weight_kind=kind, n_heads=3, d_k=5, d_v=7, d_model=11))
    assert trace.x.shape == (6, 11)
    assert trace.W_q.shape == trace.W_k.shape == (11, 15)
    assert trace.W_v.shape == (11, 21)
    assert trace.heads.q.shape == trace.heads.k.shape == (3, 6, 5)
    assert trace.heads.v.shape == trace.heads.output.shape == (3, 6, 7)
    assert trace.heads.weights.shape == (3, 6, 6)
    for h in range(3):
        torch.testing.assert_close(trace.heads.q[h], trace.x @ trace.W_q[:, 5 * h : 5 * h + 5])
        torch.testing.assert_close(trace.heads.k[h], trace.x @ trace.W_k[:, 5 * h : 5 * h + 5])
        torch.testing.assert_close(trace.heads.v[h], trace.x @ trace.W_v[:, 7 * h : 7 * h + 7])


def test_one_head_has_an_axis_of_heads_too():
    assert run_example(Example()).heads.weights.shape == (1, 6, 6)


def test_scaling_can_be_switched_off():
    on, off = (run_example(Example(d_k=5, scaling=scaling)) for scaling in (True, False))
    assert math.isclose(on.scale, 1 / math.sqrt(5)) and off.scale == 1
    torch.testing.assert_close(on.heads.scaled * math.sqrt(5), on.heads.scores)
    assert torch.equal(off.heads.scaled, off.heads.scores)


# The same choices, the same numbers


def same(one, other):
    tensors = [(getattr(one, n), getattr(other, n)) for n in ("x", "W_q", "W_k", "W_v")]
    tensors += [(getattr(one.heads, f.name), getattr(other.heads, f.name)) for f in fields(AttentionTrace)]
    return one.tokens == other.tokens and all(torch.equal(a, b) for a, b in tensors)


@pytest.mark.parametrize("choices", [{}, {"source": "sentence", "n_heads": 2, "d_model": 7}])
def test_the_same_example_twice_is_the_same_to_the_last_bit(choices):
    assert same(run_example(Example(**choices)), run_example(Example(**choices)))


def test_another_seed_gives_other_numbers():
    one, other = (run_example(sentence(seed=seed)) for seed in (1, 2))
    assert not torch.allclose(one.x, other.x)
    assert not torch.allclose(one.W_q, other.W_q)


def test_a_change_of_the_query_size_leaves_the_vectors_as_they_are():
    one, other = (run_example(sentence(d_k=d_k)) for d_k in (2, 3))
    assert torch.equal(one.x, other.x)


def test_the_global_random_state_is_left_alone():
    before = torch.random.get_rng_state()
    run_example(sentence(weight_kind="linear"))
    run_example(Example())
    assert torch.equal(torch.random.get_rng_state(), before)


# Every text, every size


@given(text=ANY_TEXT, unit=st.sampled_from(["words", "characters"]), causal=st.booleans())
@also(text="\ud800", unit="words", causal=True)
@also(text="\u200d", unit="characters", causal=True)
@also(text="word " * 3000, unit="words", causal=False)
@also(text="\u202e<b>\x00</b>", unit="words", causal=True)
def test_every_text_gives_a_trace(text, unit, causal):
    trace = run_example(sentence(text, unit=unit, causal=causal))
    assert 1 <= len(trace.tokens) <= MAX_TOKENS
    assert len(trace.ids) == len(trace.tokens) == trace.x.shape[0]
    assert trace.heads.output.isfinite().all()
    "".join([*trace.tokens, *map(format_value, trace.notes)]).encode("utf-8")


@given(data=st.data())
def test_every_choice_within_the_limits_gives_a_trace(data):
    sizes = {name: data.draw(st.integers(limit.least, limit.most), name) for name, limit in LIMITS.items()}
    trace = run_example(sentence(**sizes, scaling=data.draw(st.booleans()), causal=data.draw(st.booleans())))
    assert trace.heads.weights.shape == (sizes["n_heads"], 6, 6)
    torch.testing.assert_close(trace.heads.weights.sum(dim=-1), torch.ones(sizes["n_heads"], 6))
    assert trace.heads.output.isfinite().all()


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\x00"])
def test_without_a_word_there_is_the_default_sentence_and_a_note(text):
    trace = run_example(sentence(text))
    assert trace.tokens == tuple(DEFAULT_SENTENCE.split())
    assert "There is no word to show yet" in format_value(trace.notes[-1])
    assert DEFAULT_SENTENCE in format_value(trace.notes[-1])


def test_without_a_text_no_note_speaks_of_the_length_of_the_text():
    trace = run_example(sentence("", unit="characters"))
    assert not any("The text has" in format_value(note) for note in trace.notes)


def test_an_ordinary_sentence_has_no_notes():
    assert run_example(sentence()).notes == ()
    assert run_example(Example()).notes == ()


def test_a_long_sentence_is_cut_and_says_so():
    trace = run_example(sentence(" ".join(f"word{i}" for i in range(17))))
    assert trace.tokens == tuple(f"word{i}" for i in range(MAX_TOKENS))
    assert len(trace.notes) == 1
    assert re.search(rf"first {MAX_TOKENS} tokens", format_value(trace.notes[0]))


def test_a_sentence_of_exactly_the_limit_is_not_cut():
    trace = run_example(sentence(" ".join(f"word{i}" for i in range(MAX_TOKENS))))
    assert len(trace.tokens) == MAX_TOKENS
    assert trace.notes == ()


@pytest.mark.parametrize(("unit", "true"), [("words", {"12,000", "4,000"}), ("characters", {"12,000", "11,999"})])
def test_the_notes_on_a_very_long_text_say_nothing_false_of_it(unit, true):
    trace = run_example(sentence("ab cd " * 2_000, unit=unit))
    assert len(trace.tokens) == MAX_TOKENS
    claimed = re.findall(r"The text has ([\d,]+)", " ".join(map(format_value, trace.notes)))
    assert claimed and set(claimed) <= true


@pytest.mark.parametrize("name", LIMITS)
def test_a_size_outside_its_limits_is_an_error_that_names_it(name):
    limit = LIMITS[name]
    for value in (limit.least - 1, limit.most + 1):
        with pytest.raises(ValueError, match=f"^{name} goes from {limit.least} to {limit.most}, but got {value}$"):
            Example(**{name: value})
    assert getattr(Example(**{name: limit.most}), name) == limit.most


@given(value=st.integers(-1000, 1000))
def test_clamping_gives_the_nearest_size_within_the_limits(value):
    for limit in LIMITS.values():
        clamped = limit.clamp(value)
        assert limit.least <= clamped <= limit.most
        assert clamped == value or not limit.least <= value <= limit.most
        assert abs(clamped - value) == min(abs(value - limit.least), abs(value - limit.most)) or clamped == value


# Seeds


def test_a_seed_without_a_purpose_is_the_stream_of_torch():
    with torch.random.fork_rng():
        torch.manual_seed(17)
        expected = torch.randn(13)
    assert torch.equal(torch.randn(13, generator=generator(17)), expected)


def test_each_purpose_has_a_stream_of_its_own():
    streams = [torch.randn(5, generator=generator(17, purpose)).tolist() for purpose in ("", "embedding", "batches")]
    assert streams[0] != streams[1] != streams[2] != streams[0]
    assert torch.randn(5, generator=generator(17, "embedding")).tolist() == streams[1]


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_an_impossible_seed_is_an_error(seed):
    with pytest.raises(ValueError, match=f"whole number from 0 to {MAX_SEED}, but got {seed}"):
        generator(seed)
