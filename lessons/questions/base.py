"""How questions are made: a prompt, cards that read differently, and for each wrong one the sentence that mends it.

Every kind of question is a function of what is on the screen and a random generator. It returns None where the
tensors make no fair question of it: a tie, numbers that look alike when written; and where there is nothing to draw
from, as with a single token, the draw itself raises `NothingFits`. The last kind of each lesson always makes one.
Wrong answers are what a real misconception would predict.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from attention_core.attention import AttentionTrace, mask_scores, scale_scores, softmax_rows
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from lessons.example import ExampleTrace
from lessons.formatting import english
from lessons.screen import Card, Question
from lessons.sentence import Argument, Number, Sentence, Token, say

MOST_WRONG = 3
ROUNDS = 3  # in which every kind is tried once: another draw may find what the first did not
CLEAR_LEAD = 0.01  # what wins by less looks like a tie in numbers with two digits

Asked = Question | None  # None: no fair question
Maker = Callable[..., Asked]  # from what is on the screen, and a random generator, which comes last
Prompt = Sentence | Callable[[Callable[[float], Number]], Sentence]  # made with what writes numbers as the cards do
Value = tuple[float, Sentence]  # a number to choose, and what is said to whoever chose it


def asking(lesson: str, makers: Sequence[Maker], seed: int, *about: object) -> Callable[[int], Question]:
    """From the number of a question to the question; the numbers on the screen and their seed both enter the draw."""

    def ask(number: int) -> Question:
        random = generator(seed, f"question {number} of {lesson}")
        for _ in range(ROUNDS):
            for place in torch.randperm(len(makers), generator=random).tolist():
                with suppress(NothingFits):
                    if question := makers[place](*about, random):
                        return shuffled(question, random)
        raise LookupError(f"the lesson {lesson} has no question that fits what is on its screen")

    return ask


def shuffled(question: Question, random: Generator) -> Question:
    """The same question with its cards in a random order."""
    order = torch.randperm(len(question.cards), generator=random).tolist()
    return Question(question.prompt, tuple(question.cards[place] for place in order), order.index(question.right))


def among(prompt: Sentence, right: Card, *wrong: Card) -> Asked:
    """The right card and the first wrong ones that read differently; None where no wrong one is left."""
    different = {english(right.text): right}
    for card in wrong:
        if len(different) <= MOST_WRONG:
            different.setdefault(english(card.text), card)
    return Question(prompt, tuple(different.values()), 0) if len(different) > 1 else None


def among_things(prompt: Sentence, *things: tuple[Argument, Sentence]) -> Asked:
    """Things to choose from, each alone on its card and with what is said to whoever chose it, the right one first."""
    return among(prompt, *(Card(say("{thing}", thing=thing), reply) for thing, reply in things))


def among_numbers(prompt: Prompt, right: Value, *wrong: Value) -> Asked:
    """Numbers to choose from, with two to four decimals: as few as keep two wrong ones clearly apart from the right."""

    def cards(decimals: int) -> list[Card]:
        clear = (v for v in wrong if math.isfinite(v[0]) and abs(v[0] - right[0]) >= 1.5 * 10**-decimals)
        return [Card(say("{number}", number=Number(value, decimals)), reply) for value, reply in (right, *clear)]

    decimals = max((2, 3, 4), key=lambda d: min(len({english(card.text) for card in cards(d)[1:]}), 2))
    asked = prompt if isinstance(prompt, Sentence) else prompt(lambda value: Number(value, decimals))
    return among(asked, *cards(decimals))


def among_tokens(
    prompt: Sentence,
    names: Sequence[Token],
    values: Float[Tensor, " tokens"],
    why: Sentence,
    beliefs: Sequence[tuple[int, Sentence]],
    other: Callable[[int], Sentence],
) -> Asked:
    """Which token has the largest value? None unless one leads clearly.

    `beliefs` are positions that a misconception would choose, with the sentences that mend it; `other` makes the
    sentence for any further token.
    """
    order = values.argsort(descending=True).tolist()
    if len(order) < 2 or values[order[0]] - values[order[1]] < CLEAR_LEAD:
        return None
    wrong = (*beliefs, *((position, other(position)) for position in order[1:]))
    cards = (order[0], why), *(choice for choice in wrong if choice[0] != order[0])
    return among(prompt, *(Card(say("{token}", token=names[position]), reply) for position, reply in cards))


def below(end: int, random: Generator) -> int:
    """A random whole number from 0 to end − 1."""
    return int(torch.randint(end, (), generator=random))


class NothingFits(Exception):
    """There is nothing to draw from, so another kind of question must be asked."""


def one_of(fits: Bool[Tensor, " positions"], random: Generator) -> int:
    """A random position among those that fit. Raises NothingFits where none does."""
    positions = fits.nonzero()[:, 0].tolist()
    if not positions:
        raise NothingFits
    return positions[below(len(positions), random)]


def two_of(n_tokens: int, random: Generator) -> tuple[int, int]:
    """Two different random positions. Raises NothingFits where there is only one."""
    if n_tokens < 2:
        raise NothingFits
    first, second = torch.randperm(n_tokens, generator=random).tolist()[:2]
    return first, second


def shaped(rows: int, columns: int) -> Sentence:
    """The shape of a matrix, as prompts and cards write it."""
    return say("{rows} × {columns}", rows=rows, columns=columns)


def two_alike(alike: Bool[Tensor, "positions positions"], random: Generator) -> tuple[int, int]:
    """Two different random positions that are alike. Raises NothingFits where none are."""
    others = alike & ~torch.eye(len(alike), dtype=torch.bool)
    one = one_of(others.any(dim=-1), random)
    return one, one_of(others[one], random)


def row_with_a_choice(attention: AttentionTrace, random: Generator) -> int:
    """A random query that may look at more than one key. Raises NothingFits where none may."""
    return one_of(attention.visible.sum(dim=-1) > 1, random)


def weights_if(
    example: ExampleTrace, head: int, temperature: float = 1.0, **switched: bool
) -> Float[Tensor, "queries keys"]:
    """The weights of a head at a temperature, with `causal` or `scaling` switched on or off."""
    chosen = replace(example.example, **switched)
    mask = causal_mask(len(example.tokens)) if chosen.causal else None
    scale = 1 / math.sqrt(chosen.d_k) if chosen.scaling else 1.0
    return softmax_rows(mask_scores(scale_scores(example.heads.select(head).scores, scale / temperature), mask))
