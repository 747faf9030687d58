"""The rules of the house that can be read off the source."""

import ast
import re
import sys
from pathlib import Path

import pytest

from models.wheels import WHEELS

ROOT = Path(__file__).parent.parent.parent

SCREEN = {"streamlit", "altair", "pandas"}
FORBIDDEN = {
    "attention_core": SCREEN | {"pyarrow", "lessons", "runs", "models", "worker", "attention_ui", "pages"},
    "lessons": SCREEN | {"runs", "models", "worker", "attention_ui", "pages"},
    "runs": SCREEN | {"lessons", "models", "worker", "attention_ui", "pages"},
    "models": SCREEN | {"lessons", "runs", "worker", "classes", "words", "attention_ui", "pages"},
    "worker": SCREEN | {"attention_core", "lessons", "classes", "words", "attention_ui", "pages"},
    "classes": SCREEN | {"attention_core", "lessons", "runs", "models", "worker", "attention_ui", "pages"},
    "words": SCREEN | {"attention_core", "lessons", "runs", "models", "worker", "classes", "attention_ui", "pages"},
    "attention_ui": {"pages"},
    "training": SCREEN | {"runs", "attention_ui", "pages"},  # it trains the model that the lessons open with
    "attention_ui/figures": {"streamlit", "pages"},
    "pages": {"altair", "pandas", "pyarrow", "torch", "numpy", "models", "worker", "pages"},
}
PRODUCT = ("attention_core", "lessons", "runs", "models", "worker", "classes", "attention_ui", "pages")
PAGES = sorted((ROOT / "pages").rglob("*.py"))


def python_files(place):
    files = sorted((ROOT / place).rglob("*.py"))
    assert files, f"{place} has moved"
    return files


def imported_packages(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


@pytest.mark.parametrize("place", FORBIDDEN)
def test_imports_respect_the_layers(place):
    for file in python_files(place):
        assert not FORBIDDEN[place] & set(imported_packages(file)), file


def test_the_core_imports_little():
    for file in python_files("attention_core"):
        known = {
            "torch",
            "numpy",
            "jaxtyping",
            "safetensors",
            "gguf",
            "tokenizers",
            "attention_core",
            *sys.stdlib_module_names,
        }
        assert set(imported_packages(file)) <= known, file


def test_classes_need_nothing_but_python():
    for file in python_files("classes"):
        known = {"classes", *sys.stdlib_module_names} | ({"psycopg"} if file.name == "postgres.py" else set())
        assert set(imported_packages(file)) <= known, file


def test_no_package_of_a_model_is_ever_imported():
    packages = {path.partition("/")[0] for wheel in WHEELS for path, _ in wheel.contents}
    for place in PRODUCT:
        for file in python_files(place):
            assert not packages & set(imported_packages(file)), file


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_only_controls_computes_explains_and_draws(page):
    tree = ast.parse(page.read_text())
    assert len(page.read_text().splitlines()) <= 25
    assert not any(isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda) for node in ast.walk(tree))
    assert "session_state" not in page.read_text()


@pytest.mark.parametrize(
    "place", ["attention_core", "lessons", "runs", "models", "worker", "classes", "attention_ui", "pages"]
)
def test_session_state_and_raw_html_have_no_place(place):
    for file in python_files(place):
        source = file.read_text()
        assert "unsafe_allow_html" not in source
        assert "st.html(" not in source or file.name == "frame.py"  # style sheets of our own
        assert "session_state" not in source or file.name in ("state.py", "streamlit_insides.py")
        assert "query_params" not in source or file.name in ("links.py", "streamlit_insides.py")


def test_what_streamlit_does_not_promise_stands_in_one_file():
    insides = ROOT / "attention_ui" / "streamlit_insides.py"
    for file in [ROOT / "app.py", *python_files("attention_ui"), *python_files("pages")]:
        if file != insides:
            source = file.read_text()
            for part in re.findall(r"(?:from|import) (streamlit\.[\w.]+)", source):
                assert part == "streamlit.starlette", f"{file}: {part}"
            assert not re.search(r"\bst\._|import copy\b", source), file


def test_random_numbers_never_come_from_global_state():
    for place in ("attention_core", "lessons", "runs", "models", "worker", "attention_ui", "pages"):
        for file in python_files(place):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    name = node.func.attr
                    drawn = {keyword.arg for keyword in node.keywords}
                    if name in ("randn", "rand", "randint", "randperm", "multinomial", "bernoulli_", "uniform_"):
                        assert "generator" in drawn, f"{file}:{node.lineno}"
                    assert name not in ("manual_seed",) or "Generator" in ast.unparse(node.func), file


def test_every_public_function_of_the_core_says_what_it_means():
    for file in python_files("attention_core"):
        tree = ast.parse(file.read_text())
        assert ast.get_docstring(tree), file
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{file}: {node.name}"
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 40, f"{file}: {node.name} does not fit on a slide"


# What every lesson offers, and what every file with a log calls it.
OFFERED_BY_MANY = {"TOPIC", "POINT", "screen", "Choices", "QUESTIONS", "log"}


def test_no_top_level_name_means_two_things_in_one_folder():
    homes = {}
    for place in PRODUCT[:-1]:
        for file in python_files(place):
            for node in ast.parse(file.read_text()).body:
                named = [node.name] if hasattr(node, "name") else []
                targets = getattr(node, "targets", [node.target] if isinstance(node, ast.AnnAssign) else [])
                named += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
                for name in set(named) - OFFERED_BY_MANY:
                    homes.setdefault((file.parent, name), []).append(file)
    assert not {name: files for name, files in homes.items() if len(files) > 1}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_asks_the_lessons_and_the_interface_and_computes_nothing(page):
    tree = ast.parse(page.read_text())
    assert set(imported_packages(page)) <= {"attention_ui", "lessons", "functools", "streamlit"}
    assert not any(isinstance(node, ast.BinOp | ast.For | ast.While) for node in ast.walk(tree))
