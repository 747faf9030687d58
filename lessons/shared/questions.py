"""How questions are made: a prompt, cards that read differently, and for each wrong one the sentence that mends it.

Every kind of question is a function of what is on the screen and a random generator. It returns None where the
tensors make no fair question of it: a tie, numbers that look alike when written; and where there is nothing to draw
from, as with a single token, the draw itself raises `NothingFits`. Some kind of each lesson always makes one.
Wrong answers are what a real misconception would predict. The thought that leads to a card can stand on it as its
reason: in the words of whoever chooses it, the right card's like those of the wrong ones. Where it would tell which is
right, or nothing at all, none of the cards has one. A kind whose right answer is always the same asks for the concept
in words, and says the numbers in its replies; there is at most one in a lesson.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace, mask_scores, scale_scores, softmax_rows
from lessons.example.example import ExampleTrace, scale_of
from lessons.screen import (
    Argument,
    Card,
    Fixed,
    Integer,
    ListOf,
    Message,
    Question,
    QuestionStep,
    Token,
    format_value,
    message,
    number,
    render,
)

MOST_WRONG = 3
DRAWS = 6  # of every kind that comes up: another draw may find what the first did not
SATURATED = 0.9  # a row with a larger weight has nothing left to ask about
CLEAR_LEAD = 0.01  # what wins by less looks like a tie in numbers with two digits

Asked = Question | None  # None: no fair question
Maker = Callable[..., Asked]  # from what is on the screen, and a random generator, which comes last
Kinds = Mapping[QuestionStep, Sequence[Maker]]  # the kinds of question of a lesson at each step, the best one first
Prompt = Message | Callable[[Callable[[float], Fixed]], Message]  # made with what writes numbers as the cards do
Value = tuple[float, Message] | tuple[float, Message, Message]  # a number to choose; its reply, and its reason
Standing = Literal["smallest", "largest", "between"]  # where the right number stands among the others


@dataclass(frozen=True)
class NumbersAsked(Question):
    """A question with all the numbers that one might take for the right one, which comes first.

    Some of them will be its cards: which, depends on where the right one is to stand among them.
    """

    values: tuple[float, ...] = ()


def question_picker(lesson: str, kinds: Kinds, seed: int, *about: object) -> Callable[[int], Question]:
    """From the number of a question to the question; the numbers on the screen and their seed both enter the draw.

    Numbers go up the steps and begin again, and each time around another kind of a step is tried first; a step at
    which nothing fair can be asked is left out. Where numbers stand on the cards, the right one is the smallest, the
    largest or between them, each as often: whoever takes the middle one without a thought gains nothing.
    """

    @functools.cache
    def steps() -> tuple[QuestionStep, ...]:
        random = generator(seed, f"steps of {lesson}")
        return tuple(step for step in get_args(QuestionStep) if any_drawn(kinds.get(step, ()), about, random))

    @functools.cache
    def ask(number: int) -> Question:
        if not steps():
            raise LookupError(f"the lesson {lesson} has no question that fits what is on its screen")
        random = generator(seed, f"question {number} of {lesson}")
        standing, spare = get_args(Standing)[below(3, random)], None
        turn, place = divmod(number, len(steps()))
        for step in (*steps()[place:], *steps()[:place]):
            for maker in beginning_at(turn, kinds[step]):
                for _ in range(DRAWS):
                    question = drawn_from(maker, about, random)
                    if question and (cards := cards_of(question, standing)):
                        return at_step(step, shuffled(cards, random))
                    spare = spare or (question and at_step(step, first_cards(question)))
            if spare is not None:
                return shuffled(spare, random)
        raise LookupError(f"the lesson {lesson} has no question that fits what is on its screen")

    return ask


def beginning_at(turn: int, makers: Sequence[Maker]) -> Sequence[Maker]:
    """All kinds of a step, each time around with the next of them first."""
    first = turn % len(makers)
    return (*makers[first:], *makers[:first])


def any_drawn(makers: Sequence[Maker], about: Sequence[object], random: Generator) -> bool:
    """True where one of these kinds finds something fair to ask."""
    return any(drawn_from(maker, about, random) for maker in makers for _ in range(DRAWS))


def at_step(step: QuestionStep, question: Question) -> Question:
    """The question of this step: only what is to be predicted is ever covered."""
    return replace(question, step=step, in_figure=question.in_figure and step == "predict")


def drawn_from(maker: Maker, about: Sequence[object], random: Generator) -> Asked:
    """One draw of a kind of question; None where nothing fits."""
    with suppress(NothingFits):
        return maker(*about, random)
    return None


def first_cards(question: Question) -> Question:
    """The right card and the first wrong ones."""
    return with_cards(question, question.cards[: 1 + MOST_WRONG], question.right)


def with_cards(question: Question, cards: tuple[Card, ...], right: int) -> Question:
    """A question with other cards."""
    return Question(question.prompt, cards, right, question.in_figure, question.about, question.step)


def cards_of(question: Question, standing: Standing) -> Asked:
    """The question with the first of its cards; where they are numbers, with those among which the right one stands so.

    None where fewer than two wrong numbers do that.
    """
    if not isinstance(question, NumbersAsked):
        return question
    right, *wrong = question.values
    lower = [place for place, value in enumerate(wrong, 1) if value < right]
    upper = [place for place, value in enumerate(wrong, 1) if value > right]
    if standing == "between":
        if not lower or not upper:
            return None
        needed = [lower[0], upper[0]]
        chosen = [*needed, *(place for place in sorted(lower + upper) if place not in needed)]
    else:
        chosen = upper if standing == "smallest" else lower
        if len(chosen) < 2:
            return None
    return first_cards(replace(question, cards=tuple(question.cards[place] for place in (0, *chosen))))


def shuffled(question: Question, random: Generator) -> Question:
    """A question with its cards in a random order."""
    order = torch.randperm(len(question.cards), generator=random).tolist()
    cards = tuple(question.cards[place] for place in order)
    return with_cards(question, cards, order.index(question.right))


def told(
    why: Message, right: tuple[float, Message], *wrong: tuple[float, Message, Message]
) -> tuple[tuple[float, Message, Message], ...]:
    """Numbers to choose from, each with the thought that leads to it: the right one and why it is right, then wrong
    ones, each with its mistake.
    """
    number, thought = right
    return (number, why, thought), *((number, mistake, thought) for number, thought, mistake in wrong)


def multiple_choice(prompt: Message, right: Card, *wrong: Card) -> Asked:
    """The right card and the first wrong ones that read differently; None where no wrong one is left."""
    different = {render(right.text): right}
    for card in wrong:
        if len(different) <= MOST_WRONG:
            different.setdefault(render(card.text), card)
    return Question(prompt, tuple(different.values()), 0) if len(different) > 1 else None


def multiple_choice_of_things(prompt: Message, *things: tuple[Argument, *tuple[Message, ...]]) -> Asked:
    """Things to choose from, each alone on its card, with its reply and perhaps its reason, the right one first."""
    return multiple_choice(prompt, *(Card(message("{thing}", thing=thing), *said) for thing, *said in things))


def multiple_choice_of_counts(prompt: Message, *counts: Value) -> Asked:
    """Whole numbers to choose from, each with its reply and perhaps its reason, the right one first."""
    different = {}
    for count, *said in counts:
        different.setdefault(count, Card(message("{number}", number=Integer(int(count))), *said))
    return numbers_asked(prompt, tuple(different.values()), tuple(different))


def multiple_choice_of_numbers(prompt: Prompt, right: Value, *wrong: Value) -> Asked:
    """Numbers to choose from, with two to four decimals: as few as keep two wrong ones clearly apart from the right.

    What is nearer than that is not offered.
    """

    def apart(decimals: int) -> list[Value]:
        return [v for v in wrong if math.isfinite(v[0]) and abs(v[0] - right[0]) >= 1.5 * 10**-decimals]

    decimals = max((2, 3, 4), key=lambda d: min(len({number(v, d) for v, *_ in apart(d)}), 2))
    different = {}
    for value, *said in (right, *apart(decimals)):
        card = Card(message("{number}", number=Fixed(value, decimals)), *said)
        different.setdefault(number(value, decimals), (card, value))
    asked = prompt if isinstance(prompt, Message) else prompt(lambda value: Fixed(value, decimals))
    if number(right[0], decimals) in numbers_told(asked):
        return None
    return numbers_asked(asked, *zip(*different.values(), strict=True))


def numbers_told(prompt: Message) -> set[str]:
    """The numbers that a prompt says, as they are read: the right answer should be none of them."""
    told = (each for a in prompt.arguments.values() for each in (a.items if isinstance(a, ListOf) else (a,)))
    return {format_value(argument) for argument in told if isinstance(argument, Fixed)}


def numbers_asked(prompt: Message, cards: tuple[Card, ...], values: tuple[float, ...]) -> Asked:
    """Cards with numbers, the right one first; None where no wrong one is left."""
    return NumbersAsked(prompt, cards, 0, values=values) if len(cards) > 1 else None


def asks_about(number: str, place: tuple[int, ...], question: Asked) -> Asked:
    """The question, which is about this number, such as a cell of a tensor, at this place."""
    return question and replace(question, about=(number, *place))


def beyond_figure(maker: Maker) -> Maker:
    """Marks a kind of question whose answer does not stand in the figures, so that nothing need be covered."""

    @functools.wraps(maker)
    def make(*about: object) -> Asked:
        question = maker(*about)
        return question and replace(question, in_figure=False)

    return make


def multiple_choice_of_tokens(
    prompt: Message,
    names: Sequence[Token],
    values: Float[Tensor, " tokens"],
    why: Message,
    beliefs: Sequence[tuple[int, Message]],
    other: Callable[[int], Message],
) -> Asked:
    """Which token has the largest value? None unless one leads clearly.

    `beliefs` are positions that a misconception would choose, with the sentences that mend it; `other` makes the
    sentence for any further token.
    """
    if not has_clear_lead(values):
        return None
    order = values.argsort(descending=True).tolist()
    wrong = (*beliefs, *((position, other(position)) for position in order[1:]))
    cards = (order[0], why), *(choice for choice in wrong if choice[0] != order[0])
    return multiple_choice(
        prompt, *(Card(message("{token}", token=names[position]), reply) for position, reply in cards)
    )


def has_clear_lead(values: Float[Tensor, " tokens"]) -> bool:
    """True where the largest of several values is plainly larger than the next."""
    if len(values) < 2:
        return False
    first, second = values.topk(2).values.tolist()
    return first - second >= CLEAR_LEAD


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


def another_than(position: int, n_tokens: int, random: Generator) -> int:
    """A random other position. Raises NothingFits where there is none."""
    return one_of(torch.arange(n_tokens) != position, random)


def shaped(*axes: int) -> Message:
    """The shape of a matrix, or of several of the same shape, as prompts and cards write it: on one line."""
    *before, rows, columns = axes
    matrix = message("{rows}\u00a0×\u00a0{columns}", rows=rows, columns=columns)
    return message("{how_many}\u00a0×\u00a0{matrix}", how_many=before[0], matrix=matrix) if before else matrix


def sizes(how_many: int, random: Generator) -> list[int]:
    """Sizes of a shape, all different, so that no two axes look alike."""
    return [2 + place for place in torch.randperm(8, generator=random).tolist()[:how_many]]


def two_alike(alike: Bool[Tensor, "positions positions"], random: Generator) -> tuple[int, int]:
    """Two different random positions that are alike. Raises NothingFits where none are."""
    others = alike & ~torch.eye(len(alike), dtype=torch.bool)
    one = one_of(others.any(dim=-1), random)
    return one, one_of(others[one], random)


def row_with_a_choice(attention: AttentionTrace, random: Generator) -> int:
    """A random query that shares its weight out among several keys. Raises NothingFits where none does."""
    return one_of(shares_out(attention.weights), random)


def check_choice(attention: AttentionTrace, query: int) -> None:
    """Raises NothingFits where the query does not share its weight out: one key has it all, or nearly so."""
    check_shared(attention.weights[query])


def check_shared(weights: Float[Tensor, " keys"]) -> None:
    """Raises NothingFits where one key has all of a row's weight, or nearly so."""
    if not bool(shares_out(weights)):
        raise NothingFits


def shares_out(weights: Float[Tensor, "*queries keys"]) -> Bool[Tensor, "*queries"]:
    """True for the rows in which no key has nearly all of the weight."""
    return weights.amax(dim=-1) <= SATURATED


def weights_if(
    trace: ExampleTrace, head: int, temperature: float = 1.0, **switched: bool
) -> Float[Tensor, "queries keys"]:
    """The weights of a head at a temperature, with `causal` or `scaling` switched on or off."""
    chosen = replace(trace.example, **switched)
    mask, scale = chosen.may_attend(len(trace.tokens)), scale_of(chosen)
    return softmax_rows(mask_scores(scale_scores(trace.heads.select(head).scores, scale / temperature), mask))
