"""Runs a learner's code on the cases: in the browser, under Brython, or in a file under pytest; never on the server."""

import math

import torch
from torch import nn

NAME = "<string>"  # what exec calls the text that it is given
MOST_PRINTED = 4000
WHOLE = hasattr(torch, "__version__")  # PyTorch itself, where the exercises are files that pytest runs
ASKED_FOR = ((nn, "MultiheadAttention"), (nn.functional, "scaled_dot_product_attention"))
ONLY_TREE = 1024  # of compile: no code, but the syntax tree


def answer():
    """What the page asked for, as the page reads it."""
    from browser import self as worker
    from javascript import JSON

    task = worker.TASK
    job = eval(task.job, {"true": True, "false": False, "null": None})  # JSON, with 1.0 still a float
    aside = [unpacked(text, shape) for text, shape in task.aside]
    for case in job["cases"]:
        case["arguments"] = [aside[it["aside"]] if isinstance(it, dict) else it for it in case["arguments"]]
    worker.postMessage(worker.Object.fromEntries([["answer", JSON.stringify(run(task.code, job))]]))


def unpacked(text, shape):
    """A tensor of 16-bit numbers, which came as a text beside the cases."""
    from single import of_halves
    from torch.kinds import float32
    from torch.storage import new

    return new(of_halves(text), tuple([int(n) for n in shape]), float32)


def run(code, job):
    """Outputs of every case, or the error and its line; and what was printed."""
    printed = []

    def keep(*things, sep=" ", end="\n", file=None, flush=False):
        if sum(map(len, printed)) < MOST_PRINTED:
            printed.append((sep.join([str(thing) for thing in things]) + end)[:MOST_PRINTED])

    names = {"__name__": "your_code", "torch": torch, "nn": nn, "F": nn.functional, "math": math, "print": keep}
    result = {"outputs": [], "error": None}
    try:
        check_tabs(code)
        with NothingGiven():
            exec(code, names)  # not compile() first: Brython 3.15.0 then fails on any class with a method
            entry = names.get(job["entry"])
            if entry is None:
                raise NotReady("nothing in your code is called " + job["entry"])
            for case in job["cases"]:
                result["outputs"].append(outputs(call(entry, case), job["returns"]))
        result["uses"] = names_used(code)
    except BaseException as error:  # whatever it is, the learner shall read it
        result["error"] = {"type": kind(error), "message": words(error), "line": line_of(error)}
    result["printed"] = "".join(printed)
    return result


def check_tabs(code):
    """Raise where two lines are indented by tabs and spaces that do not agree, as Python does and Brython does not."""
    depths, open_brackets, quoted = [("", "")], 0, None
    for number, line in enumerate(code.split("\n") if "\t" in code else (), start=1):
        text = line.lstrip(" \t")
        begins = not open_brackets and quoted is None and text and text[0] not in "#\r"
        if begins:
            indent = line[: len(line) - len(text)]
            wide, narrow = len(indent.expandtabs(8)), len(indent.expandtabs(1))
            before_wide, before_narrow = depths[-1] if len(depths) > 1 else (0, 0)
            if (wide > before_wide) != (narrow > before_narrow) or (wide == before_wide) != (narrow == before_narrow):
                error = TabError("inconsistent use of tabs and spaces in indentation")
                error.lineno = number
                raise error
            depths.append((wide, narrow))
        for at, mark in enumerate(text):
            three = text[at : at + 3]
            if quoted is None and mark == "#":
                break
            if three in ('"""', "'''") and quoted in (None, three):
                quoted = three if quoted is None and text.count(three) % 2 else None
                break
            if quoted is None:
                open_brackets += (mark in "([{") - (mark in ")]}")


def names_used(code):
    """The names of functions and attributes in a text, and its loops, by its syntax tree."""
    found, left = set(), [compile(code, NAME, "exec", ONLY_TREE)]
    while left:
        node = left.pop()
        if isinstance(node, (list, tuple)):
            left += node
        elif hasattr(node, "_fields"):
            kind = type(node).__name__
            found.update([kind.lower()] if kind in ("For", "While") else [])
            found.update(
                [
                    getattr(node, name)
                    for name in ("attr", "id")
                    if kind in ("Attribute", "Name") and hasattr(node, name)
                ]
            )
            left += [getattr(node, name, None) for name in node._fields]
    return sorted(found)


