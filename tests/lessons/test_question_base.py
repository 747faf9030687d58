"""How questions are made, whatever they are about."""

import pytest
import torch

from attention_core.base.randomness import generator
from lessons.screen import Card, Question, Token, message, render
from lessons.shared.questions import (
    cards_of,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    question_picker,
    shares_out,
    shuffled,
)


def card(text):
    return Card(message("{text}", text=text), message("because"))


def test_numbers_that_read_alike_are_never_both_offered():
    def prompt(shown):
        return message("{number}?", number=shown(0.7))

    yes, no = message("yes"), message("no")
    assert multiple_choice_of_numbers(prompt, (0.3, yes), (0.30001, no)) is None
    question = multiple_choice_of_numbers(prompt, (0.3, yes), (0.3001, no), (0.304, no), (0.304, no), (0.29, no))
    assert [render(card.text) for card in question.cards] == ["0.300", "0.304", "0.290"]
    assert render(question.prompt) == "0.700?"


def test_a_prompt_that_says_the_right_number_makes_no_question():
    yes, no = message("yes"), message("no")
    for shown_as, fair in ((0.3, False), (0.2999, False), (0.31, True)):
        asked = multiple_choice_of_numbers(
            lambda shown, v=shown_as: message("{number}?", number=shown(v)), (0.3, yes), (0.5, no)
        )
        assert (asked is not None) == fair


@pytest.mark.parametrize(
    ("standing", "texts"),
    [
        ("smallest", ["0.50", "0.60", "0.70", "0.80"]),
        ("largest", ["0.50", "0.10", "0.20"]),
        ("between", ["0.50", "0.10", "0.60", "0.20"]),
    ],
)
def test_the_right_number_stands_where_it_is_to_stand(standing, texts):
    reply = message("because")
    wrong = [(value, reply) for value in (0.1, 0.2, 0.6, 0.7, 0.8)]
    question = cards_of(multiple_choice_of_numbers(message("?"), (0.5, reply), *wrong), standing)
    assert [render(card.text) for card in question.cards] == texts and question.right == 0
    only_one_higher = multiple_choice_of_numbers(message("?"), (0.5, reply), (0.6, reply), (0.4, reply), (0.3, reply))
    assert (cards_of(only_one_higher, standing) is None) == (standing == "smallest")


def test_what_is_no_number_is_not_offered():
    question = multiple_choice_of_numbers(
        lambda shown: message("?"),
        (0.5, message("yes")),
        (float("nan"), message("no")),
        (float("inf"), message("no")),
        (0.1, message("no")),
    )
    assert [render(card.text) for card in question.cards] == ["0.50", "0.10"]


def test_at_most_three_wrong_cards_which_differ():
    question = multiple_choice(
        message("?"), card("a"), card("b"), card("a"), card("b"), card("c"), card("d"), card("e")
    )
    assert [render(card.text) for card in question.cards] == ["a", "b", "c", "d"]
    assert multiple_choice(message("?"), card("a"), card("a")) is None


def test_a_tie_makes_no_question():
    names = tuple(Token(word, position) for position, word in enumerate("abc"))
    about = (message("?"), names, torch.tensor([0.5, 0.5, 0.1]), message("yes"), [], lambda p: message("no"))
    assert multiple_choice_of_tokens(*about) is None
    clear = (*about[:2], torch.tensor([0.5, 0.7, 0.1]), *about[3:])
    assert render(multiple_choice_of_tokens(*clear).cards[0].text) == "“b”"


def test_shuffling_keeps_the_right_card_right():
    question = Question(message("?"), tuple(map(card, "abcd")), 2)
    for seed in range(10):
        again = shuffled(question, generator(seed))
        assert render(again.cards[again.right].text) == "c"
        assert sorted(render(card.text) for card in again.cards) == list("abcd")


def test_the_seed_of_the_example_and_the_number_of_the_question_both_enter_the_draw():
    def maker(random):
        return Question(message("?"), tuple(map(card, "abcd")), 0)

    rights = {
        (seed, number): question_picker("a lesson", {"predict": [maker]}, seed)(number).right
        for seed in range(40)
        for number in range(2)
    }
    assert rights == {
        (seed, number): question_picker("a lesson", {"predict": [maker]}, seed)(number).right
        for seed in range(40)
        for number in range(2)
    }
    for number in range(2):
        assert {rights[seed, number] for seed in range(40)} == {0, 1, 2, 3}
    assert any(rights[seed, 0] != rights[seed, 1] for seed in range(40))


def said(text):
    return lambda random: Question(message("{text}?", text=text), tuple(map(card, "abcd")), 0)


def nothing(random):
    return None


@pytest.mark.parametrize(
    ("kinds", "asked"),
    [
        (
            {"predict": [said("c"), said("d")], "look": [said("a"), said("b")], "generalise": [said("e")]},
            "a? c? e? b? d? e? a?",
        ),
        ({"look": [nothing, said("a")], "predict": [nothing], "generalise": [said("e")]}, "a? e? a? e?"),
        ({"generalise": [nothing, said("e"), said("f")]}, "e? e? f? e?"),
    ],
)
def test_numbers_go_up_the_steps_which_have_all_their_kinds_in_turn(kinds, asked):
    """A step where nothing can be asked is left out."""
    ask = question_picker("a lesson", kinds, 1)
    questions = [ask(number) for number in range(len(asked.split()))]
    assert " ".join(render(question.prompt) for question in questions) == asked
    there = [
        step for step in ("look", "predict", "generalise") if any(maker is not nothing for maker in kinds.get(step, ()))
    ]
    assert [question.step for question in questions] == (there * 7)[: len(questions)]
    assert all(question.in_figure == (question.step == "predict") for question in questions)


def test_where_no_step_has_a_question_none_is_asked():
    with pytest.raises(LookupError, match="a lesson"):
        question_picker("a lesson", {"look": [nothing]}, 1)(0)


def test_a_row_whose_largest_weight_is_above_nine_tenths_is_not_asked_about():
    rows = torch.tensor([[0.91, 0.09, 0.0], [0.0, 0.0, 1.0], [0.05, 0.89, 0.06]])
    assert shares_out(rows).tolist() == [False, False, True]
