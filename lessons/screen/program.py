"""The code and the numbers of a screen as one program, which runs in an empty file wherever torch and NumPy are.

Its sources are those that ran: read from their files, with all that they call. `Call` says how a screen called them,
`program_of` makes the program of it. Nothing here knows the screen, so a notebook can be made of the same.
"""

import ast
import base64
import functools
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np

from attention_core.base.arrays import Array
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.reference import attend_with_loops, attend_with_numpy

OUR_PACKAGES = ("attention_core", "lessons")
PREAMBLE = '''"""The code and the numbers of one screen of Attention Lab. All it needs is `pip install torch numpy`."""

from __future__ import annotations  # the shapes in the annotations are for reading: nothing evaluates them
'''
PRINT_OPTIONS = "np.set_printoptions(precision=4, suppress=True)\ntorch.set_printoptions(precision=4, sci_mode=False)\n"
WRITTEN_WITH = {"loops": attend_with_loops, "numpy": attend_with_numpy}
MOST_IN_DIGITS = 3000  # numbers of an array that are written one by one
LINE_OF_NUMBERS = 112  # characters of a line of numbers


@dataclass(frozen=True, eq=False)
class Call:
    """How a function was called, and what is shown of its `result`: expressions, each with what it is on the screen.

    The inputs are numbers, texts, arrays, and objects of our own that are made of them.
    """

    function: Callable
    inputs: Mapping[str, Any]
    shows: Mapping[str, Any]

    @property
    def line(self) -> str:
        """The call as Python writes it."""
        return f"result = {self.function.__name__}({', '.join(f'{name}={name}' for name in self.inputs)})"


def call_in_other_way(attention: AttentionTrace, scale: float, way: Literal["loops", "numpy"]) -> Call:
    """A call that computes this attention by plain loops, or with NumPy."""
    names = {"q": attention.q, "k": attention.k, "v": attention.v, "visible": attention.visible}
    arrays = {name: np.asarray(array) for name, array in names.items()}
    values = {name: array.tolist() if way == "loops" else array for name, array in arrays.items()}
    shows = {"result[0]": attention.weights, "result[1]": attention.output}
    return Call(WRITTEN_WITH[way], {**values, "scale": scale}, shows)


