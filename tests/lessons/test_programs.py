"""What the code panel offers to copy runs in an empty folder, without this app, and prints what the screen shows."""

import importlib
import json
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
import torch
from test_every_screen import LESSONS, file_of

from attention_core.base.randomness import generator
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import recommended
from attention_core.measured.costs import LayerSizes
from attention_core.model.sampling import Sampling
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.one_head.attention import attend
from attention_ui.export.notebook import checks
from lessons.example.example import Example, learnt_example, run_example
from lessons.learning.train import lesson as train
from lessons.model.generate import lesson as generate
from lessons.screen import PRINT_OPTIONS, Call, Film, Matrices, call_in_other_way, program_of

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

OWN = recommended(TASKS["reverse"], 3, steps=20, d_model=8, n_heads=2, positions="rotary")
EXAMPLES = (
    Example(),
    Example(source="sentence", text=r"""a “b” \ {0} 'n' "m" ''' c""", d_k=3, n_heads=2, seed=7, causal=False),
    learnt_example("pronouns"),
    learnt_example("previous"),
    Example(source="sentence", text=" "),
    Example(source="language", text="The boy gave the girl her book"),
    Example(source="mine", text="", own=OWN, seed=3, updates=20),
)
PRINTED = 1000  # of larger arrays, a print leaves numbers out
NUMBER = re.compile(r"nan|-?inf|-?\d+\.?\d*(?:e[+-]?\d+)?")
RUNNER = """
import contextlib, importlib.util, io, json, os, sys
assert not os.listdir() and not any(map(importlib.util.find_spec, ("attention_core", "lessons")))
results = []
for text in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "copied", "exec", dont_inherit=True), {"__name__": "__main__", "__file__": "copied.py"})
    results.append(out.getvalue())
foreign = {name.partition(".")[0] for name in sys.modules} & {"jaxtyping", "streamlit", "array_api_compat", "altair"}
json.dump([results, sorted(foreign)], sys.stdout)
"""


def codes(of_first, of_others):
    """The code of every lesson, in every so manieth of its views; and that of training and generating."""
    for trace in map(run_example, EXAMPLES):
        for lesson in LESSONS:
            module = importlib.import_module(LESSONS[lesson])
            every = of_first if trace.example == EXAMPLES[0] else of_others
            for choices in list(file_of(lesson).cases(trace))[::every]:
                screen = module.screen(trace, len(trace.heads.q) - 1, choices)
                yield f"{lesson} {choices}"[:200], screen.code, screen
    for key in sorted(TASKS):
        yield f"train {key}", train.code_of_run(recommended(TASKS[key], 3)), None
    task = CharacterTask("say \"hello\" \\ 'world'", 5)
    model = draw_model(ModelConfig(vocabulary=len(task.vocabulary), context=5, d_model=6), generator(3))
    yield (
        "generate",
        generate.code_of_writing(model, task, tuple("say"), 7, Sampling(temperature=0.8, top_k=3, top_p=0.9), 5),
        None,
    )


def numbers_of(screen):
    """Every array of numbers that the figures of a screen show."""
    figures = [f for figure in screen.figures for f in (figure.frames if isinstance(figure, Film) else [figure])]
    return [np.asarray(matrix.values, float) for f in figures if isinstance(f, Matrices) for matrix in f.matrices]


def flat(value):
    """All numbers of an array, or of a list of numbers or arrays."""
    return np.concatenate(
        [np.ravel(np.asarray(part, float)) for part in (value if isinstance(value, list) else [value])]
    )


def sections(out, names):
    """What was printed below each name."""
    found, lines = {}, out.splitlines()
    begins = [lines.index(name) for name in names]
    assert begins == sorted(begins) and begins[0] == 0
    for name, begin, end in zip(names, begins, [*begins[1:], len(lines)], strict=True):
        found[name] = " ".join(lines[begin + 1 : end])
    return found


@pytest.fixture(scope="module")
def programs(whole):
    """Each different program once: its name, how it ran, its text and its screen."""
    found = {}
    for name, code, screen in codes(*((2, 7) if whole else (7, 23))):
        call = code.call()
        found.setdefault(program_of(call).text, (name, call, screen))
        if code.attention is not None:
            for way in ("loops", "numpy"):
                call = call_in_other_way(code.attention, code.scale, way)
                found.setdefault(program_of(call).text, (f"{name} {way}", call, None))
    return [(text, *about) for text, about in found.items()]


