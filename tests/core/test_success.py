"""What is said of a model's success holds for its numbers."""

import pytest
import torch

from attention_core.observe import Ablation, ablate_each_head, observe_task
from attention_core.tasks import TASKS, CharacterTask
from attention_core.training import Evaluation, recommended
from lessons.formatting import number, percent
from lessons.success import answer_lines, heads_off_caption, heads_off_rows, moment_caption, success_caption
from lessons.task_texts import texts_of
from runs.recording import Recording


def measured(accuracy, role_weights, learnt):
    return Evaluation(20, 0.5, accuracy, torch.as_tensor(role_weights), learnt)


def test_the_best_head_of_each_job_is_named_with_what_is_enough():
    task = TASKS["recall"]
    role_weights = [
        [[0.1, 0.8, 0.3], [0.2, 0.1, 0.1]],
        [[0.1, 0.2, 0.3], [0.05, 0.9, 0.4]],
    ]
    said = success_caption(task, measured(0.97, role_weights, True))
    first, second = texts_of(task).roles.values()
    assert f"on newly drawn sequences: {percent(0.97)} (enough: {percent(task.enough_right)})." in said
    assert f"To {first}: layer 1, head 2 with 0.80 of its weight (enough: {number(task.threshold)})." in said
    assert f"To {second}: layer 2, head 2 with 0.90 of its weight" in said
    assert said.endswith("So it has learnt the task.")
    assert success_caption(task, measured(0.4, role_weights, False)).endswith("not learnt the task yet.")


def test_a_task_judged_by_its_answers_claims_no_threshold_for_heads():
    role_weights = torch.full((4, 1, 4), 0.2).tolist()
    assert "of its weight." in success_caption(TASKS["last"], measured(1.0, role_weights, True))
    assert "weight (enough" not in success_caption(TASKS["last"], measured(1.0, role_weights, True))


def test_a_text_without_a_part_kept_apart_is_said_to_be_the_one_it_learns():
    whole, parted = CharacterTask("hello world"), CharacterTask("hello world " * 20, held_out_share=0.25)
    assert "on the text it learns" in success_caption(whole, measured(1.0, torch.zeros(0, 1, 1), True))
    assert "on the part of the text kept apart" in success_caption(parted, measured(1.0, torch.zeros(0, 1, 1), True))


@pytest.mark.parametrize("name", TASKS)
def test_what_is_enough_is_what_counts_as_learnt(name):
    task = TASKS[name]
    perfect = (1.0,) * len(task.roles)
    assert task.learnt(min(1.0, task.enough_right + 0.001), perfect)
    assert not task.learnt(task.enough_right - 0.001, perfect)


@pytest.mark.parametrize("name", ["previous", "pronoun", "recall", "characters", "vectors"])
def test_the_lines_of_answers_stand_below_each_other_and_cross_what_is_wrong(name):
    task = TASKS[name]
    recording = Recording(recommended(task, steps=1))
    recording.record(0)
    watched = observe_task(recording.settings, recording.snapshot(0))
    example = watched.example
    lines = answer_lines(example, watched.predicted).splitlines()
    crosses = lines[3].count("×") if len(lines) > 3 else 0
    asked = [i for i, answer in enumerate(example.answers) if answer is not None]
    assert crosses == sum(example.answers[i] != watched.predicted[i] for i in asked)
    assert crosses == round((1 - watched.accuracy) * len(asked))
    assert percent(watched.accuracy) in moment_caption(watched)


def test_the_head_that_is_missed_most_is_the_one_that_is_named():
    heads = [Ablation(((0, 0),), 0.5, 0.9, 0.1, 0.95), Ablation(((1, 0),), 2.0, 0.3, 0.1, 0.95)]
    assert heads_off_caption(heads) == (
        f"With all heads {percent(0.95)} of the answers are right; "
        f"layer 2, head 1 is missed most: without it {percent(0.3)}."
    )
    assert "no single head is missed" in heads_off_caption([Ablation(((0, 0),), 0.5, 0.96, 0.1, 0.95)])


def test_the_table_has_a_row_for_each_head_with_its_own_numbers():
    recording = Recording(recommended(TASKS["last"], steps=2))
    recording.record(2)
    without = ablate_each_head(recording.settings, recording.snapshot(2))
    rows = heads_off_rows(without)
    assert [row["switched off"] for row in rows] == [f"layer 1, head {h}" for h in (1, 2, 3, 4)]
    assert [row["right answers without it"] for row in rows] == [percent(w.accuracy) for w in without]
    layer = Ablation(((1, 0), (1, 1)), 1.0, 0.5, 0.1, 0.9)
    assert heads_off_rows([layer])[0]["switched off"] == "all of layer 2"