@dataclass(frozen=True)
class Program:
    """A program in pieces: imports, sources, the example's values, what is done with them, and what is printed."""

    imports: tuple[str, ...]
    sources: tuple[str, ...]
    values: tuple[str, ...]
    line: str
    prints: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it, to be copied into an empty file."""
        return (
            "\n\n".join(
                (
                    PREAMBLE + "\n" + "\n".join(self.imports),
                    *("\n" + source for source in self.sources),
                    "\n# The numbers of this screen.\n\n" + "\n".join(self.values),
                    "# What was done with them, and what it gave.\n\n" + self.line,
                    PRINT_OPTIONS + "\n".join(self.prints),
                )
            ).rstrip()
            + "\n"
        )


def program_of(call: Call) -> Program:
    """The program that calls a function as the screen did, and prints what stands there."""
    closure = Closure()
    closure.add_function(call.function)
    values = tuple(f"{name} = {closure.literal(value)}" for name, value in call.inputs.items())
    prints = tuple(f'print("{shown}", {shown}, sep="\\n")' for shown in call.shows)
    imports = {"import numpy as np", "import torch", *closure.imports}
    return Program(tuple(in_order(imports)), tuple(closure.found.values()), values, call.line, prints)


def in_order(imports: Collection[str]) -> list[str]:
    """The standard library first; and one line for each module from which names are imported."""
    plain = [line for line in imports if line.startswith("import")]
    modules: dict[str, list[str]] = {}
    for line in sorted(set(imports) - set(plain)):
        _, module, _, name = line.split(maxsplit=3)
        modules.setdefault(module, []).append(name)
    lines = [*sorted(plain), *(f"from {module} import {', '.join(names)}" for module, names in modules.items())]
    return sorted(lines, key=lambda line: line.split()[1].partition(".")[0] not in sys.stdlib_module_names)


@dataclass
class Closure:
    """Definitions from our own files, each after those that it needs, and the imports of all of them."""

    found: dict[tuple[str, str], str] = field(default_factory=dict)  # by module and name
    imports: set[str] = field(default_factory=set)
    begun: set[tuple[str, str]] = field(default_factory=set)

    def add_function(self, function: Callable) -> None:
        """A function or class of ours; of a method, its whole class."""
        function = inspect.unwrap(function)
        self.add(function.__module__, function.__qualname__.partition(".")[0])

    def add(self, module: str, name: str) -> None:
        """A name as it is known in a module: its definition there, or what is imported under it."""
        definition, key = top_level(module).get(name), (module, name)
        if definition is None or key in self.begun:  # None: built in, or local
            return
        self.begun.add(key)
        if isinstance(definition, Imported):
            self.add_import(definition, name, key)
            return
        for other in definition.needs:
            self.add(module, other)
        self.found[key] = definition.text

    def add_import(self, imported: "Imported", name: str, key: tuple[str, str]) -> None:
        """From a file of ours, the definition itself; from elsewhere, the import."""
        if imported.module.partition(".")[0] not in OUR_PACKAGES:
            self.imports.add(imported.line)
            return
        self.add(imported.module, imported.name)
        if imported.name != name:
            self.found[key] = f"{name} = {imported.name}"

    def literal(self, value: Any) -> str:
        """A value as Python writes it, to its last digit; the classes that it needs are added."""
        if hasattr(value, "shape"):
            if math.prod(value.shape) <= MOST_IN_DIGITS:
                return array_literal(value)
            self.imports.add("import base64")
            return packed_literal(value)
        match value:
            case tuple() if not hasattr(value, "_fields"):
                inner = ", ".join(map(self.literal, value))
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case list() if value and isinstance(value[0], list):
                rows = ",\n".join(map(self.literal, value))
                return "[\n" + textwrap.indent(rows, "    ") + ",\n]"
            case list():
                return "[" + ", ".join(map(self.literal, value)) + "]"
        if is_dataclass(value) or hasattr(value, "_fields"):
            self.add_function(type(value))
            names = getattr(value, "_fields", None) or [f.name for f in fields(value) if f.init]
            made = ((name, getattr(value, name)) for name in names)
            return f"{type(value).__name__}({', '.join(f'{name}={self.literal(it)}' for name, it in made)})"
        if not isinstance(value, str | int | float | bool | None):
            raise TypeError(f"a program can be given numbers, texts, arrays and what is made of them, not {value!r}")
        return repr(value)


def packed_literal(array: Array) -> str:
    """A large array as text that is a third longer than its bytes; in half precision where that changes no number."""
    of_torch = not isinstance(array, np.ndarray)
    numbers = np.ascontiguousarray(array.detach().numpy() if of_torch else array)
    half = numbers.astype(np.float16) if numbers.dtype == np.float32 else numbers
    kept = half if np.array_equal(half, numbers) else numbers
    lines = textwrap.fill(base64.b64encode(kept.tobytes()).decode(), LINE_OF_NUMBERS)
    read = f'np.frombuffer(base64.b64decode("""\n{lines}\n"""), "{kept.dtype.str}")'
    made = f'{read}.astype("{numbers.dtype.str}").reshape({numbers.shape})'
    return f"torch.from_numpy({made})" if of_torch else made


def array_literal(array: Array) -> str:
    """An array to its last digit, in as few digits as tell its numbers apart."""
    of_torch = not isinstance(array, np.ndarray)
    numbers = array.detach().numpy() if of_torch else array
    library, make = ("torch", "torch.tensor") if of_torch else ("np", "np.array")
    kind = "" if numbers.dtype == bool else f", dtype={library}.{numbers.dtype}"
    text = nested(numbers, library)
    return f"{make}({text}{kind})"


def nested(numbers: Any, library: str) -> str:
    """An array as lists of lists, or one number of it; a long row goes on in the next line."""
    if numbers.ndim == 0:
        number = str(numbers[()]) if numbers.dtype.kind != "f" else np.format_float_scientific(numbers, trim="-")
        plain = str(numbers[()])
        number = plain if len(plain) <= len(number) + 4 else number
        return number.replace("inf", f"{library}.inf").replace("nan", f"{library}.nan")
    inner = [nested(part, library) for part in numbers]
    if numbers.ndim == 1:
        lines = textwrap.wrap(", ".join(inner), LINE_OF_NUMBERS, break_long_words=False)
        return "[" + "\n    ".join(lines) + "]"
    return "[\n" + textwrap.indent(",\n".join(inner), "    ") + ",\n]"


# Reading our own files.


@dataclass(frozen=True)
class Imported:
    """A name that a file imports: the line that does, and what it is called where it comes from."""

    line: str
    module: str
    name: str


@dataclass(frozen=True)
class Definition:
    """What a file defines: its text, with decorators and the comments beside it, and the names that it reads."""

    text: str
    needs: tuple[str, ...]


@functools.cache
def top_level(module: str) -> dict[str, Definition | Imported]:
    """What each name at the top of a file stands for. The file is one that has been imported, as all have that ran."""
    source = inspect.getsource(sys.modules[module])
    names: dict[str, Definition | Imported] = {}
    lines = source.splitlines()
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names[name] = defined(node, lines)
            case ast.Assign(targets=targets):
                known = (it.id for target in targets for it in ast.walk(target) if isinstance(it, ast.Name))
                names |= dict.fromkeys(known, defined(node, lines))
            case ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = defined(node, lines)
            case ast.Import(names=aliases):
                for it in aliases:
                    as_name = f" as {it.asname}" if it.asname else ""
                    known = it.asname or it.name.partition(".")[0]
                    names[known] = Imported(f"import {it.name}{as_name}", it.name, it.name)
            case ast.ImportFrom(module=origin, names=aliases):
                for it in aliases:
                    as_name = f" as {it.asname}" if it.asname else ""
                    line = f"from {origin} import {it.name}{as_name}"
                    names[it.asname or it.name] = Imported(line, origin or "", it.name)
    return names


def defined(node: ast.stmt, lines: Sequence[str]) -> Definition:
    """A definition as it stands in its file; the file as a tree would take ten times as much memory."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return Definition("\n".join(lines[first - 1 : node.end_lineno]), tuple(dict.fromkeys(needed_names(node))))


def needed_names(definition: ast.AST) -> Iterator[str]:
    """The names that a definition reads, those in annotations left out: nothing evaluates them."""
    for name, value in ast.iter_fields(definition):
        if name in ("annotation", "returns"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield node.id
            if isinstance(node, ast.AST):
                yield from needed_names(node)
