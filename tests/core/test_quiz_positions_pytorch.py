"""Every question on order and on PyTorch has exactly one right choice: computed again in double precision."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attention_core.heads import MultiHeadAttention
from attention_core.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.pytorch_parity import compare_with_pytorch
from attention_core.randomness import generator
from lessons.captions import magnitude, name
from lessons.example import LIMITS
from lessons.questions import OWN_QUESTIONS, ask, pytorch

NAME = r"(“[^”]*”(?: \(\d+\))?)"


def is_number(text, value):
    """True when this is the value, printed with the digits that are shown."""
    if not re.fullmatch(r"−?\d+\.\d+", text):
        return False
    digits = len(text.split(".")[1])
    return abs(float(text.replace("−", "-")) - value) <= 0.5 * 10**-digits + 1e-5 * max(1, abs(value))


class Both:
    """The heads of the lesson on PyTorch, in double precision."""

    def __init__(self, parity):
        self.parity, self.tokens, self.n = parity, parity.tokens, len(parity.tokens)
        self.d_model, self.heads = parity.x.shape[1], parity.ours.n_heads
        self.d_head = self.d_model // self.heads

    def place(self, label):
        return [name(self.tokens, p) for p in range(self.n)].index(label)

    def project(self, module):
        x = self.parity.x.double().numpy()
        for layer in (module.W_q, module.W_k, module.W_v):
            bias = 0 if layer.bias is None else layer.bias.detach().double().numpy()
            yield x @ layer.weight.detach().double().numpy().T + bias

    def weights(self, module):
        q, k, _ = self.project(module)
        visible = self.parity.may_attend.numpy()
        maps = []
        for head in range(self.heads):
            own = slice(head * self.d_head, (head + 1) * self.d_head)
            powers = np.exp(q[:, own] @ k[:, own].T / math.sqrt(self.d_head)) * visible
            maps.append(powers / powers.sum(axis=1, keepdims=True))
        return np.stack(maps)

    def output(self, module):
        *_, v = self.project(module)
        joined = np.concatenate(
            [w @ v[:, h * self.d_head : (h + 1) * self.d_head] for h, w in enumerate(self.weights(module))], axis=1
        )
        bias = 0 if module.W_o.bias is None else module.W_o.bias.detach().double().numpy()
        return joined @ module.W_o.weight.detach().double().numpy().T + bias


def visible_to(both, true, n, a, keeps):
    """How many keys are left to this query where True keeps, or where True blocks."""
    row = both.parity.may_attend[both.place(a)]
    assert (int(true), int(n)) == (int(row.sum()), both.n)
    return sum(bool(may) == keeps for may in row)


def right_reported(both, text, n_heads, a, b, first, others):
    own = both.weights(both.parity.ours)[:, both.place(a), both.place(b)]
    shown = [first, *others.split(", ")]
    assert int(n_heads) == len(shown) == len(own)
    assert all(is_number(word, weight) for word, weight in zip(shown, own, strict=True))
    return is_number(text, sum(own) / len(own))


def right_divided(both, text, a, b, shown, features, root):
    q, k, _ = (matrix[:, : both.d_head] for matrix in both.project(both.parity.ours))
    score = q[both.place(a)] @ k[both.place(b)]
    assert is_number(shown, score) and int(features) == int(root) == both.d_head
    once = q[both.place(a)] / math.sqrt(both.d_head)
    return is_number(text, once @ k[both.place(b)] / math.sqrt(both.d_head))


def right_own_weights(both, text, seed):
    other = MultiHeadAttention(both.d_model, both.heads, generator=generator(int(seed)))
    gap = np.abs(both.output(other) - both.output(both.parity.ours)).max()
    found = re.fullmatch(r"They differ by up to (.*)\.", text)
    return bool(found) and is_number(found[1], gap)


PYTORCH = {
    "mask_for_the_module": (
        rf"A boolean mask is True at (\d+) of (\d+) places in the row of {NAME}\. It is given to "
        r"nn\.MultiheadAttention as attn_mask, just as it is\. .*",
        lambda both, text, true, n, a: text == str(visible_to(both, true, n, a, keeps=False)),
    ),
    "mask_for_the_function": (
        rf"A boolean mask is True at (\d+) of (\d+) places in the row of {NAME}\. It is given to "
        r"F\.scaled_dot_product_attention as attn_mask, just as it is\. .*",
        lambda both, text, true, n, a: text == str(visible_to(both, true, n, a, keeps=True)),
    ),
    "reported_weight": (
        rf"Of (\d+) heads, the first lets {NAME} give {NAME} the weight (\S+); in the others? it is (.*)\. Which .*",
        right_reported,
    ),
    "divided_twice": (
        rf"In head 1, the query of {NAME} times the key of {NAME} is (\S+), with (\d+) features\. Somebody divides q "
        r"by √(\d+), .*",
        right_divided,
    ),
    "weights_of_its_own": (r"A module is built anew, its weights drawn from seed (\d+) .*", right_own_weights),
    "shape_of_packed_weights": (
        r"nn\.MultiheadAttention keeps W_q, W_k and W_v in one matrix, .* With \d+ features .*",
        lambda both, text: text == " × ".join(map(str, both.parity.theirs.in_proj_weight.shape)),
    ),
}


def check(question, again, pattern, is_right):
    """One choice is right, and it is the one that the question says."""
    found = re.fullmatch(pattern, question.prompt)
    assert found, question.prompt
    shown = [choice.text for choice in question.choices]
    assert [bool(is_right(again, text, *found.groups())) for text in shown] == [
        place == question.right for place in range(len(shown))
    ], question
    assert 2 <= len(set(shown)) == len(shown) <= 4
    assert all(choice.text.strip() and choice.answer_to_it.strip() for choice in question.choices)


def kind_of(question, kinds):
    return next(kind for kind, (pattern, _) in kinds.items() if re.fullmatch(pattern, question.prompt))


def drawn_parity(n, d_head, n_heads, bias, mask, seed):
    random = generator(seed)
    ours = MultiHeadAttention(d_head * n_heads, n_heads, bias=bias, generator=random)
    tokens = tuple(f"t{place % 5}" for place in range(n))
    masks = {"causal": causal_mask(n), "full": full_mask(n), "window": sliding_window_mask(n, 2)}
    drawn = drawn_mask([[i == j or (i * 3 + j * 5 + seed) % 2 == 0 for j in range(n)] for i in range(n)])
    may_attend = (masks | {"padding": padding_mask(n, max(1, n - 2)), "drawn": drawn})[mask]
    return compare_with_pytorch(tokens, torch.randn(n, d_head * n_heads, generator=random), may_attend, ours)


PARITIES = st.builds(
    drawn_parity,
    st.integers(1, 12),
    st.integers(1, 7),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["causal", "full", "window", "padding", "drawn"]),
    st.integers(0, 9999),
)


def test_every_kind_is_proved():
    assert [maker.__name__ for maker in OWN_QUESTIONS["pytorch"]] == list(PYTORCH)


@given(PARITIES, st.integers(0, 1000))
def test_exactly_one_choice_is_right_about_pytorch(parity, seed):
    both, random = Both(parity), generator(seed)
    for maker in pytorch.QUESTIONS:
        for _ in range(3):
            question = maker(parity, 0, random)
            assert question is None or check(question, both, *PYTORCH[maker.__name__]) is None
    assert pytorch.QUESTIONS[-1](parity, 0, random) is not None, "the last kind is always possible"


@given(PARITIES, st.integers(0, LIMITS["seed"].most))
def test_asking_always_gives_a_question_and_the_same_one_again(parity, seed):
    question = ask("pytorch", parity, 0, seed)
    check(question, Both(parity), *PYTORCH[kind_of(question, PYTORCH)])
    assert ask("pytorch", parity, 0, seed) == question


def test_all_kinds_come_up_and_the_right_choice_stands_anywhere():
    parity = drawn_parity(5, 3, 2, False, "causal", 7)
    for lesson, about, kinds in (("pytorch", parity, PYTORCH),):
        questions = [ask(lesson, about, 0, seed) for seed in range(150)]
        assert {kind_of(question, kinds) for question in questions} == set(kinds)
        assert {question.right for question in questions} >= {0, 1, 2}


def wrong_answers(maker, about):
    """What is said to the wrong choices of one kind, over many seeds."""
    questions = [maker(about, 0, generator(seed)) for seed in range(60)]
    return [c.answer_to_it for q in questions if q for i, c in enumerate(q.choices) if i != q.right]


@pytest.mark.parametrize(
    ("maker", "mended"),
    [
        (pytorch.mask_for_the_module, "takes True for “keep”"),
        (pytorch.mask_for_the_function, "takes True for “block”"),
        (pytorch.reported_weight, "which no head need have"),
        (pytorch.divided_twice, "the function divides once more"),
        (pytorch.weights_of_its_own, "The same shape alone proves nothing"),
        (pytorch.shape_of_packed_weights, "nn.Linear stores W transposed"),
    ],
)
def test_every_misconception_is_met(maker, mended):
    about = drawn_parity(5, 3, 2, False, "causal", 7)
    assert any(mended in answer for answer in wrong_answers(maker, about))


def test_the_module_itself_leaves_as_many_as_the_answer_says():
    parity = drawn_parity(7, 3, 2, False, "window", 1)
    for seed in range(20):
        question = pytorch.mask_for_the_module(parity, 0, generator(seed))
        row = Both(parity).place(re.search(NAME, question.prompt)[1])
        _, weights = parity.theirs(parity.x, parity.x, parity.x, attn_mask=parity.may_attend)
        assert question.choices[question.right].text == str(int((weights[row] > 0).sum()))


@given(st.integers(0, 9999))
def test_rounding_is_never_offered_as_a_large_difference(seed):
    parity = drawn_parity(5, 3, 2, True, "full", seed)
    question = pytorch.weights_of_its_own(parity, 0, generator(seed))
    assume(question is not None)
    assert parity.module_difference < 5e-6
    assert any(magnitude(max(parity.module_difference, 1e-8)) in choice.text for choice in question.choices)
