"""The lesson on building a head: what its screens say of given numbers, computed again."""

import pytest
import torch
from screens import Case, Ranked, check_case

from attention_core.puzzles import OTHERS, PUZZLES, other_sentences
from lessons.one_head.puzzle.compute import feature_name
from lessons.one_head.puzzle.lesson import BuildChoices, build_screen, trained_on
from lessons.one_head.puzzle.levels import LEVELS
from lessons.one_head.puzzle.notices import MOST_NAMED, worst_notice
from lessons.one_head.puzzle.numbers import count_numbers, free_places, read_numbers, write_numbers
from lessons.screen import format_value, percent, program_of, render, render_all
from tests.core.test_puzzles import score_by_loops
from tests.printed import read_alike

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")
SOME = {"first": "q1,1=1;q2,1=2.5;k1,1=1.5", "two": "q1,1=3;k1,1=-2;q2,3=1;k1,3=2", "soft": "q1,1=-1;k1,1=1"}


def code_of(level):
    return write_numbers(PUZZLES[level], PUZZLES[level].solution)


def scores_again(case, which=None):
    puzzle = PUZZLES[case.choices.level]
    weights = read_numbers(puzzle, case.choices.built)[0] if which is None else which
    return [score_by_loops(puzzle, weights, one) for one in other_sentences(puzzle).each]


def so_far(case, sentence):
    puzzle, found = PUZZLES[case.choices.level], scores_again(case)
    score = sum(found) / OTHERS
    assert sentence.template.startswith("Solved") == (round(score * 100) >= round(100 * puzzle.goal))
    return {"score": score, "goal": puzzle.goal}


def worst(case, sentence):
    found = scores_again(case)
    named = [place for place, one in enumerate(found) if read_alike((one, min(found)), percent)]
    says = {"first": named[0] + 1, "least": min(found), "count": len(named)}
    return says | {"ranked": Ranked([-one for one in found], named, lambda value: percent(-value))}


def table_again(case):
    """The tables of the heads as the features are named: pairs of names and their numbers."""
    puzzle = PUZZLES[case.choices.level]
    weights = read_numbers(puzzle, case.choices.built)[0]
    for head in range(puzzle.n_heads):
        part = slice(head * puzzle.d_k, (head + 1) * puzzle.d_k)
        yield {
            (puzzle.features[i], puzzle.features[j]): sum(
                a * b for a, b in zip(weights.W_q[i, part].tolist(), weights.W_k[j, part].tolist(), strict=True)
            )
            for i in puzzle.free_rows("W_q", head)
            for j in puzzle.free_rows("W_k", head)
        }


def largest(case, sentence):
    """Of the head that this is said of: of two whose largest numbers are equal, of the one whose pairs are named."""
    said, named = float(sentence.arguments["most"].value), sentence.arguments.get("pairs")
    for table in table_again(case):
        leading = [pair for pair, value in table.items() if abs(value - said) < 0.005]
        pairs = [" asks for ".join(format_value(feature_name(name)) for name in pair) for pair in leading]
        if max(table.values()) == pytest.approx(said) and (named is None or [*map(render, named.items)] == pairs):
            ranks = Ranked([*table.values()], [[*table].index(pair) for pair in leading], lambda v: f"{v:.2f}")
            assert (named is None) == (len(pairs) > MOST_NAMED)
            return {"most": said, "ranked": ranks} | ({"pairs": pairs} if named else {"count": len(pairs)})
    raise AssertionError(render(sentence))


def at_best(case, sentence):
    return {"best": 0.5}


def trained(case, sentence):
    puzzle = PUZZLES[case.choices.level]
    weights = trained_on(puzzle).weights
    return {"updates": 200, "sentences": 128, "count": len(free_places(puzzle))} | {
        "score": sum(scores_again(case, weights)) / OTHERS
    }


def ours(case, sentence):
    puzzle = PUZZLES[case.choices.level]
    return {"count": count_numbers(puzzle, puzzle.solution), "score": sum(scores_again(case, puzzle.solution)) / OTHERS}


def chosen_only(case, sentence):
    return {name: ... if hasattr(value, "template") else value for name, value in sentence.arguments.items()}


