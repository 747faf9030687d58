"""What a browser sent, compared with the right answer. It is a stranger's text until it is checked."""

import json
import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from lessons.code.exercises.base import Case, Exercise, Outputs
from lessons.code.exercises.errors import help_with, what_instead
from lessons.code.exercises.failing import failing_case
from lessons.screen import Magnitude, Matrices, Message, message

SECONDS = 4  # that an answer may take
MOST_SENT, MOST_PRINTED, MOST_OF_ERROR = 200_000, 4000, 500  # characters
MOST_AXES, LONGEST_AXIS, LAST_LINE = 4, 64, 1000
FAR = 1e6  # beyond it the numbers are too long to be read
NEAR: dict[str, Any] = {"atol": 2e-4, "rtol": 1e-3}
UNREADABLE = message("What your browser sent cannot be read. Run it again.")
AS_IN_MODEL = message("Right: these are the numbers of the model itself.")
NOT_NUMBERS = message(
    "{output} has entries that are not numbers (NaN). They come from 0 · ∞, ∞ − ∞, ∞ / ∞, 0 / 0, "
    "from the softmax of a row of nothing but −∞, or from torch.empty, which holds whatever was "
    "there."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """Whether an answer is right, and what there is to say. `error` and `printed` are a learner's words.

    `tried` is False where nothing of the learner's was compared, so that it counts as no try.
    """

    passed: bool = False
    says: tuple[Message, ...] = ()
    figures: tuple[Matrices, ...] = ()  # what is expected beside what came out; and what went in
    error: str = ""
    printed: str = ""
    tried: bool = True


def verdict_of(exercise: Exercise, cases: tuple[Case, ...], sent: object) -> Verdict:
    """Right; or the known mistake, or where it is wrong and by how much; or where the learner's code stopped."""
    try:
        result = json.loads(short_text(sent, MOST_SENT))
        printed = shown_text(short_text(result.get("printed", ""), 2 * MOST_PRINTED))
        if result.get("error"):
            return stopped(result["error"], printed)
        found = tuple(tuple(map(read_tensor, outputs)) for outputs in result["outputs"])
        if [len(outputs) for outputs in found] != [len(exercise.returns)] * len(cases):
            raise ValueError("not every output of every case")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return Verdict(says=(UNREADABLE,), tried=False)
    expected = tuple(case.outputs(exercise.answer) for case in cases)
    if all(map(same, found, expected)):
        right = message("Right in all {count} cases.", count=len(cases)) if exercise.drawn else AS_IN_MODEL
        return Verdict(passed=True, printed=printed, says=(right, *remark(exercise, result.get("uses"))))
    return Verdict(printed=printed, **wrong(exercise, cases, found, expected))


def remark(exercise: Exercise, uses: object) -> tuple[Message, ...]:
    """What a right answer did in another way than the exercise asks, as its syntax tree tells. It stays right."""
    names = {name for name in uses if isinstance(name, str)} if isinstance(uses, list) else set()
    if exercise.loops and names and "for" not in names and "while" not in names:
        return (message("This exercise asks for loops; your code has none. Write the sum once by hand."),)
    if names & exercise.without:
        return (message("This exercise asks you to write the softmax yourself, with exp, sum and max."),)
    return ()


def wrong(
    exercise: Exercise, cases: tuple[Case, ...], found: tuple[Outputs, ...], expected: tuple[Outputs, ...]
) -> dict[str, Any]:
    """What to say and show of the first case, and in it of the first output, that is wrong."""
    at = next(n for n, outputs in enumerate(found) if not same(outputs, expected[n]))
    pairs = enumerate(zip(found[at], expected[at], strict=True))
    place = next(n for n, (ours, theirs) in pairs if not same((ours,), (theirs,)))
    ours, theirs, shown = found[at][place], expected[at][place], exercise.returns[place]
    says = (*known_mistake(exercise, cases, found), how_far_apart(at + 1, shown.name, ours, theirs))
    figures = failing_case(exercise, cases[at], shown, ours, theirs) if ours.shape == theirs.shape else ()
    return {"says": says, "figures": figures}


def known_mistake(exercise: Exercise, cases: tuple[Case, ...], found: tuple[Outputs, ...]) -> tuple[Message, ...]:
    """The hint for the first mistake that gives these very outputs, or for the first two made together; if some do."""
    tried, trials = ((mistake,) for mistake in exercise.mistakes), [case.trial() for case in cases]
    for mistakes in chain(tried, exercise.pairs()):
        compute = exercise.computed_by(*mistakes)
        if all(gives(compute, trial, outputs) for outputs, trial in zip(found, trials, strict=True)):
            hints = [mistake.hint for mistake in mistakes]
            return tuple(hint for place, hint in enumerate(hints) if hint not in hints[:place])
    return ()


def gives(compute: Callable[..., Tensor | Outputs], trial: Callable[[Callable], Outputs], outputs: Outputs) -> bool:
    """True where a mistake finds these outputs; it may find none, for its shapes do not fit."""
    try:
        return same(outputs, trial(compute))
    except (RuntimeError, IndexError):
        return False


def how_far_apart(case: int, output: str, ours: Tensor, theirs: Tensor) -> Message:
    """Where an output is wrong, and by how much."""
    if ours.shape != theirs.shape:
        return message(
            "In case {case} the shape of {output} is {ours}; it should be {theirs}.",
            case=case,
            output=output,
            ours=shape_of_tensor(ours),
            theirs=shape_of_tensor(theirs),
        )
    if ours.isnan().any():
        return NOT_NUMBERS._replace(arguments={"output": output})
    apart = ~torch.isclose(ours, theirs, **NEAR)
    count, whole = int(apart.sum()), ours.numel()
    gap = float((ours - theirs).abs()[apart].max())
    if not math.isfinite(gap):
        return message(
            "In case {case}, {output} differs and is infinite in places (entries that differ: {count} of {whole}).",
            case=case,
            count=count,
            whole=whole,
            output=output,
        )
    if gap > FAR:
        return message(
            "In case {case}, {output} differs, in places by more than {most} (entries that differ: {count} of "
            "{whole}).",
            case=case,
            count=count,
            whole=whole,
            output=output,
            most=f"{FAR:,.0f}",
        )
    return message(
        "In case {case}, {output} differs by up to {gap} (entries that differ: {count} of {whole}).",
        case=case,
        count=count,
        whole=whole,
        output=output,
        gap=Magnitude(gap),
    )


def shape_of_tensor(x: Tensor) -> str:
    """The shape of a tensor as one writes it."""
    return f"[{', '.join(map(str, x.shape))}]"


def stopped(error: dict, printed: str) -> Verdict:
    """Where the learner's code stopped, and why."""
    if short_text(error["type"], 60) == "TimeLimit":
        late = message(
            "It ran longer than {seconds} seconds and was stopped. Is there an endless loop?", seconds=SECONDS
        )
        return Verdict(says=(late,), printed=printed)
    line = error.get("line")
    says = message("Your code stopped.")
    if type(line) is int and 0 < line <= LAST_LINE:
        says = message("Your code stopped on line {line}.", line=line)
    words = shown_text(short_text(error["message"], MOST_SENT)[:MOST_OF_ERROR])
    if error["type"] == "Lacking":
        return Verdict(says=(says, *what_instead(words)), printed=printed, tried=False)
    said = f"{shown_text(error['type'])}: {words}"
    return Verdict(says=(says, *help_with(said)), error=said, printed=printed)


def short_text(value: object, most: int) -> str:
    """A text that is not too long. Raises ValueError for anything else."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("no text, or too much of it")
    return value


def shown_text(text: str) -> str:
    """A text in which every character can be seen; line breaks stay."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text)


def read_tensor(sent: dict) -> Tensor:
    """A tensor from its shape and its numbers. Raises ValueError, TypeError or KeyError for what is none."""
    shape, data = sent["shape"], sent["data"]
    if len(shape) > MOST_AXES or not all(type(n) is int and 0 <= n <= LONGEST_AXIS for n in shape):
        raise ValueError("no such shape")
    if not isinstance(data, list) or len(data) != math.prod(shape):
        raise ValueError("the numbers do not fill the shape")
    return torch.tensor([float(x) for x in data], dtype=torch.float64).reshape(shape)


def same(ours: Outputs, theirs: Outputs) -> bool:
    """True where all numbers agree as far as single precision goes, and nan only with nan."""
    pairs = zip(ours, theirs, strict=True)
    return all(a.shape == b.shape and torch.allclose(a, b, **NEAR, equal_nan=True) for a, b in pairs)
