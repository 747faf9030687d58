"""The exercises as data, without a browser: every solution is right, every mistake is named, nothing forged gets by."""

import json
import math
import random

import pytest
import torch
from torch import nn

from lessons.code.exercises.base import Case
from lessons.code.exercises.every import EXERCISES
from lessons.code.exercises.verdict import UNREADABLE, gives, known_mistake, verdict_of
from lessons.screen import render

EVERY = list(EXERCISES.values())
MISTAKES = [(exercise, mistake) for exercise in EVERY for mistake in exercise.mistakes]
SEEDS = range(7)


def sent(outputs, **more):
    """What a browser sends for these tensors, case by case."""
    cells = [[{"shape": list(x.shape), "data": list(map(str, x.flatten().tolist()))} for x in case] for case in outputs]
    return json.dumps({"outputs": cells, "error": None, "printed": ""} | more)


def outputs_of(source, exercise, cases):
    """What a program finds with real torch, in single precision, as the driver in the browser calls it."""
    names = {"torch": torch, "nn": nn, "math": math}
    exec(source, names)
    found = []
    for case in cases:
        entry = names[exercise.entry]
        inputs = [torch.tensor(given) if isinstance(given, list) else given for given in case.arguments]
        if case.sizes:
            entry = entry(*case.sizes)
            for name, weight in case.weights.items():
                getattr(entry, name).weight = nn.Parameter(torch.tensor(weight))
        outputs = entry(*inputs, **case.options)
        found.append([torch.as_tensor(x) for x in (outputs if isinstance(outputs, tuple) else (outputs,))])
    return found


@pytest.mark.parametrize("exercise", EVERY, ids=list(EXERCISES))
def test_the_solution_passes_on_whatever_is_drawn(exercise):
    for seed in SEEDS:
        cases = exercise.cases(seed)
        verdict = verdict_of(exercise, cases, sent(outputs_of(exercise.solution, exercise, cases)))
        assert verdict.passed and verdict.figures == ()
        assert render(verdict.says[0]) == (
            "Right in all 3 cases." if exercise.drawn else "Right: these are the numbers of the model itself."
        )
    assert exercise.entry in exercise.starter and "Your code" in exercise.starter
    assert "Your code" not in exercise.solution
    right = [case.outputs(exercise.answer) for case in cases]
    assert not any(same_results(exercise, (mistake,), cases, right) for mistake in exercise.mistakes)


def same_results(exercise, mistakes, cases, wrong):
    """True where these mistakes, made together, give these results as well."""
    compute = exercise.computed_by(*mistakes)
    return all(gives(compute, case.trial(), outputs) for case, outputs in zip(cases, wrong, strict=True))


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_a_known_mistake_is_named_and_shown(exercise, mistake):
    for seed in SEEDS[:2]:
        cases = exercise.cases(seed)
        wrong = [case.outputs(exercise.computed_by(mistake)) for case in cases]
        verdict = verdict_of(exercise, cases, sent(wrong))
        assert not verdict.passed and verdict.tried
        before = exercise.mistakes[: exercise.mistakes.index(mistake) + 1]
        assert any(same_results(exercise, (it,), cases, wrong) for it in before if it.hint == verdict.says[0])