@pytest.fixture(scope="module")
def printed(programs, tmp_path_factory):
    """What each prints: all run in one interpreter, in a folder of its own, where nothing of this app can be found."""
    command = [sys.executable, "-I", "-c", RUNNER]
    texts = json.dumps([text for text, *_ in programs])
    ran = subprocess.run(command, cwd=tmp_path_factory.mktemp("empty"), input=texts, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    results, foreign = json.loads(ran.stdout)
    assert not foreign, foreign
    return results


def test_every_program_prints_the_numbers_of_its_screen(programs, printed):
    for (_, name, call, _), out in zip(programs, printed, strict=True):
        for (shown, value), said in zip(call.shows.items(), sections(out, [*call.shows]).values(), strict=True):
            if isinstance(value, str) or (isinstance(value, list) and isinstance(value[0], str)):
                assert said == str(value), (name, shown)
            elif flat(value).size <= PRINTED:
                numbers = [float(number) for number in NUMBER.findall(re.sub(r"dtype=\S+", "", said))]
                near = {"rtol": 1e-3, "atol": 1e-4, "err_msg": f"{name}: {shown}"}
                np.testing.assert_allclose(numbers, flat(value), **near)


def test_what_is_printed_stands_in_a_figure(programs):
    for _, name, call, screen in programs:
        figures = [] if screen is None else numbers_of(screen)
        shown = [np.round(flat(value), 5) for value in call.shows.values() if not isinstance(value, str | list)]
        if figures and shown:
            drawn = np.round(np.concatenate([figure.ravel() for figure in figures]), 5)
            assert any(np.isin(values[np.isfinite(values)], drawn).any() for values in shown), name


# Whatever stands in the cell of the numbers is where all begins: nothing in it is a result that others stand beside.


def changed(value):
    """Another value of its kind: every number of it."""
    match value:
        case torch.Tensor():
            return torch.from_numpy(np.asarray(changed(value.detach().numpy())).reshape(value.shape))
        case np.ndarray() if value.dtype == bool:
            return ~value
        case np.ndarray() if value.dtype.kind == "f":
            return (value * 1.3 + 0.7 * np.sin(1 + np.arange(value.size)).reshape(value.shape)).astype(value.dtype)
        case np.ndarray():
            return np.roll(value, 1)
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.5 + 0.25
        case tuple() | list() if not hasattr(value, "_fields"):
            return type(value)(map(changed, value)) if not isinstance(value[0], int) else type(value)(reversed(value))
    return value


def inputs(value):
    """Ways to change a value: as a whole, or an array of an object alone; and what that is called."""
    if is_dataclass(value) or hasattr(value, "_fields"):
        names = value._fields if hasattr(value, "_fields") else [f.name for f in fields(value) if f.init]
        for name in names:
            part = getattr(value, name)
            if isinstance(part, torch.Tensor | np.ndarray) or (type(value) is LayerSizes and part):
                yield f".{name}", replace(value, **{name: changed(part)})
    elif not isinstance(value, str | None):
        yield "", changed(value)


def results(call, **other):
    """What a program shows with other values; an error is a result as well."""
    space, text = {}, program_of(replace(call, inputs={**call.inputs, **other})).text.partition(PRINT_OPTIONS)[0]
    try:
        exec(compile(text, "copied", "exec", dont_inherit=True), space)
        return [np.ravel(np.asarray(eval(it, space), dtype=float)) for it in call.shows]
    except (ArithmeticError, ValueError, RuntimeError, IndexError, TypeError) as error:
        return [str(error)]


def same(one, other):
    return len(one) == len(other) and all(
        type(a) is type(b)
        and (a == b if isinstance(a, str) else a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-5, True))
        for a, b in zip(one, other, strict=True)
    )


# What a program needs to call a function, though what it shows comes before that acts, or where it does nothing.
ACTS_LATER = {
    "cost": {"block"},
    "heads": {"v", "W_v", "W_o", "module.W_o"},
    "mask": {"W_v"},
    "row_view": {"W_k", "W_v", "scale"},
    "scores": {"W_v"},
    "softmax": {"W_v", "shift"},
    "positions": {"W_v", "seed"},
    "variants": {"W_v"},
}


@pytest.fixture(scope="module")
def begun():
    """How each lesson's programs begin: those that call the same function and show the same stand together."""
    found, trace = {}, run_example(Example())
    for lesson in LESSONS:
        module = importlib.import_module(LESSONS[lesson])
        # Of the way back every case: a third of them leaves one softmax, which is saturated.
        for choices in list(file_of(lesson).cases(trace))[:: 1 if lesson == "backward" else 3]:
            call = module.screen(trace, 0, choices).code.call()
            found.setdefault((lesson, call.line, tuple(call.shows)), []).append((lesson, call))
    attention = trace.heads.select(0)
    others = ([(way, call_in_other_way(attention, trace.scale, way))] for way in ("loops", "numpy"))
    return [*found.values(), *others]


def changed_inputs(lesson, call):
    """Each input of a program that is to act, and another value for it."""
    for name, value in call.inputs.items():
        for part, other in inputs(value):
            if name + part not in ACTS_LATER.get(lesson, ()):
                yield name, part, other


def acts(call, name, other):
    """Whether another value of an input gives another end."""
    return not same(results(call, **{name: other}), results(call))


def test_what_a_program_shows_follows_from_what_it_begins_with(begun):
    """In one of the cases at least: where a softmax is saturated, its scores act on no digit that is shown."""
    stale = []
    for cases in begun:
        silent = {(name, part) for lesson, call in cases for name, part, _ in changed_inputs(lesson, call)}
        for lesson, call in cases:
            for name, part, other in changed_inputs(lesson, call):
                if (name, part) in silent and acts(call, name, other):
                    silent.remove((name, part))
        stale += [(lesson, name + part, call.line) for name, part in sorted(silent)]
    assert not stale, "\n".join(map(str, stale))


def test_the_last_cell_of_a_notebook_refuses_other_numbers_in_its_first(begun):
    for cases in begun:
        call, first, other = next(
            (call, name, other)
            for lesson, call in cases
            for name, _, other in changed_inputs(lesson, call)
            if acts(call, name, other)
        )
        program = program_of(replace(call, inputs={**call.inputs, first: other})).text
        with pytest.raises((AssertionError, ArithmeticError, ValueError, RuntimeError, IndexError)):
            exec("\n".join([program.partition(PRINT_OPTIONS)[0], *checks(call)]), {"__name__": "__main__"})


def test_a_value_is_written_to_its_last_digit():
    q = run_example(Example(seed=3)).heads.q[0] * 1e-7
    space = {}
    text = program_of(Call(attend, {"q": q, "d": q.double().numpy()}, {})).text
    exec(text.partition("# What was done")[0], space)
    assert space["q"].equal(q) and (space["d"] == q.double().numpy()).all() and space["d"].dtype == np.float64


def test_what_no_program_can_hold_is_refused():
    with pytest.raises(TypeError, match="a program can be given"):
        program_of(Call(attend, {"function": attend}, {}))
