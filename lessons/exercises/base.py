"""What an exercise is: a question, a beginning, random cases, the right answer, and the mistakes that have a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lessons.screen.message import Message, message
from lessons.screen.screen import Colour, Scale

Outputs = tuple[Tensor, ...]
GivenIn = list | float | int  # nested lists stand for a tensor; a number stays one
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
        inputs = [double(argument) if isinstance(argument, list) else argument for argument in self.arguments]
        weights = {name: double(weight) for name, weight in self.weights.items()}
        sizes = {"n_heads": self.sizes[1]} if self.sizes else {}
        found = compute(*inputs, **self.options, **sizes, **weights)
        return tuple(x.double() for x in (found if isinstance(found, tuple) else (found,)))


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
    """A way to get it wrong that many have taken: what it computes, and what helps."""

    hint: Message
    computes: Callable[..., Tensor | Outputs]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise. It belongs to a lesson; `entry` is the function or module that is to be written.

    `answer` takes the tensors of a case, and so do the mistakes; where two mistakes give the same, the first is named.
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

    def cases(self, seed: int) -> tuple[Case, ...]:
        """The cases of this seed: of three sizes, and with numbers nobody has seen before."""
        return self.draw(torch.Generator().manual_seed(seed))


def double(numbers: list) -> Tensor:
    """Nested lists as a tensor in double precision."""
    return torch.tensor(numbers, dtype=torch.float64)


def numbers_within(generator: torch.Generator, *shape: int, most: float = 2.0) -> list:
    """Numbers between −most and most with two decimals, so that they can be read."""
    return (most * (2 * torch.rand(*shape, generator=generator) - 1)).double().round(decimals=2).tolist()


def shares_of_one(generator: torch.Generator, *shape: int) -> list:
    """Rows of positive numbers that sum to 1, up to their three decimals."""
    return torch.randn(*shape, generator=generator).double().softmax(dim=-1).round(decimals=3).tolist()
