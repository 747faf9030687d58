"""How large the house is, and how entangled: `python benchmarks/measures.py [commit]`, what git tracks or that commit.

Each measure counts something that a change of the app has to read or to touch; all of them are better low. The product
is every Python file but tests and benchmarks. Nothing is run, and nothing but git and the standard library is needed.
"""

import argparse
import ast
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from statistics import median

from report import lack, options_of

ROOT = Path(__file__).parent.parent
OURS = {"attention_core", "attention_ui", "classes", "in_browser", "lessons", "pages", "runs", "training", "words"}
ROLES = "q k v scores scaled masked weights output"
TENSORS = {
    *f"{ROLES} x fetched heads concatenated logits sink added W_q W_k W_v W_o b_q b_k b_v b_o".split(),
    *(f"d_{name}" for name in ROLES.split() if name not in "kv"),  # d_k and d_v are sizes as well
}
WITH_SOURCES = {"LANGUAGE", "MINE", "PRESETS", "TASK_SOURCES", "HEADS_PRESETS", "DRAWN_AGAIN"}


def git(*command: str) -> str:
    """What git answers."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        lack("git does not know this folder")
    return subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=True).stdout


def read(commit: str | None = None) -> dict[str, str]:
    """The text of every file that is measured, by its path in the repository."""
    tracked = git("ls-tree", "-r", "--name-only", commit) if commit else git("ls-files")
    measured = [name for name in tracked.splitlines() if name.endswith((".py", ".js", ".css", ".json"))]
    return {name: git("show", f"{commit}:{name}") if commit else (ROOT / name).read_text("utf-8") for name in measured}


def statements(tree: ast.AST) -> int:
    """Statements at any depth; docstrings are none."""
    return sum(isinstance(node, ast.stmt) and not is_text(node) for node in ast.walk(tree))


def is_text(node: ast.stmt) -> bool:
    """True for a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def called(node: ast.AST) -> str | None:
    """The name of what a call calls; None for what is no call of a name."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def strings(node: ast.AST) -> Iterator[str]:
    """Every string in it."""
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def names(node: ast.AST) -> set[str]:
    """All names and attributes in it."""
    return {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node)}


def words(tree: ast.AST) -> set[str]:
    """All that a file calls by name: strings, arguments, attributes and fields."""
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    return {*strings(tree), *names(tree), *keywords}


def is_ours(node: ast.ImportFrom) -> bool:
    """True where names come from another file of the product."""
    return node.level > 0 or node.module.split(".")[0] in OURS


def figures_in(trees: dict[str, ast.AST]) -> set[str]:
    """The classes of figures: `Figure` and what is derived from it."""
    made = (node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    return {"Figure", *(node.name for node in made if any("Figure" in names(base) for base in node.bases))}


def sources_in(trees: dict[str, ast.AST]) -> set[str]:
    """The names of the sources of a running example: what the types `…Source` list."""
    types = (node for tree in trees.values() for node in tree.body if isinstance(node, ast.Assign))
    listed = (node.value for node in types if ast.unparse(node.targets[0]).endswith("Source"))
    return {one for value in listed for one in strings(value)}


def on_source(test: ast.AST, sources: set[str]) -> bool:
    """True for a comparison that asks which source a running example has."""
    if not isinstance(test, ast.Compare):
        return False
    sides = [test.left, *test.comparators]
    named = any(getattr(side, "id", getattr(side, "attr", "")) == "source" for side in sides)
    return any(names(side) & WITH_SOURCES for side in sides) or (named and not sources.isdisjoint(strings(test)))


def measures(files: dict[str, str]) -> Iterator[tuple[str, object]]:
    """Each measure with its name."""
    trees = {name: ast.parse(text) for name, text in files.items() if name.endswith(".py")}
    tests = {name: tree for name, tree in trees.items() if name.startswith("tests/")}
    product = {name: tree for name, tree in trees.items() if not name.startswith(("tests/", "benchmarks/"))}
    lessons = {name: tree for name, tree in product.items() if name.startswith("lessons/")}
    nodes = [node for tree in product.values() for node in ast.walk(tree)]

    yield "statements of the product", sum(map(statements, product.values()))
    yield "  of these in lessons", sum(map(statements, lessons.values()))
    yield "statements of tests", sum(map(statements, tests.values()))
    for what, ending in {"JavaScript": ".js", "style sheets": ".css", "templates in JSON": ".json"}.items():
        lines = [text.count("\n") for name, text in files.items() if name.endswith(ending) and "pretrained" not in name]
        yield f"lines of {what}", sum(lines)

    folders = Counter(str(PurePosixPath(name).parent) for name in product)
    rooms = Counter(name.split("/")[1] for name in lessons if name.count("/") > 1)
    yield "files of the product", len(product)
    yield "files of a room of lessons, median and most", f"{median(rooms.values()):g}, {most(rooms)}"
    yield "files of a folder, most", most(folders)
    marks = (text.count("# fmt: skip") for name, text in files.items() if not name.startswith("benchmarks/"))
    yield "lines kept from the formatter", sum(marks)

    figures = figures_in(product)
    sources = sources_in(product)
    kinds = [node.args[1] for node in nodes if called(node) == "isinstance"]
    named = (node.args[0] for node in nodes if called(node) == "Number" and node.args)
    sliders = {node.value for node in named if isinstance(node, ast.Constant)}
    said = [words(tree) for tree in product.values()]
    touched = {key: sum(key in of_file for of_file in said) for key in sliders}
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and is_ours(node)]
    yield "names of tensors as strings", sum(text in TENSORS for tree in product.values() for text in strings(tree))
    yield "steps of a derivation by hand", sum(called(node) == "Step" for node in nodes)
    yield "questions for the class of a figure", sum(bool(names(kind) & figures) for kind in kinds)
    yield "branches on the source of an example", sum(on_source(node, sources) for node in nodes)
    yield "files that know one slider, median and most", f"{median(touched.values()):g}, {most(Counter(touched))}"
    yield "names imported from each other", sum(len(node.names) for node in imports)


def most(counts: Counter) -> str:
    """The largest count, and of what."""
    [(name, count)] = counts.most_common(1)
    return f"{count} ({name})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", help="instead of what git tracks now")
    for what, count in measures(read(options_of(parser).commit)):
        print(f"{what:46} {count}")
