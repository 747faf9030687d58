"""Every question has exactly one right choice: proved here by computing it again, in numpy and double precision."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import EXAMPLES

from attention_core.randomness import generator
from lessons import questions as quiz
from lessons.captions import name
from lessons.example import LIMITS, Example, run_example
from lessons.questions import QUESTIONS, ask
from lessons.questions.old_base import Choice, Question, among_numbers

NAME = r"(“[^”]*”(?: \(\d+\))?)"


class Again:
    """The numbers of one head, computed once more from X and the weight matrices."""

    def __init__(self, trace, head):
        self.example, self.tokens = trace.example, trace.tokens
        self.x = trace.x.double().numpy()
        self.n, self.d = self.x.shape
        d_k, d_v = trace.example.d_k, trace.example.d_v
        self.q = self.x @ trace.W_q.double().numpy()[:, head * d_k : (head + 1) * d_k]
        self.k = self.x @ trace.W_k.double().numpy()[:, head * d_k : (head + 1) * d_k]
        self.v = self.x @ trace.W_v.double().numpy()[:, head * d_v : (head + 1) * d_v]
        self.scores = np.einsum("if,jf->ij", self.q, self.k)
        self.weights = self.softmax(example_scale(trace.example), trace.example.causal)
        self.output = np.einsum("ij,jf->if", self.weights, self.v)

    def softmax(self, scale, causal, order=None):
        """Weights row by row, over the visible keys alone: no −∞ involved."""
        scores = self.scores if order is None else self.scores[np.ix_(order, order)]
        weights = np.zeros_like(scores)
        for i, row in enumerate(scores * scale):
            seen = slice(0, i + 1) if causal else slice(None)
            e = np.exp(row[seen] - row[seen].max())
            weights[i, seen] = e / e.sum()
        return weights

    def place(self, label):
        """Where the token of this name stands."""
        return [name(self.tokens, p) for p in range(self.n)].index(label)


def example_scale(example):
    return example.d_k**-0.5 if example.scaling else 1.0


# What is right, for each kind: the pattern of its prompt, and a test of the text of a choice.


def is_number(text, value):
    """True when this is the value, printed with the digits that are shown."""
    if not re.fullmatch(r"−?\d+\.\d+", text):
        return False
    digits = len(text.split(".")[1])
    return abs(float(text.replace("−", "-")) - value) <= 0.5 * 10**-digits + 1e-5 * max(1, abs(value))


def is_winner(again, text, values):
    return again.place(text) == int(np.argmax(values)) and np.sort(values)[-1] > np.sort(values)[-2]


def right_shape_of_x(again, text):
    return text == f"{again.n} × {again.d}"


def right_same_token(again, text, a, b):
    equal = (again.x[again.place(a)] == again.x[again.place(b)]).all()
    return text == ("They hold the same numbers." if equal else "They differ, as the two stand at different places.")


def right_swap(again, text, a, b):
    order = np.arange(again.n)
    order[[again.place(a), again.place(b)]] = order[[again.place(b), again.place(a)]]
    assert (again.x[order] != again.x).any()
    return text == "Two rows change places."


def right_once_more(again, text, a):
    found = re.fullmatch(rf"The row that {re.escape(a)} has already; it starts with (.*)\.", text)
    return bool(found) and is_number(found[1], again.x[again.place(a), 0])


def right_hidden(again, text, a, b):
    assert again.place(a) < again.place(b)
    return is_number(text, again.softmax(example_scale(again.example), True)[again.place(a), again.place(b)])


def right_switched_mask(again, text, now, a, shown, b, then):
    causal = again.example.causal
    assert (now == "With") == causal and (then == "with") == (not causal)
    place = again.place(a), again.place(b)
    assert is_number(shown, again.weights[place])
    return is_number(text, again.softmax(example_scale(again.example), not causal)[place])


def right_zeros(again, text, a):
    i = again.place(a)
    return is_number(text, again.softmax(example_scale(again.example), False)[i, : i + 1].sum())


def right_visible(again, text, switch, a, place, n):
    assert again.example.causal == (switch == "on") and (int(place), int(n)) == (again.place(a) + 1, again.n)
    return text == str((again.weights[again.place(a)] > 0).sum())


KINDS = {
    "shape_of_x": (r"The sentence has \d+ .*", right_shape_of_x),
    "same_token_twice": (rf"{NAME} and {NAME} are the same token.*", right_same_token),
    "tokens_swapped": (rf"{NAME} and {NAME} change places, and each brings its vector.*", right_swap),
    "token_once_more": (rf"Let each row of X .* Suppose {NAME} came once more.*", right_once_more),
}


def check(question, kind, again):
    """One choice is right, and it is the one that the question says."""
    pattern, is_right = KINDS[kind]
    found = re.fullmatch(pattern, question.prompt)
    assert found, question.prompt
    shown = [choice.text for choice in question.choices]
    assert [is_right(again, text, *found.groups()) for text in shown] == [
        place == question.right for place in range(len(shown))
    ], question
    assert 2 <= len(set(shown)) == len(shown) <= 4
    assert all(choice.text.strip() and choice.answer_to_it.strip() for choice in question.choices)


def kind_of(question):
    return next(kind for kind, (pattern, _) in KINDS.items() if re.fullmatch(pattern, question.prompt))


def test_every_kind_is_proved():
    assert set(KINDS) == {maker.__name__ for makers in QUESTIONS.values() for maker in makers}
    assert list(QUESTIONS) == ["tokens"]


@given(EXAMPLES, st.integers(0, 1000))
def test_exactly_one_choice_is_right_in_every_kind_of_question(example, seed):
    trace = run_example(example)
    for head in range(trace.example.n_heads):
        again, random = Again(trace, head), generator(seed)
        for lesson, makers in QUESTIONS.items():
            for maker in makers:
                question = maker(trace, head, random)
                assert question is None or check(question, maker.__name__, again) is None
            assert makers[-1](trace, head, random) is not None, f"the last kind of {lesson} is always possible"


@pytest.mark.parametrize("lesson", QUESTIONS)
@given(example=EXAMPLES, seed=st.integers(0, LIMITS["seed"].most))
def test_asking_always_gives_a_question_and_the_same_one_again(lesson, example, seed):
    trace = run_example(example)
    head = trace.example.n_heads - 1
    question = ask(lesson, trace, head, seed)
    check(question, kind_of(question), Again(trace, head))
    assert ask(lesson, run_example(example), head, seed) == question


@pytest.mark.parametrize("lesson", QUESTIONS)
def test_all_kinds_come_up_and_the_right_choice_stands_anywhere(lesson):
    trace = run_example(Example(source="sentence", text="the cat saw the dog"))
    questions = [ask(lesson, trace, 0, seed) for seed in range(100)]
    assert {kind_of(question) for question in questions} == {maker.__name__ for maker in QUESTIONS[lesson]}
    assert {question.right for question in questions} >= {0, 1, 2}


def test_one_token_of_one_feature_still_gives_questions():
    trace = run_example(Example(source="sentence", text="hi", d_model=1, d_k=1, d_v=1))
    for lesson in QUESTIONS:
        for seed in range(20):
            question = ask(lesson, trace, 0, seed)
            check(question, kind_of(question), Again(trace, 0))


def wrong_answers(maker):
    """What is said to the wrong choices of one kind, over many seeds."""
    traces = [run_example(Example(source="sentence", text="the cat saw the dog", seed=seed)) for seed in range(8)]
    questions = [maker(trace, 0, generator(seed)) for trace in traces for seed in range(10)]
    return [c.answer_to_it for q in questions if q for i, c in enumerate(q.choices) if i != q.right]


@pytest.mark.parametrize(
    ("maker", "mended"),
    [
        (quiz.tokens.tokens_swapped, "Order is not built into the vectors"),
        (quiz.tokens.same_token_twice, "The same token has the same row wherever it stands"),
    ],
)
def test_every_misconception_is_met(maker, mended):
    assert any(mended in answer for answer in wrong_answers(maker))


def test_numbers_that_print_alike_are_never_both_offered():
    def prompt(shown):
        return shown(0.3)

    assert among_numbers(prompt, (0.3, "yes"), (0.30001, "no")) is None
    question = among_numbers(prompt, (0.3, "yes"), (0.3001, "no"), (0.304, "no"), (0.304, "no"), (0.29, "no"))
    assert [choice.text for choice in question.choices] == ["0.300", "0.304", "0.290"]
    assert question.prompt == "0.300"
    assert among_numbers(prompt, (0.0, "yes"), (-0.001, "no"), (math.nan, "no")).choices[1].text == "−0.0010"


def test_shuffling_keeps_the_right_choice_right():
    question = Question("?", tuple(Choice(text, text) for text in "abcd"), 2)
    for seed in range(10):
        again = quiz.old_base.shuffled(question, generator(seed))
        assert again.choices[again.right].text == "c"
        assert {choice.text for choice in again.choices} == set("abcd")
