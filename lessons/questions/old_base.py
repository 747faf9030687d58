"""What a question is, and how to make choices that differ."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.attention import AttentionTrace, mask_scores, scale_scores, softmax_rows
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from lessons.captions import name
from lessons.example import ExampleTrace
from lessons.formatting import number

MOST_WRONG = 3
ROUNDS = 3  # in which every kind is tried once: another draw may find what the first did not
CLEAR_LEAD = 0.01  # what wins by less looks like a tie in numbers with two digits


@dataclass(frozen=True)
class Choice:
    """Something to choose, and what is said to whoever chose it."""

    text: str
    answer_to_it: str


@dataclass(frozen=True)
class Question:
    """A prompt and two to four choices that read differently; `right` is the index of the only right one."""

    prompt: str
    choices: tuple[Choice, ...]
    right: int


Maker = Callable[[ExampleTrace, int, torch.Generator], Question | None]
Value = tuple[float, str]  # a number to choose, and what is said to whoever chose it


def shuffled(question: Question, random: torch.Generator) -> Question:
    """The same question with its choices in a random order."""
    order = torch.randperm(len(question.choices), generator=random).tolist()
    choices = tuple(question.choices[place] for place in order)
    return Question(question.prompt, choices, order.index(question.right))


def first_fair(makers: Sequence[Callable[..., Question | None]], lesson: str, seed: int, *about: object) -> Question:
    """A question of this lesson: the kinds are tried in a random order until one makes a fair one of `about`.

    Each maker takes `about` and a random generator. The same arguments give the same question.
    """
    random = generator(seed, f"quiz of {lesson}")
    for _ in range(ROUNDS):
        for place in torch.randperm(len(makers), generator=random).tolist():
            question = makers[place](*about, random)
            if question is not None:
                return shuffled(question, random)
    raise LookupError(f"the lesson {lesson} has no question that fits what is on its screen")


def among(prompt: str, right: Choice, *wrong: Choice) -> Question | None:
    """The right choice and the first wrong ones that read differently; None where no wrong one is left."""
    different = {right.text: right}
    for choice in wrong:
        if len(different) <= MOST_WRONG:
            different.setdefault(choice.text, choice)
    return Question(prompt, tuple(different.values()), 0) if len(different) > 1 else None


def among_numbers(prompt: Callable[[Callable[[float], str]], str], right: Value, *wrong: Value) -> Question | None:
    """Numbers to choose from, with two to four digits: as few as keep two wrong ones clearly apart from the right.

    `prompt` is given the function that prints numbers with these digits.
    """

    def apart(digits: int) -> list[Value]:
        return [v for v in wrong if math.isfinite(v[0]) and abs(v[0] - right[0]) >= 1.5 * 10**-digits]

    def different(digits: int) -> int:
        return len({number(value, digits) for value, _ in apart(digits)})

    digits = max((2, 3, 4), key=lambda d: min(different(d), 2))
    choices = [Choice(number(value, digits), answer) for value, answer in (right, *apart(digits))]
    return among(prompt(lambda value: number(value, digits)), *choices)


def among_tokens(
    prompt: str,
    trace: ExampleTrace,
    values: Float[Tensor, " tokens"],
    why: str,
    beliefs: list[tuple[int, str]],
    other: Callable[[int], str],
) -> Question | None:
    """Which token has the largest value? None unless one leads clearly.

    `beliefs` are places that a misconception would choose, with the sentences that mend it;
    `other` makes the sentence for any further token.
    """
    order = values.argsort(descending=True).tolist()
    if len(order) < 2 or values[order[0]] - values[order[1]] < CLEAR_LEAD:
        return None
    wrong = [*beliefs, *((place, other(place)) for place in order[1:])]
    right = Choice(name(trace.tokens, order[0]), why)
    return among(prompt, right, *(Choice(name(trace.tokens, p), mend) for p, mend in wrong if p != order[0]))


def shape(rows: int, columns: int) -> str:
    """The size of a matrix as it is said: rows × columns."""
    return f"{rows} × {columns}"


def below(end: int, random: torch.Generator) -> int:
    """A random whole number from 0 to end − 1."""
    return int(torch.randint(end, (), generator=random))


def one_of(fits: Bool[Tensor, " places"], random: torch.Generator) -> int | None:
    """A random place among those that fit; None where none does."""
    places = fits.nonzero()[:, 0].tolist()
    return places[below(len(places), random)] if places else None


def two_of(n_tokens: int, random: torch.Generator) -> tuple[int, int] | None:
    """Two different random places; None where there is only one."""
    if n_tokens < 2:
        return None
    first, second = torch.randperm(n_tokens, generator=random).tolist()[:2]
    return first, second


def row_with_a_choice(attention: AttentionTrace, random: torch.Generator) -> int | None:
    """A random query that may look at more than one token."""
    return one_of(attention.visible.sum(dim=-1) > 1, random)


def weights_if(
    trace: ExampleTrace, head: int, causal: bool | None = None, scaling: bool | None = None
) -> Float[Tensor, "queries keys"]:
    """The weights this head would have with the mask or the scaling switched on or off."""
    scores = trace.heads.select(head).scores
    causal = trace.example.causal if causal is None else causal
    scaling = trace.example.scaling if scaling is None else scaling
    mask = causal_mask(len(trace.tokens)) if causal else None
    scale = 1 / math.sqrt(trace.example.d_k) if scaling else 1.0
    return softmax_rows(mask_scores(scale_scores(scores, scale), mask))
