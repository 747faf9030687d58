"""Questions about a run: each right choice computed again from the settings, with plain Python."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.randomness import generator
from attention_core.tasks import TASKS
from attention_core.training import recommended
from lessons.captions import name
from lessons.questions.train import (
    QUESTIONS,
    ask_about_training,
    how_many_weights,
    loss_of_a_guess,
    readable_places,
    where_to_look,
)
from runs.recording import Recording

CHANGES = ({}, {"n_layers": 2}, {"positions": "none"}, {"layer_norm": True, "mlp": True}, {"causal": True})
RUNS = st.builds(lambda key, changes: recommended(TASKS[key], **changes), st.sampled_from(sorted(TASKS)),
                 st.sampled_from(CHANGES))  # fmt: skip


def right_of(question):
    return question.choices[question.right].text


def wrong_of(question):
    return [choice for i, choice in enumerate(question.choices) if i != question.right]


@given(settings=RUNS, number=st.integers(0, 200))
def test_there_is_always_a_question_with_choices_that_differ(settings, number):
    question = ask_about_training(settings, number)
    assert question == ask_about_training(settings, number)
    assert 2 <= len(question.choices) <= 4
    assert len({choice.text for choice in question.choices}) == len(question.choices)
    assert all(choice.answer_to_it for choice in question.choices)


@given(settings=RUNS, number=st.integers(0, 200))
def test_the_row_puts_its_weight_where_the_answer_stands(settings, number):
    question = where_to_look(settings, generator(number))
    if question is None:
        assert not readable_places(settings)
        return
    example, n = settings.task.example, len(settings.task.example.tokens)
    names = [name(example.tokens, place) for place in range(n)]
    queries = [i for i in range(n) if question.prompt.endswith(f"the row of {names[i]} put its weight?")]
    assert len(queries) == 1, "every token has a name of its own"
    (query,), key = queries, names.index(right_of(question))
    assert example.tokens[key] == example.answers[query]
    assert any(role[query].sum() == 1 and role[query, key] for role in example.target_attention)
    for choice in wrong_of(question):
        place = names.index(choice.text)
        assert not any(role[query].sum() == 1 and role[query, place] and (query, place) in readable_places(settings)
                       for role in example.target_attention)  # fmt: skip
        assert example.tokens[place] != example.answers[query]
        hidden = settings.model.causal and place > query
        assert ("mask hides" in choice.answer_to_it) == hidden
        assert hidden or f"“{example.tokens[place]}”" in choice.answer_to_it


@pytest.mark.parametrize("key", sorted(TASKS))
def test_a_model_that_guesses_evenly_has_the_loss_of_the_right_choice(key):
    settings = recommended(TASKS[key])
    question = loss_of_a_guess(settings, generator(0))
    if question is None:
        assert settings.model.output == "vectors"
        return
    said = right_of(question)
    assert float(said) == pytest.approx(math.log(settings.model.vocabulary), abs=0.51 * 10 ** -len(said.split(".")[1]))


@given(settings=RUNS)
def test_training_changes_as_many_numbers_as_a_recording_records(settings):
    question = how_many_weights(settings, generator(0))
    recording = Recording(settings)
    recording.record(0)
    count = len(recording.snapshot(0).weights)
    assert right_of(question) == str(count)
    parts = [int(part.split(": ")[1].rstrip(".")) for part in question.choices[question.right].answer_to_it.split("; ")]
    assert sum(parts) == count
    assert all(int(choice.text) != count for choice in wrong_of(question))


def test_the_last_kind_always_makes_a_question():
    assert QUESTIONS[-1] is how_many_weights
