"""How a class voted on a question: what is drawn and said of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lessons.screen import Card, Figure, ListOf, Message, Part, Parts, Question, Table, argmax_ties, message

TOPIC = message("Voting in class")
POINT = message(
    "A class answers a question, sees how all answered, talks it over and answers again; then the "
    "figure shows who was right."
)
CARD_LETTERS = "ABCD"
VOTE_WIDTH = 400  # pixels of each vote: two of them fit on a projector, which draws them half as large again


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Figure):
    """Two votes side by side: how many chose each card at first and then, and how many went from one to another.

    `moved` counts those who voted twice, by their first and second card; `right` is the right card, where it may be
    seen.
    """

    cards: tuple[Message, ...]
    moved: tuple[tuple[int, ...], ...]
    right: int | None = None


def distribution_of_votes(question: Question, first: Sequence[int], second: Sequence[int]) -> Parts:
    """A bar for each card: of the first vote and, where there was one, of the second. Somebody has voted."""
    rounds = [votes for votes in (first, second) if sum(votes)]
    names = [message("First vote"), message("Second vote")] if sum(second) and sum(first) else [message("The vote")]
    parts = tuple(
        Part(
            name=CARD_LETTERS[place],
            shares=tuple(votes[place] / sum(votes) for votes in rounds),
            says=tuple(chosen_by(card, votes[place], sum(votes)) for votes in rounds),
        )
        for place, card in enumerate(question.cards)
    )
    notice = tuple(most_chosen(name, votes) for name, votes in zip(names, rounds, strict=True))
    return Parts(
        key="class_votes",
        name=message("How the class voted"),
        rows=tuple(names),
        parts=parts,
        notice=notice,
        width=VOTE_WIDTH * len(rounds),
    )


def chosen_by(card: Card, count: int, voters: int) -> Message:
    """How many chose a card."""
    return message("{count} of {voters} chose: {card}", count=count, voters=voters, card=card.text)


def most_chosen(name: Message, votes: Sequence[int]) -> Message:
    """The card that most chose, or all that tie."""
    first, voters = [place for (place,) in argmax_ties(np.array(votes), str)], sum(votes)
    most, letters = max(votes), ListOf(tuple(CARD_LETTERS[place] for place in first))
    if len(first) == 1:
        return message(
            "{name}: {letter} was chosen most, by {most} of {voters}.",
            name=name,
            letter=CARD_LETTERS[first[0]],
            most=most,
            voters=voters,
        )
    return message(
        "{name}: {letters} were chosen most, each by {most} of {voters}.",
        name=name,
        letters=letters,
        most=most,
        voters=voters,
    )


def flow(question: Question, moved: Sequence[Sequence[int]], *, explained: bool) -> Flow:
    """How those moved who voted twice; somebody did. The right card is named only once it is explained."""
    right = question.right if explained else None
    cards = tuple(card.text for card in question.cards)
    return Flow(
        key="class_flow",
        name=message("From the first vote to the second"),
        cards=cards,
        right=right,
        moved=tuple(map(tuple, moved)),
        notice=(who_moved(moved, right),),
    )


def who_moved(moved: Sequence[Sequence[int]], right: int | None) -> Message:
    """How many changed their answer and, once it is explained, how many of them to the right one and away from it."""
    voters = sum(map(sum, moved))
    changed = voters - sum(row[place] for place, row in enumerate(moved))
    said = message("Of {voters} who voted twice, {changed} changed their answer.", voters=voters, changed=changed)
    if right is None or not changed:
        return said
    found = sum(row[right] for place, row in enumerate(moved) if place != right)
    lost = sum(moved[right]) - moved[right][right]
    return message(
        "{said} {found} of them moved to the right answer, {lost} away from it.", said=said, found=found, lost=lost
    )


def flow_table(figure: Flow) -> Table:
    """The flow between two votes in numbers: a line for each first answer."""
    letters = CARD_LETTERS[: len(figure.cards)]
    columns = (message("first answer"), *(message("then {letter}", letter=letter) for letter in letters))
    cells = tuple((letter, *row) for letter, row in zip(letters, figure.moved, strict=True))
    return Table(
        key="class_flow_numbers",
        name=message("From the first vote to the second, in numbers"),
        columns=columns,
        cells=cells,
        folded=True,
    )
