"""Numbers for paper: small whole ones in X and W, so that all is exact up to the softmax; then rounded weights.

With d_k = 4, dividing by √d_k halves the scores. What is rounded is rounded once, and what is computed from it is
computed from the rounded numbers, as they stand on the sheet.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.masks import causal_mask
from lessons.example.edits import Edit
from lessons.example.example import Example, ExampleTrace, run_afresh
from lessons.screen.format import localised, with_point
from lessons.screen.message import Argument, Fixed, ListOf, Message
from lessons.take_home.sheet import SheetChoices

WIDTHS: dict[str, Any] = {"d_model": 2, "d_k": 4, "d_v": 2}
LARGEST_OF_X, LARGEST_OF_W = 2, 1
TRIES_AT_NUMBERS = 200
MOST_ZEROS = 2  # in a row; and a column of zeros may be in a map, but no two
SHARED_OUT = 0.93  # no query with a choice gives one key more than this


def rounded_number(value: float, decimals: int) -> float:
    """Rounded as at school: a 5 is rounded up, away from 0. What is a float's own error is no digit."""
    return float(Decimal(f"{value:.9f}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def on_paper(value: float, decimals: int, fixed: bool = False) -> str:
    """A number as the sheet writes it: rounded with all its decimals; exact, or not `fixed`, with as few as it has."""
    text = with_point(rounded_number(value, decimals), decimals)
    exact = not (fixed or is_rounded(value, decimals)) and "." in text
    return localised(text.rstrip("0").rstrip(".") if exact else text)


def as_on_paper(argument: Argument) -> Argument:
    """What a sentence of a screen says, its numbers with as few decimals as a sheet gives those that are exact."""
    match argument:
        case Fixed(value, decimals):
            exact = (few for few in range(decimals) if not is_rounded(value, few))
            return Fixed(value, next(exact, decimals))
        case Message():
            return argument._replace(arguments={name: as_on_paper(it) for name, it in argument.arguments.items()})
        case ListOf(items):
            return ListOf(tuple(map(as_on_paper, items)))
    return argument


def is_rounded(value: float, decimals: int) -> bool:
    """True where the sheet does not write the number itself."""
    return abs(value - rounded_number(value, decimals)) > 1e-6


def paper_example(choices: SheetChoices, random: torch.Generator) -> ExampleTrace:
    """A running example with whole numbers in X and W, few of them 0, drawn until its weights are shared out.

    Where a token comes so often that its weights cannot be, the few zeros are enough.
    """
    tokens, kept = choices.text.split(" "), None
    for _ in range(TRIES_AT_NUMBERS):
        drawn = drawn_numbers(tokens, random)
        if not few_zeros(drawn):
            continue
        kept = drawn
        if worth_computing(drawn):
            break
    return example_of(choices, kept or drawn)


def example_of(choices: SheetChoices, drawn: dict[str, Tensor]) -> ExampleTrace:
    """The running example of a sheet, with these numbers in X and W."""
    edits = tuple(
        Edit(name, row, column, value)
        for name, matrix in drawn.items()
        for row, line in enumerate(matrix.tolist())
        for column, value in enumerate(line)
    )
    return run_afresh(Example(source="sentence", text=choices.text, seed=choices.seed, edits=edits, **WIDTHS))


def drawn_numbers(tokens: list[str], random: torch.Generator) -> dict[str, Tensor]:
    """X, with the same row for the same token, and the three maps. Two rows of X differ in every feature."""
    rows = [tokens.index(token) for token in tokens]
    features = [torch.randperm(2 * LARGEST_OF_X + 1, generator=random) - LARGEST_OF_X for _ in range(WIDTHS["d_model"])]
    shapes = {"W_q": "d_k", "W_k": "d_k", "W_v": "d_v"}
    maps = {
        name: torch.randint(
            -LARGEST_OF_W, LARGEST_OF_W + 1, (WIDTHS["d_model"], WIDTHS[width]), generator=random
        ).float()
        for name, width in shapes.items()
    }
    return {"x": torch.stack(features, dim=-1)[rows].float(), **maps}


def worth_computing(drawn: dict[str, Tensor]) -> bool:
    """True where no token is all zeros, and of the weights of a query none takes nearly all and not all are equal."""
    x = drawn["x"]
    if not x.any(dim=-1).all():
        return False
    a = attend(x @ drawn["W_q"], x @ drawn["W_k"], x @ drawn["W_v"], causal_mask(len(x)))
    equal = [len(set(row[: i + 1])) == 1 for i, row in enumerate(a.scores.tolist())]
    return bool((a.weights[1:].max(dim=-1).values < SHARED_OUT).all()) and not any(equal[1:])


def few_zeros(drawn: dict[str, Tensor]) -> bool:
    """True where no row of a matrix is mostly zeros, nor two columns of a map: there is something to compute."""
    maps = [drawn[name].numpy() for name in ("W_q", "W_k", "W_v")]
    if any(np.count_nonzero(W.any(axis=0)) < W.shape[1] - 1 for W in maps):
        return False
    return all(np.count_nonzero(rows == 0, axis=1).max() <= MOST_ZEROS for rows in computed_by_hand(drawn, maps))


def computed_by_hand(drawn: dict[str, Tensor], maps: list[np.ndarray]) -> Iterator[np.ndarray]:
    """All that a sheet may print or ask for up to the softmax, in which the largest score becomes 0."""
    yield from maps
    x = drawn["x"].numpy()
    q, k, v = (x @ W for W in maps)
    yield from (x, q, k, k.T, v, x @ x.T)
    yield (scores := q @ k.T)
    seen = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    yield seen - seen.max(axis=1, keepdims=True)


def with_rounded_weights(trace: ExampleTrace, decimals: int) -> ExampleTrace:
    """An example with its weights as the sheet prints them, and the output that follows from those."""
    numbers = {name: tensor.double() for name, tensor in vars_of(trace.heads).items()}
    weights = numbers["weights"].apply_(lambda weight: rounded_number(weight, decimals))
    return replace(trace, heads=AttentionTrace(**numbers | {"output": weights @ numbers["v"]}))


def vars_of(heads: AttentionTrace) -> dict[str, Tensor]:
    """The tensors of an attention by their names."""
    return {field.name: getattr(heads, field.name) for field in fields(heads)}
