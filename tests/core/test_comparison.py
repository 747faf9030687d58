"""Two settings in words, the classic questions, and what two runs came to."""

import dataclasses
import math

import pytest

from attention_core.learning.tasks import TASKS, CharacterTask, CopyTask
from attention_core.learning.training import TrainingSettings, recommended
from attention_core.model.small_model import ModelConfig
from lessons.learning.train.compare_runs import COMPARISONS, comparison_sentences, differences, verdict
from lessons.screen import format_value, render, render_all
from runs.recording import Recording
from runs.run import TrainingRun

ANOTHER = {
    "optimiser": "sgd",
    "learning_rate": 0.5,
    "weight_decay": 0.7,
    "clip": 2.0,
    "steps": 17,
    "batch_size": 3,
    "seed": 5,
    "n_layers": 3,
    "d_model": 34,
    "n_heads": 2,
    "d_k": 6,
    "d_v": 7,
    "heads": "sliced",
    "positions": "none",
    "causal": False,
    "scaling": False,
    "residual": False,
    "layer_norm": True,
    "mlp": True,
    "embedding_std": 0.7,
    "context": 19,
    "sink": True,
    "engine": "autograd",
}


@pytest.mark.parametrize("setting", ANOTHER)
def test_every_setting_that_changes_is_named_with_both_values(setting):
    task = TASKS["previous"]
    before = recommended(task)
    seed = ANOTHER["seed"] if setting == "seed" else 0
    after = recommended(task, seed, **({} if setting == "seed" else {setting: ANOTHER[setting]}))
    found = differences(before, after)
    also_d_k = setting in ("d_model", "n_heads")
    assert len(found) == 1 + also_d_k
    assert all(render(d.name) and format_value(d.before) != format_value(d.after) for d in found)


def test_no_setting_is_forgotten():
    names = {f.name for kind in (ModelConfig, TrainingSettings) for f in dataclasses.fields(kind)}
    assert names - set(ANOTHER) == {"task", "model", "vocabulary", "output"}  # these follow from the task


def test_equal_settings_do_not_differ():
    assert differences(recommended(CopyTask()), recommended(CopyTask())) == []


def test_tasks_are_named_and_texts_are_not_shown():
    copy, other = recommended(CopyTask()), recommended(TASKS["sort"])
    assert render(differences(copy, other)[0].sentence) == "task: Copy → Sort"
    larger = differences(copy, recommended(CopyTask(n_letters=7)))[0]
    assert render(larger.sentence) == "task: n letters 10 → n letters 7"
    one, two = (recommended(CharacterTask(text * 9)) for text in ("abcd", "dcba"))
    assert [render(d.sentence) for d in differences(one, two)] == ["text: one text → another text"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_each_question_changes_one_thing(name):
    first, second = COMPARISONS[name].settings(3)
    assert render(COMPARISONS[name].question).endswith("?")
    assert first.seed == second.seed == 3 and first.task == second.task
    assert len([d for d in differences(first, second) if render(d.name) != "d_k"]) == 1


def view_after(settings, steps):
    run = TrainingRun(Recording(settings))
    run.recording.record(steps)
    run.train()
    return run.look()


@pytest.mark.parametrize(
    ("learnt", "words"),
    [
        ((True, True), "Both have"),
        ((True, False), "Only the first"),
        ((False, True), "Only the second"),
        ((False, False), "Neither has"),
    ],
    ids=str,
)
def test_the_verdict_says_who_has_learned_it(learnt, words):
    assert words in render(verdict(*learnt))


def test_a_task_without_a_picture_of_success_has_no_weight_in_the_caption():
    settings = recommended(CharacterTask("abcabcabcacb", 3), steps=3)
    view = view_after(settings, 3)
    assert math.isnan(view.evaluations[-1].weight) and "Weight" not in render_all(comparison_sentences(view, view))
    assert view.evaluations[-1].role_weights.shape == (0, 1, 4)
