"""Runs a learner's code on the cases: in the browser, under Brython, or in a file under pytest; never on the server."""

import math

import torch
from torch import nn

NAME = "<string>"  # what exec calls the text that it is given
MOST_PRINTED = 4000
KNOWS = ": the torch of this page knows what the exercises need, and no more"
if hasattr(torch, "__version__"):  # PyTorch itself, where the exercises are files that pytest runs
    KNOWS = ""


def answer():
    """What the page asked for, as the page reads it."""
    from browser import self as worker
    from javascript import JSON

    task = worker.TASK
    job = eval(task.job, {"true": True, "false": False, "null": None})  # JSON, with 1.0 still a float
    worker.postMessage(worker.Object.fromEntries([["answer", JSON.stringify(run(task.code, job))]]))


def run(code, job):
    """Outputs of every case, or the error and its line; and what was printed."""
    printed = []

    def keep(*things, sep=" ", end="\n", file=None, flush=False):
        if sum(map(len, printed)) < MOST_PRINTED:
            printed.append((sep.join([str(thing) for thing in things]) + end)[:MOST_PRINTED])

    names = {"__name__": "your_code", "torch": torch, "nn": nn, "F": nn.functional, "math": math, "print": keep}
    result = {"outputs": [], "error": None}
    try:
        exec(code, names)  # not compile() first: Brython 3.15.0 then fails on any class with a method
        entry = names.get(job["entry"])
        if entry is None:
            raise NotReady("nothing in your code is called " + job["entry"])
        for case in job["cases"]:
            result["outputs"].append(outputs(call(entry, case), job["returns"]))
    except BaseException as error:  # whatever it is, the learner shall read it
        result["error"] = {"type": kind(error), "message": words(error), "line": line_of(error)}
    result["printed"] = "".join(printed)
    return result


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
            layer.weight = nn.Parameter(weight)
    return entry(*arguments, **case["options"])


def given(argument):
    """Lists are tensors; a number stays one."""
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
    return "RecursionError" if fills_the_stack(error) else type(error).__name__


def words(error):
    """The message; what Brython adds to that of a missing module is left out."""
    text = str(error).split(" (warning: cannot import")[0]
    lacks = isinstance(error, AttributeError) and ("'torch" in text or "'Tensor'" in text or "module torch" in text)
    return text.split(". Did you mean")[0] + KNOWS if lacks else text


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
