"""Every lesson on every source of the running example: X is what enters that head, found here by another way."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from safetensors import safe_open
from screens import Case, check_case
from test_every_screen import LESSONS, file_of

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import TrainingSettings, recommended, train
from attention_core.model.small_model import model_with
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary
from lessons.example.example import Example, learnt_example, model_settings, run_example
from lessons.example.layer_on_text import SHIPPED_FILE
from lessons.example.presets import PRESETS
from lessons.example.task_models import TASK_SOURCES
from lessons.model.heads.example import HeadsChosen, run_heads
from lessons.screen import Film, Matrices, visible_text

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

# Runs of a visitor's own, of every kind that the lessons meet: positions, sizes of heads, slices, norms.
OWN = {
    "turned": recommended(TASKS["reverse"], 3, steps=20, d_model=8, n_heads=2, positions="rotary"),
    "apart": recommended(TASKS["previous"], 4, steps=20, d_model=8, n_heads=2, d_k=3, d_v=5, positions="qk"),
    "sliced": recommended(TASKS["last"], 2, steps=20, d_model=8, n_heads=2, heads="sliced"),
    "second": recommended(TASKS["induction"], 7, steps=20, d_model=16, n_heads=2, layer_norm=True, positions="learned"),
}
EXAMPLES = {
    **{name: Example(source=name) for name in PRESETS},
    **{name: learnt_example(name, updates=60) for name in TASK_SOURCES},
    "induction, layer 2": learnt_example("induction", updates=60, layer=2),
    "language": Example(source="language", text="", layer=14),
    **{
        f"mine, {name}": Example(source="mine", text="", own=own, seed=own.seed, updates=20)
        for name, own in OWN.items()
    },
    "mine, layer 2": Example(source="mine", text="", own=OWN["second"], seed=7, updates=20, layer=2),
}
OF_OWN = [name for name, example in EXAMPLES.items() if example.source in ("language", "mine")]
OF_LESSONS = [lesson for lesson in LESSONS if not hasattr(file_of(lesson), "EXAMPLES")]

NEAR = {"atol": 1e-5, "rtol": 1e-4}


@cache
def model_of(settings: TrainingSettings, updates: int):
    """The model of a run, trained here once more, from its first step on."""
    weights = {step.step: step.weights for step in train(settings, evaluated=False)}
    return model_with(settings.model, torch.from_numpy(weights[updates]))


def entered(trace):
    """What the model itself hands to the heads of this layer; what those make of it; and its rows of the tokens."""
    example = trace.example
    if example.source == "language":
        return shipped()
    model = model_of(model_settings(example), example.updates)
    layer = model(torch.tensor(trace.ids)).layers[example.layer - 1]
    return layer.normed, layer.attention, model.table[list(trace.ids)]


def shipped():
    """The same of the layer that ships, whose heads share keys and values here as they do in the model."""
    with safe_open(SHIPPED_FILE, "pt") as file:
        tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    x, fetched = tensors.pop("x"), tensors.pop("fetched")
    _, attention = MultiHeadAttention(**tensors, n_heads=9, rotary=Rotary(100_000.0))(x, causal_mask(len(x)))
    return x, attention, fetched


def shown(screen, key):
    """All matrices of that name in the figures of a screen."""
    figures = [f for figure in screen.figures for f in (figure.frames if isinstance(figure, Film) else [figure])]
    return [m for figure in figures if isinstance(figure, Matrices) for m in figure.matrices if m.key == key]


@pytest.mark.part(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_lesson_shows_what_enters_that_head(name):
    trace = run_example(EXAMPLES[name])
    x, _, fetched = (trace.x, None, trace.x) if trace.trained is None else entered(trace)
    torch.testing.assert_close(trace.x, x, **NEAR)
    found = 0
    for lesson in OF_LESSONS:
        module, wanted = file_of(lesson), fetched if lesson == "tokens" else x
        for choices in module.cases(trace):
            own = getattr(choices, "example", None)  # of the lessons on several heads
            if lesson == "positions" or (own is not None and not own_heads(trace, own)):
                continue  # which say on the screen what they show instead
            for matrix in shown(module.screen(trace, trace.example.n_heads - 1, choices), "x"):
                found += 1
                columns, values = [int(label) - 1 for label in matrix.columns.labels], torch.as_tensor(matrix.values)
                if len(values) < len(wanted):  # the row that is carried through the lesson, alone
                    (label,) = matrix.rows.labels
                    rows = [row for row, token in enumerate(trace.tokens) if visible_text(token) == label]
                    assert any(torch.allclose(values[0], wanted[row, columns], **NEAR) for row in rows)
                    continue
                torch.testing.assert_close(values, wanted[:, columns], **NEAR)
    assert found > 3


def own_heads(trace, of_lesson):
    """True where the lessons on several heads show the very heads of the running example."""
    return of_lesson.source == "sentence" and trace.example.given_by.brings_sizes


@pytest.mark.parametrize("name", OF_OWN)
def test_several_heads_are_those_of_the_model_as_they_are(name):
    trace = run_example(EXAMPLES[name])
    _, theirs, _ = entered(trace)
    causal = trace.example.source == "language" or trace.example.own.model.causal
    trace = run_example(replace(trace.example, causal=causal))
    heads = run_heads(trace.example, HeadsChosen(d_model=6, n_heads=3))
    torch.testing.assert_close(heads.heads.weights, theirs.heads.weights, **NEAR)
    torch.testing.assert_close(heads.concatenated, theirs.concatenated, **NEAR)
    torch.testing.assert_close(heads.output, theirs.output, **NEAR)
    assert heads.n_heads == trace.example.n_heads and heads.tokens == trace.tokens


@pytest.mark.part(2)
@pytest.mark.parametrize("lesson", OF_LESSONS)
@pytest.mark.parametrize("name", ["mine, turned", "mine, apart", "mine, sliced"])
def test_every_lesson_is_true_for_a_model_of_the_visitor(lesson, name, whole):
    module, trace = file_of(lesson), run_example(EXAMPLES[name])
    for choices in [*module.cases(trace)][:: 1 if whole else 5]:
        case = Case(trace, 1, choices, module.screen(trace, 1, choices))
        check_case(case, module.ORACLE, module.ANSWERS)
