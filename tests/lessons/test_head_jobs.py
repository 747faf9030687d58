"""The moment at which a head takes up its job, on evaluations made up for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from lessons.learning.train.head_roles import JOBS, Formed, formed_heads, formed_sentences
from lessons.screen import render, render_all


def history(rows, name="recall", every=20, **changes):
    """A run with these weights of its roles, layers and heads at each evaluation."""
    evaluations = tuple(
        SimpleNamespace(step=every * n, role_weights=np.array(row, np.float32)) for n, row in enumerate(rows)
    )
    return SimpleNamespace(settings=recommended(TASKS[name], **changes), evaluations=evaluations)


def one_head(weights):
    """Both roles of a task in two layers of one head: the first role as said, the other never."""
    return [[[[weight], [0.1]], [[0.1], [0.1]]] for weight in weights]


def test_every_job_of_every_task_has_a_name_and_a_threshold():
    for task in TASKS.values():
        for role in task.roles:
            label, enough = JOBS[role]
            assert "head" in render(label) and 0 < enough < 1


@pytest.mark.parametrize(
    ("weights", "step"),
    [
        ([0.1, 0.3, 0.5, 0.9], 40),  # exactly half is enough
        ([0.1, 0.3, 0.4999, 0.9], 60),
        ([0.1, 0.8, 0.3, 0.6, 0.7], 60),  # it fell back, so it counts from when it did it again
        ([0.6, 0.7, 0.7], 0),
        ([0.1, 0.8, 0.8, 0.4], None),  # it does not do it any more
        ([0.1, 0.2], None),
        ([0.9], 0),
    ],
)
def test_a_head_has_formed_where_it_crosses_its_threshold_for_good(weights, step):
    found = formed_heads(history(one_head(weights)))
    assert found == (() if step is None else (Formed("letter_before", step, ((0, 0),)),))


def test_the_earliest_head_is_named_and_those_that_tie_with_it():
    rows = [
        [[[0.1, 0.1, 0.1]], [[0.1, 0.1, 0.1]]],
        [[[0.6, 0.2, 0.7]], [[0.1, 0.1, 0.1]]],
        [[[0.6, 0.9, 0.7]], [[0.1, 0.5, 0.1]]],
    ]
    found = formed_heads(history(rows))
    assert found == (Formed("letter_before", 20, ((0, 0), (0, 2))), Formed("number", 40, ((0, 1),)))
    said = [render(sentence) for sentence in formed_sentences(history(rows))]
    assert said[0].startswith("Formed by training step 20: previous-token head (layer 1, head 1 and layer 1, head 3).")
    assert said[1].startswith("Formed by training step 40: recall head (layer 1, head 2).")


def test_what_has_not_formed_is_said_plainly():
    said = render_all(formed_sentences(history(one_head([0.1, 0.9]))))
    assert said.endswith("Not formed so far: recall head. A head must put 50% of its weight on its job.")
    nothing = render_all(formed_sentences(history(one_head([0.1, 0.2]))))
    assert nothing.startswith("Not formed so far: previous-token head and recall head.")
    assert "gives heads no fixed job" in render_all(formed_sentences(history([], "characters")))
    assert formed_sentences(history([])) == ()


def test_no_number_is_ever_enough_for_a_head_whose_loss_is_no_number():
    assert formed_heads(history(one_head([0.9, float("nan")]))) == ()
