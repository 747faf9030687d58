"""Every import of the product as an arrow between files: none closes a circle, and rooms know only those below them."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = (
    "app.py",
    "attention_core",
    "lessons",
    "runs",
    "models",
    "worker",
    "classes",
    "words",
    "attention_ui",
    "pages",
)
# From the ground up. A room is a folder of its package, or a file beside them.
FLOORS = {
    "attention_core": ("base", "text", "one_head", "model", "learning", "measured", "stored", "puzzles"),
    "lessons": (
        *("screen", "example", "trace", "shared"),
        *("one_head", "model", "learning", "today", "code", "start", "order", "teachers"),
    ),
    "attention_ui": (
        *("state", "streamlit_insides", "process", "figures", "session", "contents", "controls", "export", "page"),
        *("training", "writing", "classroom", "practice", "link_rules", "warm_up", "server", "frame"),
    ),
}
MOST_BACK = {"attention_core": 0, "lessons": 0, "attention_ui": 1}
FACES = {
    "lessons.screen": {path.stem for path in (ROOT / "lessons" / "screen").glob("*.py")},
    "attention_ui.session": {"chart", "icon", "language", "links", "markdown"},
}


@cache
def files():
    """The file of each module."""
    found = {}
    for place in PRODUCT:
        for path in [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py")):
            found[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imported(tree):
    """What is imported, with its line, and whether for types alone."""
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, node in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = whole in files() and node.module not in FACES
                yield whole if is_module else node.module, node.lineno, node in for_types


def only_collects(path, tree):
    """True for the `__init__` of a package that does nothing but import the names that others find there."""
    return path.stem == "__init__" and all(
        isinstance(node, ast.Import | ast.ImportFrom | ast.Expr) or ast.unparse(node).startswith("__all__")
        for node in tree.body
    )


@cache
def arrows():
    """From each module to those that it imports, inside functions as well, with the line that does."""
    found = {}
    for name, path in files().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lines = [] if only_collects(path, tree) else imported(tree)
        found[name] = {to: line for to, line, for_types in lines if to in files() and to != name and not for_types}
    return found


def room(module):
    """The room of a module in its package."""
    return module.split(".")[1] if "." in module else module


def circle(graph):
    """The imports that close a circle, one line each; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        around = error.args[1][::-1]
        return [f"{a} imports {b} in line {graph[a][b]}" for a, b in pairwise(around)]
    return []


def test_no_import_closes_a_circle():
    assert len(arrows()) > 400 and not circle(arrows())


def test_a_circle_is_told_import_by_import():
    graph = {"a": {"b": 3}, "b": {"c": 5}, "c": {"a": 7}, "d": {"a": 1}}
    assert sorted(circle(graph)) == ["a imports b in line 3", "b imports c in line 5", "c imports a in line 7"]


@pytest.mark.parametrize("package", FLOORS)
def test_rooms_know_only_those_below_them(package):
    floors = FLOORS[package]
    inside = [name for name in arrows() if name.startswith(f"{package}.")]
    assert {room(name) for name in inside} == set(floors)
    back = [
        f"{name}, line {line}, imports {to}"
        for name in inside
        for to, line in arrows()[name].items()
        if to.startswith(f"{package}.") and floors.index(room(to)) > floors.index(room(name))
    ]
    assert len(back) <= MOST_BACK[package], back


def test_the_path_of_a_page_is_that_of_its_lesson():
    pages = {path.relative_to(ROOT / "pages").with_suffix("") for path in (ROOT / "pages").rglob("*.py")}
    assert pages and all((ROOT / "lessons" / page / "__init__.py").exists() for page in pages)


def test_what_has_one_face_is_imported_from_there():
    for name, imports in arrows().items():
        for to in imports:
            package, _, part = to.rpartition(".")
            is_behind = part in FACES.get(package, ())
            assert not is_behind or name.startswith(package), f"{name} imports {to}"


# Packages that take a tenth of a second or more to import, and that the first page does without: see test_quick_start.
SLOW = {"torch", "altair", "tokenizers", "gguf", "babel", "PIL"}


def is_slow(node):
    """True for an import of one of these."""
    named = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return all(name.split(".")[0] in SLOW for name in named)


def blocks_in_functions(tree):
    """The imports inside functions, those that follow each other together."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for body in (node.body for node in ast.walk(function) if isinstance(getattr(node, "body", None), list)):
                several = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
                if not all(map(is_slow, several)):
                    yield several


def test_an_import_inside_a_function_says_why():
    for path in files().values():
        lines = path.read_text(encoding="utf-8").splitlines()
        for several in blocks_in_functions(ast.parse("\n".join(lines))):
            around = "\n".join(lines[several[0].lineno - 2 : several[-1].end_lineno])
            assert "#" in around, f"{path}:{several[0].lineno}"
