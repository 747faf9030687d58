"""Two votes side by side: the table of the stacks and of the bands between them.

Everybody who voted twice is as high as everybody else; a band from left to right is as wide as those who went there.
"""

import itertools

import pyarrow as pa

from lessons.screen import message, render, translate
from lessons.teachers.class_vote.lesson import CARD_LETTERS, Flow

STACK, BETWEEN_CARDS = 0.12, 0.04  # the width of a stack and the space between its cards, in parts of the whole
TITLES_FROM = -0.14  # from the titles to the stacks
VOTES_NAMED = message("First vote"), message("Second vote")
POINTS = 16  # along the edge of a band
FLOW_FIELDS = ("kind", "x", "y", "y2", "middle", "text", "tone", "say", "key")


def flow_rows(figure: Flow) -> pa.Table:
    """The left stack is the first vote, the right stack the second."""
    voters = sum(map(sum, figure.moved))
    rooms = [sum(row) for row in figure.moved], [sum(column) for column in zip(*figure.moved, strict=True)]
    tops = [tops_of(room, voters) for room in rooms]
    rows = [
        ("title", float(side), 0.0, 0.0, TITLES_FROM / 2, render(name), "muted", "", name.template)
        for side, name in enumerate(VOTES_NAMED)
    ]
    for side, (room, top) in enumerate(zip(rooms, tops, strict=True)):
        for place, count in enumerate(room):
            if count:
                rows.append(stack_row(figure, side, place, count, top[place], voters))
    left, right = ([*top] for top in tops)
    for i, j in itertools.product(range(len(figure.cards)), repeat=2):
        if count := figure.moved[i][j]:
            height = count / voters
            rows += band_rows(figure, i, j, count, left[i], right[j], height)
            left[i] += height
            right[j] += height
    return pa.Table.from_pylist([dict(zip(FLOW_FIELDS, row, strict=True)) for row in rows])


def tops_of(room: list[int], voters: int) -> list[float]:
    """Where each card of a stack begins, from the top."""
    heights = [count / voters + (BETWEEN_CARDS if count else 0) for count in room]
    return [sum(heights[:place]) for place in range(len(room))]


def stack_row(figure: Flow, side: int, place: int, count: int, top: float, voters: int) -> tuple:
    """A card on one side."""
    height, letter = count / voters, CARD_LETTERS[place]
    tone = "weight" if place == figure.right else "muted"
    text = f"{letter} · {count}" + (" ✓" if place == figure.right else "")
    said = translate(
        "{vote}: {count} of {voters} chose {letter}, {card}.",
        vote=VOTES_NAMED[side],
        count=count,
        voters=voters,
        letter=letter,
        card=render(figure.cards[place]).rstrip(".。"),
    )
    return "stack", float(side), top, top + height, top + height / 2, text, tone, said, f"{side}{letter}"


def band_rows(figure: Flow, i: int, j: int, count: int, left: float, right: float, height: float) -> list[tuple]:
    """Those who went from one card to another, as the points along a band."""
    tone = "weight" if j == figure.right else "muted"
    went = message("{count} went from {first} to {then}.", count=count, first=CARD_LETTERS[i], then=CARD_LETTERS[j])
    stayed = message("{count} stayed with {first}.", count=count, first=CARD_LETTERS[i])
    said = render(stayed if i == j else went)
    rows = []
    for step in range(POINTS + 1):
        t = step / POINTS
        y = left + (right - left) * t * t * (3 - 2 * t)
        rows.append(("band", t, y, y + height, 0.0, "", tone, said, f"{i}{j}"))
    return rows