class NothingGiven:
    """While an answer runs, PyTorch does not have what it asks for, and memory that nobody has written to holds NaN."""

    def __enter__(self):
        self.kept = [getattr(owner, name) for owner, name in ASKED_FOR]
        for owner, name in ASKED_FOR:
            setattr(owner, name, refuse(name))
        if WHOLE:
            torch.use_deterministic_algorithms(True, warn_only=True)

    def __exit__(self, *_):
        for (owner, name), value in zip(ASKED_FOR, self.kept, strict=True):
            setattr(owner, name, value)
        if WHOLE:
            torch.use_deterministic_algorithms(False)


def refuse(name):
    """A function that only says that it is to be written."""

    def refused(*_, **__):
        raise NotImplementedError(f"In this exercise you write {name} yourself.")

    return refused


class NotReady(Exception):
    """What was asked for is not there yet."""


def call(entry, case):
    """The learner's function on one case; of a module, after its weights are put in."""
    arguments = [given(argument) for argument in case["arguments"]]
    if case["weights"]:
        entry = entry(*case["sizes"])
        for name, numbers in case["weights"].items():
            layer, weight = getattr(entry, name, None), given(numbers)
            if not isinstance(layer, nn.Linear) or layer.weight.shape != weight.shape or layer.bias is not None:
                raise NotReady("self.{} should be nn.Linear({}, {}, bias=False)".format(name, *reversed(weight.shape)))
            layer.weight = nn.Parameter(weight, requires_grad=False)
        entry.eval()
    return entry(*arguments, **case["options"])


def given(argument):
    """Lists are tensors; a number stays one; of a tensor, a copy."""
    if isinstance(argument, torch.Tensor):
        return argument.clone()
    return torch.tensor(argument, dtype=torch.float32) if isinstance(argument, list) else argument


def outputs(found, names):
    """Shapes and numbers, as JSON can hold them."""
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(names):
        raise NotReady("return " + ", ".join(names))
    return [output(name, tensor) for name, tensor in zip(names, found, strict=True)]


def output(name, found):
    """One tensor; a number is a tensor without axes."""
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        found = torch.tensor(found)
    if not isinstance(found, torch.Tensor):
        what = "still None" if found is None else "a " + type(found).__name__
        raise NotReady(f"{name} should be a tensor; it is {what}")
    return {"shape": list(found.shape), "data": [number(x) for x in found.reshape(-1).tolist()]}


def number(x):
    """JSON knows neither nan nor infinity."""
    x = float(x)
    return str(x) if x != x or abs(x) == math.inf else x


def fills_the_stack(error):
    """True where a call found no more room; what JavaScript says of it comes through."""
    return "call stack size" in str(error) or "too much recursion" in str(error)


def kind(error):
    """The name of a value's class."""
    return "RecursionError" if fills_the_stack(error) else "Lacking" if lacking(error) else type(error).__name__


def words(error):
    """The message; what Brython adds to that of a missing module is left out."""
    text = str(error).split(" (warning: cannot import")[0].split(" (<string>, line")[0]
    if isinstance(error, AttributeError):
        text = text.split(". Did you mean")[0]
    return lacking(error) or text


def lacking(error):
    """What PyTorch or Python has and this page lacks, by its name; an empty text where an answer is at fault."""
    if WHOLE:
        return ""
    text, quoted = str(error), str(error).split("'")
    if text.startswith("No module named"):
        return text.removeprefix("No module named").strip().split(" ")[0].strip("'")
    if text.startswith("cannot import name") and len(quoted) > 3:
        name, module = quoted[1], quoted[3]
    elif " has no attribute '" in text and isinstance(error, AttributeError):
        before, name = text.split(" has no attribute '")[0], text.split(" has no attribute '")[1].split("'")[0]
        module = before.removeprefix("module ").removeprefix("type object ").removesuffix(" object").strip("'")
    else:
        return ""
    import names

    of_torch = {"torch": names.TORCH, "torch.nn": names.MODULES, "torch.nn.functional": names.FUNCTIONAL}
    known = of_torch.get(module, names.METHODS if module in ("Tensor", "Parameter") else "").split()
    return f"{module}.{name}" if name in known or module in ("linalg", "special") else ""


def line_of(error):
    """The last line of the learner's own text that the error passed. Where the stack is full, it is the one that made
    the last call: how far the call itself came is chance.
    """
    if isinstance(error, SyntaxError):
        return error.lineno
    caller, line, step = None, None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == NAME:
            caller, line = line, step.tb_lineno
        step = step.tb_next
    return caller or line if fills_the_stack(error) else line
