"""What an exercise is: a question, a beginning, random cases, the right answer, and the mistakes that have a name."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from lessons.screen import Colour, Message, Scale, message

Outputs = tuple[Tensor, ...]
GivenIn = list | float | int | Tensor  # nested lists stand for a tensor; a number stays one
AXES = {
    "queries": message("queries"),
    "keys": message("keys"),
    "tokens": message("tokens"),
    "features": message("features"),
    "vocabulary": message("vocabulary"),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What an answer is tried on. A module is made with its `sizes`, and its layers get these `weights`."""

    arguments: tuple[GivenIn, ...]
    options: Mapping[str, bool] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    weights: Mapping[str, list] = field(default_factory=dict)

    def outputs(self, compute: Callable[..., Tensor | Outputs]) -> Outputs:
        """What a function of ours finds for this case, in double precision."""
        return self.trial()(compute)

    def trial(self) -> Callable[[Callable[..., Tensor | Outputs]], Outputs]:
        """Finds for many functions what each makes of this case; its tensors are made once."""
        inputs = [argument if is_number(argument) else double(argument) for argument in self.arguments]
        weights = {name: double(weight) for name, weight in self.weights.items()}
        sizes = {"n_heads": self.sizes[1]} if self.sizes else {}

        def outputs(compute: Callable[..., Tensor | Outputs]) -> Outputs:
            found = compute(*inputs, **self.options, **sizes, **weights)
            return tuple(x.double() for x in (found if isinstance(found, tuple) else (found,)))

        return outputs


@dataclass(frozen=True)
class Shown:
    """A tensor of an exercise: its name, and what its last two axes are, for a figure."""

    name: str
    rows: str
    columns: str
    colour: Colour = "ink"
    scale: Scale = "number"


@dataclass(frozen=True)
class Mistake:
    """A way to get it wrong that many have taken: what helps; and what it computes, or what it changes of the steps of
    its exercise, by the keywords of `varied`.
    """

    hint: Message
    computes: Callable[..., Tensor | Outputs] | Mapping[str, Any]
    alone: bool = False  # too rare to be looked for together with another


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise. It belongs to a lesson; `entry` is the function or module that is to be written.

    `answer` takes the tensors of a case, and so do the mistakes; where two mistakes give the same, the first is named.
    `varied` takes them too, and changes of single steps.
    """

    key: str
    title: Message
    lesson: str
    asks: Message  # our own words, as Markdown
    entry: str
    takes: tuple[Shown | str, ...]
    returns: tuple[Shown, ...]
    starter: str
    solution: str
    draw: Callable[[torch.Generator], tuple[Case, ...]]
    answer: Callable[..., Tensor | Outputs]
    mistakes: tuple[Mistake, ...]
    varied: Callable[..., Tensor | Outputs] | None = None
    drawn: bool = True  # cases of numbers nobody has seen before; else one case, always the same, of very many numbers
    loops: bool = False  # asks for loops
    without: frozenset[str] = frozenset()  # names of functions that do what one is asked to write

    def computed_by(self, *mistakes: Mistake) -> Callable[..., Tensor | Outputs]:
        """What is found where these mistakes were made together."""
        if callable(mistakes[0].computes):
            return mistakes[0].computes
        changes = {key: value for mistake in mistakes for key, value in mistake.computes.items()}
        return partial(self.varied or self.answer, **changes)

    def pairs(self) -> Iterator[tuple[Mistake, Mistake]]:
        """Two mistakes that can be made together: each changes another step."""
        changing = [mistake for mistake in self.mistakes if not callable(mistake.computes) and not mistake.alone]
        return ((a, b) for a, b in combinations(changing, 2) if not a.computes.keys() & b.computes.keys())

    @property
    def hints(self) -> tuple[Message, ...]:
        """What helps with each mistake, once where several have the same."""
        found: list[Message] = []
        for mistake in self.mistakes:
            if mistake.hint not in found:
                found.append(mistake.hint)
        return tuple(found)

    def cases(self, seed: int) -> tuple[Case, ...]:
        """The cases of this seed: of three sizes, where they are drawn."""
        return self.draw(torch.Generator().manual_seed(seed))


def is_number(argument: GivenIn) -> bool:
    """True for a number, which is no tensor."""
    return isinstance(argument, (int, float))


def double(numbers: GivenIn) -> Tensor:
    """Nested lists, a tensor or a single number, as a tensor in double precision."""
    return numbers.double() if isinstance(numbers, Tensor) else torch.tensor(numbers, dtype=torch.float64)


def written_job(exercise: Exercise, cases: Sequence[Case]) -> tuple[str, list[tuple[str, list[int]]]]:
    """What a browser is to run, as JSON; and beside it each tensor of a case: a text of 16-bit numbers, and a shape.

    The job is read as Python, for there 1.0 is not 1, which takes too long where there are a hundred thousand numbers.
    """
    aside: list[tuple[str, list[int]]] = []

    def put_aside(x: Tensor) -> dict[str, int]:
        aside.append((base64.b64encode(x.half().numpy().tobytes()).decode(), list(x.shape)))
        return {"aside": len(aside) - 1}

    returns = [shown.name for shown in exercise.returns]
    job = {"entry": exercise.entry, "returns": returns, "cases": list(map(vars, cases))}
    return json.dumps(job, default=put_aside), aside


def numbers_within(generator: torch.Generator, *shape: int, most: float = 2.0) -> list:
    """Numbers between −most and most with two decimals, so that they can be read."""
    return (most * (2 * torch.rand(*shape, generator=generator) - 1)).double().round(decimals=2).tolist()


def shares_of_one(generator: torch.Generator, *shape: int) -> list:
    """Rows of positive numbers that sum to 1, up to their three decimals."""
    return torch.randn(*shape, generator=generator).double().softmax(dim=-1).round(decimals=3).tolist()
