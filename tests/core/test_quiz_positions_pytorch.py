"""Every question on order and on PyTorch has exactly one right choice: computed again in double precision."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import EXAMPLES

from attention_core.heads import MultiHeadAttention
from attention_core.masks import causal_mask, drawn_mask, full_mask, padding_mask, sliding_window_mask
from attention_core.pytorch_parity import compare_with_pytorch
from attention_core.randomness import generator
from lessons.captions import magnitude, name
from lessons.example import LIMITS, Example, run_example
from lessons.questions import OWN_QUESTIONS, ask, positions, pytorch

NAME = r"(“[^”]*”(?: \(\d+\))?)"


def is_number(text, value):
    """True when this is the value, printed with the digits that are shown."""
    if not re.fullmatch(r"−?\d+\.\d+", text):
        return False
    digits = len(text.split(".")[1])
    return abs(float(text.replace("−", "-")) - value) <= 0.5 * 10**-digits + 1e-5 * max(1, abs(value))


def attend(x, maps, causal, scale):
    """Weights and output of one head, row by row over the visible keys alone."""
    q, k, v = (x @ W for W in maps)
    weights = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        row = q[i] @ k[: i + 1 if causal else len(x)].T * scale
        e = np.exp(row - row.max())
        weights[i, : len(e)] = e / e.sum()
    return weights, weights @ v


def waves(n, d):
    """Sinusoidal positions by the formula."""
    return np.array(
        [
            [(math.sin if f % 2 == 0 else math.cos)(place / 10000 ** ((f - f % 2) / d)) for f in range(d)]
            for place in range(n)
        ]
    )


def turn(vector, place):
    """A vector turned pair by pair, as complex numbers."""
    pairs = vector[0::2] + 1j * vector[1::2]
    turned = pairs * np.exp(1j * place * 10000.0 ** (-np.arange(len(pairs)) * 2 / len(vector)))
    return np.stack([turned.real, turned.imag], axis=-1).ravel()


class Head:
    """One head of the running example, in double precision."""

    def __init__(self, trace, head):
        self.tokens, self.x, self.n = trace.tokens, trace.x.double().numpy(), len(trace.tokens)
        widths = (trace.example.d_k, trace.example.d_k, trace.example.d_v)
        packed = (W.double().numpy() for W in (trace.W_q, trace.W_k, trace.W_v))
        self.maps = [W[:, head * width : (head + 1) * width] for W, width in zip(packed, widths, strict=True)]
        self.scale = widths[0] ** -0.5 if trace.example.scaling else 1.0

    def place(self, label):
        return [name(self.tokens, p) for p in range(self.n)].index(label)

    def run(self, x, causal=False):
        return attend(x, self.maps, causal, self.scale)


def swapped(head, a, b):
    order = list(range(head.n))
    i, j = head.place(a), head.place(b)
    order[i], order[j] = j, i
    return order


def right_weight_moves(head, text, a, b, shown, a_again, b_again, a_asks, b_answers):
    assert (a, b) == (a_again, b_again) == (a_asks, b_answers)
    i, j = head.place(a), head.place(b)
    assert is_number(shown, head.run(head.x)[0][i, j])
    return is_number(text, head.run(head.x[swapped(head, a, b)])[0][j, i])


def right_front(head, text, a, shown):
    i = head.place(a)
    assert i > 0 and is_number(shown, head.run(head.x, causal=True)[0][i, i])
    moved = [i, *(p for p in range(head.n) if p != i)]
    return is_number(text, head.run(head.x[moved], causal=True)[0][0, 0])


def right_row(head, text, a, b, feature, a_again):
    assert a == a_again
    order = swapped(head, a, b)
    goes_in = head.x[order] + waves(*head.x.shape)
    return is_number(text, goes_in[order.index(head.place(a)), int(feature) - 1])


def right_rotary(head, text, a, b, shown, steps):
    i, j = head.place(a), head.place(b)
    q, k = head.x[i] @ head.maps[0], head.x[j] @ head.maps[1]
    assert is_number(shown, turn(q, i) @ turn(k, j))
    return is_number(text, turn(q, i + int(steps)) @ turn(k, j + int(steps)))


def right_twice(head, text, given, a, b):
    added = waves(*head.x.shape) if given == "sinusoidal" else 0
    output = head.run(head.x + added)[1]
    same = np.abs(output[head.place(a)] - output[head.place(b)]).max() < 1e-3
    return {"They hold the same numbers.": same, "They differ.": not same}[text]


def right_round(head, text, mask, a):
    i, causal = head.place(a), mask.startswith("With the")
    before, after = (head.run(x, causal)[1] for x in (head.x, head.x[::-1]))
    same = np.abs(after[head.n - 1 - i] - before[i]).max() < 1e-3
    return {
        "It has the same numbers.": same,
        "It has other numbers.": not same,
        "The output stays as it is, row by row.": np.abs(after - before).max() < 1e-3,
    }[text]


def right_wave(head, text, a, place):
    assert head.place(a) == int(place)
    return is_number(text, waves(head.n, head.x.shape[1])[int(place), 0])


POSITIONS = {
    "weight_moves_along": (
        rf"No mask, no positions: {NAME} gives {NAME} the weight (\S+)\. {NAME} and {NAME} change places\. "
        rf"Which weight does {NAME} give to {NAME} now\?",
        right_weight_moves,
    ),
    "moved_to_the_front": (
        rf"Causal mask, no positions: {NAME} gives itself the weight (\S+)\. It is moved to the front .*",
        right_front,
    ),
    "row_after_a_swap": (
        rf"Sinusoidal positions are added to X\. Then {NAME} and {NAME} change places, .* number (\d+) of the row that "
        rf"goes in for {NAME}\?",
        right_row,
    ),
    "rotary_score_moved_on": (
        rf"Rotary positions, before any scaling: the score of {NAME} with {NAME} is (\S+)\. (\d) more tokens? .*",
        right_rotary,
    ),
    "same_token_at_two_places": (
        rf"No mask, (no|sinusoidal) positions\. {NAME} and {NAME} are the same token at two places\. .*",
        right_twice,
    ),
    "sentence_turned_round": (
        rf"(With the causal mask|Without a mask), and without positions: .* output of {NAME} compare with before\?",
        right_round,
    ),
    "wave_at_a_place": (
        rf"Sinusoidal positions, places counted from 0: .* added to {NAME}, at place (\d+)\?",
        right_wave,
    ),
}


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
    assert [maker.__name__ for maker in OWN_QUESTIONS["positions"]] == list(POSITIONS)
    assert [maker.__name__ for maker in OWN_QUESTIONS["pytorch"]] == list(PYTORCH)


@given(EXAMPLES, st.integers(0, 1000))
def test_exactly_one_choice_is_right_about_order(example, seed):
    trace = run_example(example)
    for which in range(trace.example.n_heads):
        head, random = Head(trace, which), generator(seed)
        for maker in positions.QUESTIONS:
            for _ in range(3):
                question = maker(trace, which, random)
                assert question is None or check(question, head, *POSITIONS[maker.__name__]) is None
        assert positions.QUESTIONS[-1](trace, which, random) is not None, "the last kind is always possible"


@given(PARITIES, st.integers(0, 1000))
def test_exactly_one_choice_is_right_about_pytorch(parity, seed):
    both, random = Both(parity), generator(seed)
    for maker in pytorch.QUESTIONS:
        for _ in range(3):
            question = maker(parity, 0, random)
            assert question is None or check(question, both, *PYTORCH[maker.__name__]) is None
    assert pytorch.QUESTIONS[-1](parity, 0, random) is not None, "the last kind is always possible"


@given(EXAMPLES, PARITIES, st.integers(0, LIMITS["seed"].most))
def test_asking_always_gives_a_question_and_the_same_one_again(example, parity, seed):
    trace = run_example(example)
    question = ask("positions", trace, 0, seed)
    check(question, Head(trace, 0), *POSITIONS[kind_of(question, POSITIONS)])
    assert ask("positions", run_example(example), 0, seed) == question
    question = ask("pytorch", parity, 0, seed)
    check(question, Both(parity), *PYTORCH[kind_of(question, PYTORCH)])
    assert ask("pytorch", parity, 0, seed) == question


def test_all_kinds_come_up_and_the_right_choice_stands_anywhere():
    trace = run_example(Example(source="sentence", text="the cat saw the dog"))
    parity = drawn_parity(5, 3, 2, False, "causal", 7)
    for lesson, about, kinds in (("positions", trace, POSITIONS), ("pytorch", parity, PYTORCH)):
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
        (positions.weight_moves_along, "not with places"),
        (positions.moved_to_the_front, "if the mask knew no order"),
        (positions.row_after_a_swap, "The place stays behind"),
        (positions.rotary_score_moved_on, "Their distance is the same"),
        (positions.same_token_at_two_places, "nothing tells them apart"),
        (positions.same_token_at_two_places, "Different rows were added"),
        (positions.sentence_turned_round, "A mask alone knows about order"),
        (positions.sentence_turned_round, "it does not undo it"),
        (positions.wave_at_a_place, "the first place is place 0"),
        (pytorch.mask_for_the_module, "takes True for “keep”"),
        (pytorch.mask_for_the_function, "takes True for “block”"),
        (pytorch.reported_weight, "which no head need have"),
        (pytorch.divided_twice, "the function divides once more"),
        (pytorch.weights_of_its_own, "The same shape alone proves nothing"),
        (pytorch.shape_of_packed_weights, "nn.Linear stores W transposed"),
    ],
)
def test_every_misconception_is_met(maker, mended):
    trace = run_example(Example(source="sentence", text="the cat saw the dog"))
    about = trace if maker in positions.QUESTIONS else drawn_parity(5, 3, 2, False, "causal", 7)
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