@pytest.mark.parametrize("exercise", [it for it in EVERY if it.varied], ids=lambda it: it.key)
def test_two_mistakes_of_different_steps_are_both_named(exercise):
    pairs, cases = list(exercise.pairs()), exercise.cases(3)
    for first, second in pairs[:: max(1, len(pairs) // 7)]:
        try:
            wrong = tuple(case.outputs(exercise.computed_by(first, second)) for case in cases)
        except (RuntimeError, IndexError):
            continue  # their shapes do not fit together
        said = known_mistake(exercise, cases, wrong)
        names = [some for some in [*((it,) for it in exercise.mistakes), *pairs] if said[0] in [it.hint for it in some]]
        assert said and any(same_results(exercise, some, cases, wrong) for some in names), (first, second)


def test_there_are_no_fewer_than_eight_and_each_belongs_to_a_lesson():
    from attention_ui.contents import CONTENTS

    order = [entry.address for entry in CONTENTS]
    assert len(EVERY) >= 8 and all(len(exercise.mistakes) >= 3 for exercise in EVERY)
    assert all(exercise.lesson in order for exercise in EVERY)


@pytest.mark.parametrize("exercise", [it for it in EVERY if it.drawn], ids=lambda it: it.key)
def test_another_seed_is_another_case_and_the_same_seed_the_same(exercise):
    assert exercise.cases(5) == exercise.cases(5) != exercise.cases(7)
    assert len(json.dumps([vars(case) for case in exercise.cases(5)])) < 8000


def plain_attention(x, w_q, w_k, w_v):
    """Scaled dot-product attention with nothing but lists."""

    def times(a, b):
        return [[sum(p * q for p, q in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]

    q, k, v = times(x, w_q), times(x, w_k), times(x, w_v)
    weights = []
    for row in times(q, list(zip(*k, strict=True))):
        powers = [math.exp(score / math.sqrt(len(k[0]))) for score in row]
        weights.append([power / sum(powers) for power in powers])
    return times(weights, v), weights


def test_the_answer_of_attention_is_that_of_plain_loops():
    exercise = EXERCISES["attention"]
    for case in exercise.cases(11):
        for ours, loops in zip(case.outputs(exercise.answer), plain_attention(*case.arguments), strict=True):
            torch.testing.assert_close(ours, torch.tensor(loops, dtype=torch.float64))


def test_a_text_written_with_the_cache_gives_every_row_of_causal_attention():
    numbers = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(6, n, generator=numbers).tolist() for n in (3, 3, 4))
    keys, values = k[:1], v[:1]
    for place in range(1, 6):
        case = Case(arguments=(q[place], k[place], v[place], keys, values))
        context, keys, values = (x.tolist() for x in case.outputs(EXERCISES["cache"].answer))
        scores = [sum(a * b for a, b in zip(q[place], row, strict=True)) / math.sqrt(3) for row in k[: place + 1]]
        powers = [math.exp(score) for score in scores]
        mixed = [sum(p * row[f] for p, row in zip(powers, v, strict=False)) / sum(powers) for f in range(4)]
        assert context == pytest.approx(mixed)
    assert (keys, values) == (k, v)


def test_a_step_of_the_exercise_is_one_of_torch_and_makes_the_loss_smaller():
    exercise = EXERCISES["step"]
    for case in exercise.cases(4):
        x, w, right, rate = (torch.tensor(given, dtype=torch.float64) for given in case.arguments)
        w.requires_grad_()
        loss = torch.nn.functional.cross_entropy(x @ w, right)
        loss.backward()
        found, stepped = case.outputs(exercise.answer)
        torch.testing.assert_close(found, loss.detach())
        torch.testing.assert_close(stepped, (w - rate * w.grad).detach())


def test_of_a_real_head_that_part_is_shown_which_is_wrong():
    exercise = EXERCISES["real_head"]
    cases = exercise.cases(0)
    (wrong,) = ([x.clone() for x in case.outputs(exercise.answer)] for case in cases)
    wrong[0][3, 40] += 1.0
    outputs, entered = verdict_of(exercise, cases, sent([wrong])).figures
    (expected, got), (x, *_) = outputs.bands[0], entered.bands[0]
    assert render(expected.title) == "expected context[0:8, 36:44]"
    assert got.marked.nonzero().tolist() == [[3, 4]] and got.columns.labels[4] == "40"
    assert render(x.title) == "X[0:8, 0:8]"
    assert torch.equal(x.values, cases[0].arguments[0][:8, :8].double())


def test_the_figure_shows_what_is_expected_beside_what_came_and_marks_what_differs():
    exercise = EXERCISES["attention"]
    cases = exercise.cases(3)
    right = [case.outputs(exercise.answer) for case in cases]
    wrong = [[x.clone() for x in case] for case in right]
    wrong[1][1][2, 0] += 0.5
    verdict = verdict_of(exercise, cases, sent(wrong))
    ((expected, got),), (entered,) = (figure.bands for figure in verdict.figures)
    assert [render(matrix.title) for matrix in entered] == ["X", "W_q", "W_k", "W_v"]
    assert torch.equal(entered[0].values, torch.tensor(cases[1].arguments[0], dtype=torch.float64))
    torch.testing.assert_close(expected.values, right[1][1])
    torch.testing.assert_close(got.values, wrong[1][1])
    assert got.marked.nonzero().tolist() == [[2, 0]]
    assert render(verdict.says[-1]) == "In case 2, attn_weights differs by up to 0.50 (entries that differ: 1 of 25)."
    assert render(verdict.figures[0].notice[0]) == "Entries shown that differ: 1 of 25."


def test_of_many_heads_that_one_is_shown_which_is_wrong():
    exercise = EXERCISES["batch"]
    cases = exercise.cases(3)
    wrong = [[x.clone() for x in case.outputs(exercise.answer)] for case in cases]
    wrong[0][0][1, 2] += 1.0
    outputs, entered = verdict_of(exercise, cases, sent(wrong)).figures
    assert render(outputs.bands[0][0].title) == "expected output[1, 2]"
    assert torch.equal(entered.bands[0][0].values, torch.tensor(cases[0].arguments[0], dtype=torch.float64)[1, 2])


def test_a_shape_that_differs_is_said_and_not_drawn():
    exercise = EXERCISES["merge"]
    cases = exercise.cases(0)
    wrong = [[x.flatten() for x in case.outputs(exercise.answer)] for case in cases]
    verdict = verdict_of(exercise, cases, sent(wrong))
    assert [render(line) for line in verdict.says] == ["In case 1 the shape of merged is [24]; it should be [4, 6]."]
    assert verdict.figures == ()


def test_what_is_no_number_is_said():
    exercise = EXERCISES["gradient"]
    cases = exercise.cases(0)
    wrong = [[x * math.nan for x in case.outputs(exercise.answer)] for case in cases]
    verdict = verdict_of(exercise, cases, sent(wrong))
    assert "has entries that are not numbers" in render(verdict.says[0])
    assert not verdict.figures[0].matrices[-1].visible.any()


def test_an_error_has_its_line_and_its_words_and_they_can_be_shown():
    exercise = EXERCISES["mask"]
    error = {"type": "NameError", "message": "name 'x\x1b[31m\u202e\ud800' is not defined", "line": 4}
    verdict = verdict_of(exercise, exercise.cases(0), json.dumps({"error": error, "printed": "a\x00b\n"}))
    assert [render(line) for line in verdict.says] == [
        "Your code stopped on line 4.",
        "Nothing has this name yet. Is it spelt as in its definition?",
    ]
    assert verdict.error == "NameError: name 'x�[31m��' is not defined" and verdict.printed == "a�b\n"
    assert verdict.tried and not verdict.passed
    for line in (10**9, -1, True, "4", None, 2.5):
        stopped = verdict_of(exercise, exercise.cases(0), json.dumps({"error": error | {"line": line}}))
        assert render(stopped.says[0]) == "Your code stopped."


def test_what_ran_too_long_is_told():
    exercise = EXERCISES["mask"]
    late = json.dumps({"error": {"type": "TimeLimit", "message": "", "line": None}})
    said = render(verdict_of(exercise, exercise.cases(0), late).says[0])
    assert said == "It ran longer than 4 seconds and was stopped. Is there an endless loop?"


@pytest.mark.part(2)
@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e39", "nan", "inf", "-inf", "1e-320", "1e16", "-0.0"])
def test_whatever_number_comes_the_sentence_is_short_and_the_figure_is_drawn(number):
    for exercise in EVERY:
        cases = exercise.cases(0)
        forged = json.loads(sent([case.outputs(exercise.answer) for case in cases]))
        for outputs in forged["outputs"]:
            for output in outputs:
                output["data"][-1] = number
        verdict = verdict_of(exercise, cases, json.dumps(forged))
        assert all(len(render(sentence)) < 200 for sentence in verdict.says), verdict.says
        assert verdict.passed or verdict.figures


FORGED = [
    None,
    1,
    2.5,
    True,
    [],
    {},
    b"x",
    "x",
    "[]",
    "null",
    "{}",
    "1",
    '"x"',
    '{"outputs": 1}',
    '{"outputs": []}',
    '{"outputs": [[]]}',
    '{"outputs": {"0": 1}}',
    '{"outputs": [[{}], [{}], [{}]]}',
    "[" * 100_000,
    "9" * 5000,
    '{"outputs": [[{"shape": [1e9, 0], "data": []}]]}',
    '{"outputs": [[{"shape": [-1], "data": []}]]}',
    '{"outputs": [[{"shape": [99999], "data": []}]]}',
    '{"outputs": [[{"shape": [1], "data": [[]]}]]}',
    '{"outputs": [[{"shape": [1], "data": "7"}]]}',
    '{"outputs": [[{"shape": "3", "data": [1]}]]}',
    '{"outputs": [[{"shape": [true], "data": [1]}]]}',
    '{"outputs": [], "printed": 5}',
    '{"passed": true}',
    '{"outputs": [[{"shape": [1], "data": ["one"]}]]}',
    '{"error": 1}',
    '{"error": {"type": 1, "message": ""}}',
    '{"error": {"type": "x", "message": 7}}',
    json.dumps({"error": {"type": "x" * 61, "message": ""}}),
    "x" * 10**6,
    json.dumps({"outputs": [], "printed": "x" * 10**5}),
    "\x00\ud800",
    '{"outputs": [[1e999]]}',
]


@pytest.mark.parametrize("answer", FORGED, ids=range(len(FORGED)))
def test_what_cannot_be_read_is_refused_in_a_sentence_and_is_no_try(answer):
    for exercise in EVERY:
        verdict = verdict_of(exercise, exercise.cases(0), answer)
        assert not verdict.passed and not verdict.tried and verdict.says == (UNREADABLE,)


def test_no_forged_message_breaks_the_comparing():
    """Right messages, with parts of them put in the place of others."""
    exercise = EXERCISES["softmax"]
    cases, drawn = exercise.cases(0), random.Random(1)
    right = json.loads(sent([case.outputs(exercise.answer) for case in cases]))
    parts = [None, True, -1, 10**400, 1e308, "nan", "inf", "", [], {}, [[1]], right, right["outputs"]]
    for _ in range(300):
        forged = json.loads(json.dumps(right))
        place = drawn.choice(forged["outputs"])[0]
        drawn.choice([forged, place])[drawn.choice(["outputs", "shape", "data", "error", "printed"])] = drawn.choice(
            parts
        )
        if drawn.random() < 0.3:
            place["data"] = [drawn.choice(parts) for _ in range(3)]
        verdict = verdict_of(exercise, cases, json.dumps(forged))
        assert verdict.says and all(map(render, verdict.says))
