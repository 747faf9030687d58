"""How a class voted: every count and share in the figures and sentences, counted again from single voters."""

import random

import pytest

from attention_ui.figures.shares.flow import flow_of
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
    drawn = flow_of(covered)
    assert drawn["right"] is None and [list(row) for row in drawn["moved"]] == moved
    for i in range(3):
        for j in range(3):
            way = f"stayed with {'ABC'[i]}" if i == j else f"went from {'ABC'[i]} to {'ABC'[j]}"
            assert drawn["went"][i][j] == f"{moved[i][j]} {way}."
    firsts, seconds = ([sum(pair[side] == place for pair in cast) for place in range(3)] for side in (0, 1))
    for said, counts in zip(drawn["chosen"], (firsts, seconds), strict=True):
        assert [f" {count} of {len(cast)} chose" in one for count, one in zip(counts, said, strict=True)] == [True] * 3
