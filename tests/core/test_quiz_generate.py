"""Questions about one new token: each right choice computed again, from the scores alone, with plain Python."""

import math
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.generation import GeneratedToken
from attention_core.randomness import generator
from attention_core.sampling import Sampling, draw_token
from attention_core.tokens import Vocabulary
from lessons.questions.generate import (
    QUESTIONS,
    Moment,
    ask_about_writing,
    most_probable,
    only_one,
    same_seed,
    survivors,
    warmer,
)

VOCABULARY = Vocabulary(tuple(" dehlorw"))
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    top_k=st.none() | st.integers(1, 9),
    top_p=st.sampled_from([0.3, 0.9, 1.0]),
)
LOGITS = st.lists(st.floats(-20, 20) | st.sampled_from([0.0, 1.0]), min_size=8, max_size=8)
MOMENTS = st.tuples(LOGITS, SAMPLINGS, st.integers(0, 99))


def moment(logits, sampling=None, seed=0):
    sampling = sampling or Sampling()
    draw = draw_token(torch.tensor(logits, dtype=torch.float64), sampling, generator(seed))
    window, looks = tuple("hello w"), (torch.full((2, 7), 1 / 7),)
    return Moment(GeneratedToken(VOCABULARY.tokens[draw.token], 7, 0, window, draw, looks), VOCABULARY, sampling)


def softmax(logits, temperature=1.0):
    powers = [math.exp((v - max(logits)) / temperature) for v in logits]
    return [p / sum(powers) for p in powers]


def quoted(token):
    return f"“{'␣' if VOCABULARY.tokens[token] == ' ' else VOCABULARY.tokens[token]}”"


def right_of(question):
    return question.choices[question.right].text


@given(now=MOMENTS, number=st.integers(0, 200))
def test_there_is_always_a_question_with_choices_that_differ(now, number):
    now = moment(*now)
    question = ask_about_writing(now, number)
    assert question == ask_about_writing(now, number)
    assert 2 <= len(question.choices) <= 4
    assert len({choice.text for choice in question.choices}) == len(question.choices)
    assert all(choice.answer_to_it for choice in question.choices)


@pytest.mark.parametrize("maker", QUESTIONS)
@given(now=MOMENTS, number=st.integers(0, 200))
def test_the_right_choice_is_right_and_the_only_one(maker, now, number):
    now = moment(*now)
    question = maker(now, generator(number))
    if question is None:
        assert maker in (most_probable, warmer)
        return
    logits = now.new.draw.logits.tolist()
    says = softmax(logits)
    best = max(range(8), key=lambda i: (logits[i], -i))
    if maker is most_probable:
        assert right_of(question) == quoted(best)
    elif maker is warmer:
        hot = softmax(logits, 2.0)[best]
        digits = len(right_of(question).split(".")[1])
        assert float(right_of(question)) == pytest.approx(hot, abs=0.51 * 10**-digits)
        others = [float(c.text) for i, c in enumerate(question.choices) if i != question.right]
        assert all(abs(other - hot) >= 10**-digits for other in others)
    elif maker is survivors:
        p, total, count = float(re.search(r"top-p (\d\.\d+)", question.prompt)[1]), 0.0, 0
        for value in sorted(says, reverse=True):
            if total < p - 1e-12:
                total, count = total + value, count + 1
        assert right_of(question) == str(count)
    elif maker is only_one:
        assert right_of(question) == f"{quoted(best)}, every time"
    else:
        assert right_of(question) == f"{quoted(now.new.draw.token)} again"


def test_the_sentences_of_wrong_choices_are_true():
    now = moment([0.0, 1.0, 2.0, 2.5, 0.5, -1.0, 1.5, -2.0], seed=1)
    draw = now.new.draw
    question = most_probable(now, generator(0))
    for choice in question.choices:
        token = next(i for i in range(8) if quoted(i) == choice.text)
        printed = re.search(r"(\d\.\d{3})", choice.answer_to_it)
        if printed:
            assert printed[1] == f"{float(draw.probabilities[token]):.3f}"
        if "was drawn" in choice.answer_to_it:
            assert token == draw.token
        if "last character read" in choice.answer_to_it:
            assert VOCABULARY.tokens[token] == "w"
    assert same_seed(now, generator(0)).choices[0].text == f"{quoted(draw.token)} again"


def test_a_tie_is_no_fair_question_of_the_likeliest():
    assert most_probable(moment([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), generator(0)) is None
    assert ask_about_writing(moment([0.0] * 8), 3).choices
