"""One test over all lessons, views, matrices and sentences: what a screen says is computed again from the tensors."""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from screens import Case, check_case, check_conditions, check_said
from strategies import EXAMPLES, EXTREMES

from lessons.example.example import Example, run_example

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

ROOT = Path(__file__).parents[2]
COMMAND = next(line for line in (ROOT / "words" / "babel.cfg").read_text().splitlines() if "pybabel" in line)
# Whose first arguments are templates, and how many of them: as the command says.
SAYING = {name: 2 if more else 1 for name, more in re.findall(r"-k (\w+)(:1,2)?", COMMAND)}
FOLDERS = ("attention_core", "classes", "runs", "lessons", "attention_ui")
OWN = ("message.py", "format.py", "errors.py")  # which define them


def parsed(path):
    return ast.parse(path.read_text())


def modules_of_lessons():
    """The module of each lesson by its name: that of its file, of its folder, or of one of several views."""
    for path in sorted((ROOT / "lessons").rglob("*.py")):
        if {"screen", "Choices"} <= {node.name for node in parsed(path).body if hasattr(node, "name")}:
            name = path.parent.name if path.stem == "lesson" else path.stem
            yield name, ".".join(path.relative_to(ROOT).with_suffix("").parts)


LESSONS = dict(modules_of_lessons())


@cache
def file_of(lesson):
    """The test file of a lesson, which offers `cases` and `ORACLE`."""
    path = Path(__file__).with_name(f"test_{lesson}.py")
    assert path.exists(), f"the lesson {lesson} needs a test file"
    spec = importlib.util.spec_from_file_location(f"tests_of_{lesson}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_number_on_every_screen_is_computed_again(lesson, whole):
    module, parts = file_of(lesson), 2 if whole else 6
    examples = getattr(module, "EXAMPLES", EXAMPLES)

    @given(examples)
    def check(chosen):
        trace = run_example(chosen)
        for choices in [*module.cases(trace)][chosen.seed % parts :: parts]:  # with other seeds the others
            head = trace.example.n_heads - 1
            case = Case(trace, head, choices, module.screen(trace, head, choices))
            check_case(case, module.ORACLE, module.ANSWERS)
            if hasattr(module, "EXAMPLES"):
                check_conditions(case, module.ORACLE)

    check()


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_sentence_and_every_card_is_true_at_the_extremes(lesson, whole):
    module, parts = file_of(lesson), 2 if whole else 7
    if hasattr(module, "EXAMPLES"):
        pytest.skip("this lesson has extremes of its own")
    for place, chosen in enumerate(EXTREMES):
        trace = run_example(chosen)
        for choices in [*module.cases(trace)][place % parts :: parts]:  # with others the others
            case = Case(trace, 0, choices, module.screen(trace, 0, choices))
            check_said(case, module.ORACLE, module.ANSWERS)
            check_conditions(case, module.ORACLE)


@pytest.mark.parametrize("lesson", LESSONS)
def test_all_kinds_of_question_come_up_and_the_right_card_stands_anywhere(lesson):
    module, prompts, right = file_of(lesson), set(), set()
    if not module.ANSWERS or hasattr(module, "EXAMPLES"):
        pytest.skip("this lesson asks nothing, or has examples of its own")
    for causal in (True, False):
        trace = run_example(Example(source="sentence", text="the cat saw the dog", causal=causal))
        for choices in module.cases(trace):
            ask = module.screen(trace, 0, choices).ask
            questions = [ask(number) for number in range(50)]
            prompts |= {question.prompt.template for question in questions}
            right |= {question.right for question in questions}
    assert prompts == set(module.ANSWERS) and right >= {0, 1, 2}


def templates_of(path):
    """Every argument of a file that is a template, and its line."""
    if path.name in OWN:
        return
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYING:
            for argument in node.args[: SAYING[node.func.id]]:
                if not (isinstance(argument, ast.Name) and node.func.id == "RefusedError"):  # a text that is `told_as`
                    yield node.lineno, argument


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_template_is_written_out_so_that_a_catalogue_holds_it(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for line, argument in templates_of(path):
            assert isinstance(argument, ast.Constant) and isinstance(argument.value, str), f"{path}:{line}"


def test_a_catalogue_of_all_sentences_can_be_extracted(tmp_path):
    catalogue = tmp_path / "attention_lab.pot"
    _, *options = shlex.split(COMMAND.removeprefix("# ").replace("words/attention_lab.pot", str(catalogue)))
    subprocess.run([sys.executable, "-m", "babel.messages.frontend", *options], cwd=ROOT, check=True, stderr=-3)
    with open(catalogue, "rb") as file:
        found = {text for message in read_po(file) for text in as_tuple(message.id)}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            assert {argument.value for _, argument in templates_of(path) if argument.value} <= found, path


def as_tuple(message):
    return message if isinstance(message, tuple) else (message,)


def test_sentences_are_made_by_say_alone():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            made = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "Sentence"]
            assert not made or path.name == "sentence.py", path
