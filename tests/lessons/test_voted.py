"""How a class voted: every count and share in the figures and sentences, counted again from single voters."""

import itertools
import random

import pytest

from attention_ui.figures.shares.flow import flow_rows
from lessons.screen import Card, Question, message, render
from lessons.teachers.class_vote.lesson import distribution_of_votes, flow, flow_table


def voters(seed, cards):
    drawn = random.Random(seed)
    return [(drawn.randrange(cards), drawn.randrange(cards)) for _ in range(drawn.choice([1, 2, 3, 17, 120]))]


def a_question(cards):
    return Question(
        message("Which?"), tuple(Card(message(f"answer {n}"), message(f"reply {n}")) for n in range(cards)), 1
    )


def counts(votes, cards):
    return [votes.count(card) for card in range(cards)]


@pytest.mark.parametrize("cards", [2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_all_that_is_said_of_a_vote(cards, seed):
    cast = voters(seed, cards)
    first, second = (counts([pair[side] for pair in cast], cards) for side in (0, 1))
    moved = [[cast.count((i, j)) for j in range(cards)] for i in range(cards)]
    figure = distribution_of_votes(a_question(cards), first, second)
    for place, part in enumerate(figure.parts):
        assert part.shares == pytest.approx((first[place] / len(cast), second[place] / len(cast)))
        assert render(part.says[1]) == f"{second[place]} of {len(cast)} chose: answer {place}"
    for said, votes in zip(figure.notice, (first, second), strict=True):
        most = [letter for letter, count in zip("ABCD", votes, strict=False) if count == max(votes)]
        assert all(letter in render(said).partition(":")[2].partition(" chosen")[0] for letter in most)
        assert said.arguments["most"] == max(votes) and (" were " in said.template) == (len(most) > 1)
    told = render(flow(a_question(cards), moved, explained=True).notice[0])
    changed = [pair for pair in cast if pair[0] != pair[1]]
    assert told.startswith(f"Of {len(cast)} who voted twice, {len(changed)} changed their answer.")
    if changed:
        found, lost = (sum(pair[side] == 1 for pair in changed) for side in (1, 0))
        assert told.endswith(f"{found} of them moved to the right answer, {lost} away from it.")


@pytest.mark.parametrize("seed", range(10))
def test_the_flow_is_as_wide_as_those_who_went_there(seed):
    cast = voters(seed, 3)
    moved = [[cast.count((i, j)) for j in range(3)] for i in range(3)]
    covered = flow(a_question(3), moved, explained=False)
    assert covered.right is None and len(flow_table(covered).cells) == 3
    rows = flow_rows(covered).to_pylist()
    assert {row["tone"] for row in rows} == {"muted"}
    for i in range(3):
        for j in range(3):
            widths = {round(row["y2"] - row["y"], 9) for row in rows if row["key"] == f"{i}{j}"}
            assert widths == ({round(moved[i][j] / len(cast), 9)} if moved[i][j] else set())
    for side in (0, 1):  # bands leave and reach a stack one below the other, without a gap
        stacks = {row["key"]: (row["y"], row["y2"]) for row in rows if row["kind"] == "stack" and row["x"] == side}
        for key, (top, bottom) in stacks.items():
            place = "ABC".index(key[1])
            ends = sorted(
                (row["y"], row["y2"])
                for row in rows
                if row["kind"] == "band" and row["x"] == side and row["key"][side] == str(place)
            )
            assert (ends[0][0], ends[-1][1]) == pytest.approx((top, bottom))
            assert all(a[1] == pytest.approx(b[0]) for a, b in itertools.pairwise(ends))
