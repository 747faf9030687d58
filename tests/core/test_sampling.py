import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator
from attention_core.sampling import continue_text, next_token_probabilities

VOCABULARY, CONTEXT = 7, 5


def logits_of(seed):
    return torch.randn(VOCABULARY, generator=generator(seed)) * 3


def model():
    config = ModelConfig(vocabulary=VOCABULARY, context=CONTEXT, d_model=6)
    return TinyTransformer(config, generator(3)).eval()


@given(seed=st.integers(0, 10_000))
def test_at_temperature_one_it_is_the_softmax(seed):
    logits = logits_of(seed)
    torch.testing.assert_close(next_token_probabilities(logits), logits.softmax(-1))
    torch.testing.assert_close(next_token_probabilities(logits, 1.0), logits.softmax(-1))


@given(seed=st.integers(0, 10_000), temperature=st.floats(0.05, 50))
def test_a_temperature_divides_the_logits(seed, temperature):
    exponentials = [math.exp((logit - 20) / temperature) for logit in logits_of(seed).double().tolist()]
    expected = torch.tensor([e / sum(exponentials) for e in exponentials])
    torch.testing.assert_close(next_token_probabilities(logits_of(seed), temperature), expected, rtol=1e-3, atol=1e-5)


@given(seed=st.integers(0, 10_000))
def test_at_temperature_zero_only_the_likeliest_is_left(seed):
    probabilities = next_token_probabilities(logits_of(seed), 0.0)
    assert probabilities.sum() == 1 and probabilities[logits_of(seed).argmax()] == 1


def test_at_temperature_zero_a_tie_still_has_one_winner():
    assert sorted(next_token_probabilities(torch.zeros(3), 0.0).tolist()) == [0, 0, 1]


@given(temperature=st.floats(0, exclude_min=True, allow_infinity=False), size=st.sampled_from([1.0, 1e4, 1e30]))
def test_every_temperature_gives_a_distribution(temperature, size):
    probabilities = next_token_probabilities(logits_of(0) * size, temperature)
    assert (probabilities >= 0).all()
    torch.testing.assert_close(probabilities.sum(), torch.tensor(1.0))
    assert probabilities.max() == probabilities[logits_of(0).argmax()]


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-45, 1e-50, 5e-324])
def test_a_temperature_near_zero_is_like_zero(temperature):
    logits = logits_of(0)
    assert torch.equal(next_token_probabilities(logits, temperature), next_token_probabilities(logits, 0.0))


@pytest.mark.parametrize("temperature", [1e6, 1e38, 1e300])
def test_a_high_temperature_makes_all_equally_likely(temperature):
    expected = torch.full((VOCABULARY,), 1 / VOCABULARY)
    torch.testing.assert_close(next_token_probabilities(logits_of(0), temperature), expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize("temperature", [-0.1, -math.inf, math.inf, math.nan])
def test_an_impossible_temperature_is_an_error_that_names_it(temperature):
    with pytest.raises(ValueError, match=f"temperature is a number from 0 up, but got {temperature}"):
        next_token_probabilities(logits_of(0), temperature)


def test_a_text_goes_on_from_its_start():
    ids = continue_text(model(), [1, 2, 3], 11, generator=generator(0))
    assert ids[:3] == [1, 2, 3] and len(ids) == 14
    assert all(0 <= i < VOCABULARY for i in ids)


def test_the_start_is_left_as_it_was_and_may_be_all_there_is():
    start = [1, 2, 3]
    assert continue_text(model(), start, 0, generator=generator(0)) == start
    continue_text(model(), start, 5, generator=generator(0))
    assert start == [1, 2, 3]


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_every_new_token_is_drawn_from_what_the_model_says_of_the_last_few(temperature):
    ids, random = [1, 2, 3], generator(17)
    for _ in range(11):
        logits = model()(torch.tensor(ids[-CONTEXT:])).logits[-1].detach()
        probabilities = next_token_probabilities(logits, temperature)
        ids.append(int(torch.multinomial(probabilities, 1, generator=random)))
    assert continue_text(model(), [1, 2, 3], 11, temperature=temperature, generator=generator(17)) == ids


def test_what_lies_before_the_context_does_not_matter():
    seen = [1, 2, 3, 4, 5]
    one, other = (continue_text(model(), [before] * 11 + seen, 13, generator=generator(0)) for before in (0, 6))
    assert one[11:] == other[11:]


def test_the_same_generator_draws_the_same_text_and_leaves_the_global_state_alone():
    before = torch.random.get_rng_state()
    one, same, other = (continue_text(model(), [1], 40, generator=generator(seed)) for seed in (1, 1, 2))
    assert one == same and one != other
    assert torch.equal(torch.random.get_rng_state(), before)


def test_at_temperature_zero_the_generator_does_not_matter():
    one, other = (continue_text(model(), [1], 20, temperature=0.0, generator=generator(seed)) for seed in (1, 2))
    assert one == other


def test_a_text_cannot_go_on_from_nothing():
    with pytest.raises(ValueError, match="at least one character"):
        continue_text(model(), [], 3, generator=generator(0))