ORACLE = {
    "So far {score} of the weight is where it should be; the goal is {goal}.": so_far,
    "Solved: {score} of the weight is where it should be; the goal was {goal}.": so_far,
    "So far {score} of all outputs are right; the goal is {goal}.": so_far,
    "Solved: {score} of all outputs are right; the goal was {goal}.": so_far,
    "It does worst on sentence {first}: {least}.": worst,
    "The largest number in W_q W_kᵀ is {most}: {pairs}.": largest,
    "The largest number in W_q W_kᵀ, {most}, is in {count} places.": largest,
    "Head {head}: {said}": chosen_only,
    "{asks} asks for {answers}": chosen_only,
    "W_q W_kᵀ of head {head}": chosen_only,
    "weights of head {head}": chosen_only,
    "scores ÷ √{d_k}": lambda case, sentence: {"d_k": PUZZLES[case.choices.level].d_k},
    "{count} others": lambda case, sentence: {"count": OTHERS},
    "should be {share}": lambda case, sentence: {"share": shares_of_cats(case)},
    "Trained for {updates} training steps on {sentences} other sentences, it uses all {count} "
    "numbers and reaches {score}.": trained,
    "It has {count} nonzero number, needs it, and reaches {score}.": ours,
    **dict.fromkeys(
        (
            "A single head reaches {best} at most: its weights sum to 1, so what one job gets, the other lacks.",
            "A single head reaches {best} at most, however large it is: swap the two names before the "
            "colours, and the same query meets the same colours, but the other one is right.",
        ),
        at_best,
    ),
}


def shares_of_cats(case):
    words = case.screen.figures[0].matrices[0].rows.labels
    return words.count("cat") / len(words)


@pytest.mark.parametrize("level", LEVELS)
def test_every_number_and_sentence_of_a_screen_is_computed_again(level, whole):
    tried = [("", 0, "none"), (SOME.get(level, "q1,1=2;k1,1=1;k2,1=1"), 5, "trained"), (code_of(level), 64, "ours")]
    for code, sentence, compared in tried:
        choices = BuildChoices(level, code, sentence, compared)
        check_case(Case(None, 0, choices, build_screen(choices)), ORACLE, {})


def said(level, code):
    return render_all(build_screen(BuildChoices(level, code)).figures[1].notice)


def test_what_is_said_of_a_table_at_its_edges():
    even = "the weight is shared evenly"
    assert "0 everywhere" in said("first", "") and even in said("first", "")
    assert "0 everywhere" in said("first", "q1,1=5;q2,1=5"), "as long as nothing answers"
    assert "all scores of a row are equal" in said("first", "q1,1=2;q2,1=2;k1,1=2;k2,1=2")
    assert "only says what not to look at" in said("first", "q1,1=2;q2,1=2;k2,1=-3")
    both = "is 6.00: the first asks for the first and a later one asks for the first."
    assert both in said("first", "q1,1=3;q2,1=3;k1,1=2")
    assert "in 8 places" in said("same", "q1,1=1;q2,1=1;q3,1=1;q4,1=1;k1,1=1;k2,1=1")


def test_the_worst_sentence_is_named_unless_all_are_alike():
    assert worst_notice([0.5, 0.501, 0.5]) is None
    assert render(worst_notice([0.5, 0.3, 0.9])) == "It does worst on sentence 2: 30%."
    assert "on 2 sentences, 30% on each; the first is sentence 2" in render(worst_notice([0.5, 0.3, 0.301]))


@pytest.mark.parametrize("level", LEVELS)
def test_numbers_go_into_a_link_and_come_back(level):
    puzzle = PUZZLES[level]
    weights, notes = read_numbers(puzzle, code_of(level))
    assert not notes and all(torch.equal(a, b) for a, b in zip(weights, puzzle.solution, strict=True))
    assert len(code_of(level)) < 600 and len(free_places(puzzle)) <= 32
    full = ";".join(f"{p.matrix[-1]}{p.row + 1},{p.column + 1}=-8.25" for p in free_places(puzzle))
    assert len(full) <= 600 and write_numbers(puzzle, read_numbers(puzzle, full)[0]) == full


def test_what_a_link_says_in_vain_is_told():
    weights, notes = read_numbers(PUZZLES["first"], "q1,1=50;q9,1=2;x1,1=1;nonsense")
    text = render_all(notes)
    assert weights.W_q.tolist() == [[9.0], [0.0]]
    assert "2 numbers do not fit this level" in text and "Numbers go from −9 to 9" in text
    assert "“nonsense” was left out" in text


@pytest.mark.parametrize("level", ["back", "count", "layers"])
def test_a_program_of_the_screen_runs(level):
    program = program_of(build_screen(BuildChoices(level, code_of(level))).code.call()).text
    exec(compile(program, "program", "exec"), {})
