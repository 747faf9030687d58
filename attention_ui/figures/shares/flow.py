"""Two votes side by side, as the browser draws them: how many went from each card to each, and what is said of them."""

from typing import Any

from lessons.screen import message, render, translate
from lessons.teachers.class_vote.lesson import CARD_LETTERS, Flow

VOTES_NAMED = message("First vote"), message("Second vote")


def flow_of(figure: Flow) -> dict[str, Any]:
    """Everything that is drawn: the left stack is the first vote, the right stack the second."""
    cards = range(len(figure.cards))
    counts = [sum(row) for row in figure.moved], [sum(column) for column in zip(*figure.moved, strict=True)]
    return {
        "name": render(figure.name),
        "titles": [*map(render, VOTES_NAMED)],
        "letters": CARD_LETTERS[: len(figure.cards)],
        "moved": figure.moved,
        "right": figure.right,
        "chosen": [[chose(figure, side, place, counts[side][place]) for place in cards] for side in (0, 1)],
        "went": [[moved_from(i, j, figure.moved[i][j]) for j in cards] for i in cards],
    }


def chose(figure: Flow, side: int, place: int, count: int) -> str:
    """How many chose a card in one of the votes."""
    return translate(
        "{vote}: {count} of {voters} chose {letter}, {card}.",
        vote=VOTES_NAMED[side],
        count=count,
        voters=sum(map(sum, figure.moved)),
        letter=CARD_LETTERS[place],
        card=render(figure.cards[place]).rstrip(".。"),
    )


def moved_from(i: int, j: int, count: int) -> str:
    """How many went from one card to another, or stayed."""
    if i == j:
        return translate("{count} stayed with {first}.", count=count, first=CARD_LETTERS[i])
    return translate("{count} went from {first} to {then}.", count=count, first=CARD_LETTERS[i], then=CARD_LETTERS[j])
