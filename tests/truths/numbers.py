"""Numbers without a screen: a real model, the notebooks' printed digits, verdicts on answers, ONNX's cases, losses."""

import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingSettings, recommended
from attention_core.one_head.masks import causal_mask
from attention_ui.process.real_models import smollm2
from attention_ui.server.runner import python_library, worker_script
from in_browser.driver import run
from lessons.code.exercises.base import written_job
from lessons.code.exercises.every import EXERCISES
from lessons.code.exercises.verdict import verdict_of
from lessons.learning.train.notebook_runs import FOUR_VECTORS, HELLO_WORLD
from lessons.screen import render
from runs.recording import Recording
from tests.chromium import FLAGS, find_chromium
from tests.truths import opened
from tests.truths.printed import PRINTED

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("core", "browser")]
TEXTS = (
    "The cat sat on the mat because it was very",
    "When Mary and John went to the store, John gave a drink to",
    "The quick brown fox jumps over the lazy dog. The quick brown fox",
    "def add(a, b):\n    return a + b",
    "no no no no",
    "Die Größe der Äpfel überrascht",
    "一只猫坐在垫子上",
    "1, 2, 3, 4, 5,",
)
OF_A_HEAD, OF_LOGITS, OF_ONNX = 12, 200, 40  # numbers that are drawn from all
CASES_SEED, MOST_STEPS = 3, 120
Entry = dict[str, Any]


def asked() -> list[str]:
    """All of them, by family and name."""
    return [f"{family} {name}" for family, (names, _) in FAMILIES.items() for name in names()]


def entry(key: str) -> Entry:
    """What is computed for one of these now."""
    family, _, name = key.partition(" ")
    return FAMILIES[family][1](name)


def drawn(values: Any, count: int) -> list:
    """So many of these numbers, always from the same places."""
    flat = np.asarray(values, dtype=float).ravel()
    places = np.random.RandomState(0).permutation(len(flat))[:count]
    return opened.written(flat[np.sort(places)])


def model_on_text(place: str) -> Entry:
    """The weights of all heads, and the scores of the next token, of which the ten largest are named."""
    model, numbers = smollm2(), {}
    assert model is not None
    trace = model.trace(model.tokenizer.encode(TEXTS[int(place)]).ids)
    n_tokens = len(trace.ids)
    for layer, block in enumerate(trace.layers):
        for head, weights in enumerate(torch.as_tensor(block.attention.heads.weights)):
            numbers[f"{layer}.{head}"] = drawn(weights[causal_mask(n_tokens)], OF_A_HEAD)
    logits = torch.as_tensor(trace.logits[-1])
    likeliest = [model.tokenizer.decode([int(place)]) for place in logits.topk(10).indices]
    return {"numbers": numbers | {"logits": drawn(logits, OF_LOGITS)}, "likeliest": likeliest}


def printed_rows(name: str) -> Entry:
    """Rows that a notebook prints, as the app shows them: with four digits, so the record is what was printed."""
    link, matrix, rows, down = PRINTED[name]
    shown = np.asarray(opened.matrices_of(link)[matrix])
    widths = [len(row.split()) for row in rows]
    return {"lines": [written_row(row, width) for row, width in zip(shown.T if down else shown, widths, strict=False)]}


def written_row(row: Iterable[float], width: int) -> str:
    """A row of numbers, or its beginning."""
    return " ".join(f"{value:.4f}" for value in [*row][:width])


@cache
def answers() -> dict[str, tuple[str, str]]:
    """Every collected answer to an exercise: the exercise and the code."""
    collected = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    found = {one["id"]: (one["exercise"], one["code"]) for one in collected}
    found |= {f"solution of {key}": (key, exercise.solution) for key, exercise in EXERCISES.items()}
    found |= {f"beginning of {key}": (key, exercise.starter) for key, exercise in EXERCISES.items()}
    from test_programs import SAMPLE, programs

    return found | {f"program {place}": one for place, one in enumerate(programs(SAMPLE))}


@cache
def verdicts_in_browser() -> dict[str, Entry]:
    """The verdict on every answer that runs in Chromium, as a learner's does."""
    from playwright.sync_api import sync_playwright
    from test_programs import IN_THE_WORKER

    jobs = [[code, *written_job(EXERCISES[key], EXERCISES[key].cases(CASES_SEED))] for key, code in answers().values()]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(0)
        ran = page.evaluate(IN_THE_WORKER, [worker_script(), python_library(), jobs])
        browser.close()
    return {
        name: verdict(key, json.loads(result)) for (name, (key, _)), result in zip(answers().items(), ran, strict=True)
    }


def verdict_with_torch(name: str) -> Entry:
    """The verdict on an answer that runs with PyTorch itself."""
    key, code = answers()[name]
    exercise = EXERCISES[key]
    cases = [dict(vars(case)) for case in exercise.cases(CASES_SEED)]
    job = {"entry": exercise.entry, "returns": [shown.name for shown in exercise.returns], "cases": cases}
    return verdict(key, run(code, job))


def verdict(key: str, result: object) -> Entry:
    """Right or not, what is said of it, and the kind of error."""
    exercise = EXERCISES[key]
    found = verdict_of(exercise, exercise.cases(CASES_SEED), json.dumps(result))
    return {"passed": found.passed, "error": found.error.split(":")[0], "lines": [*map(render, found.says)]}


def onnx_cases() -> list[str]:
    """The published cases of the operator Attention, but for those in half precision."""
    from test_onnx import REST

    return [*REST]


def onnx_case(name: str) -> Entry:
    """What `attend` finds for it."""
    from test_onnx import CASES, run_case

    outputs, _ = run_case(CASES[name])
    return {"numbers": {str(place): drawn(output, OF_ONNX) for place, output in enumerate(outputs)}}


@cache
def trainings() -> dict[str, TrainingSettings]:
    """A run of every task as it is recommended, of a text of letters, and those of the notebooks."""
    of_tasks = {key: recommended(task) for key, task in TASKS.items()}
    letters = {"letters": recommended(CharacterTask("to be or not to be", 5))}
    return of_tasks | letters | {"hello world": HELLO_WORLD, "four vectors": FOUR_VECTORS}


def losses(name: str) -> Entry:
    """The loss at the beginning, in the middle and at the end of its first steps."""
    settings = trainings()[name]
    steps = min(settings.steps, MOST_STEPS)
    recording = Recording(settings)
    recording.record(steps)
    found = recording.losses(steps)
    return {"numbers": {"loss": opened.written([found[place] for place in (0, steps // 2, steps)])}}


FAMILIES: dict[str, tuple[Callable[[], Iterable[str]], Callable[[str], Entry]]] = {
    "text": (lambda: map(str, range(len(TEXTS))), model_on_text),
    "printed": (lambda: PRINTED, printed_rows),
    "torch": (answers, verdict_with_torch),
    "browser": (answers, lambda name: verdicts_in_browser()[name]),
    "onnx": (onnx_cases, onnx_case),
    "losses": (trainings, losses),
}
