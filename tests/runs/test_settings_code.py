"""The settings of a run in a link."""

import pytest

from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import recommended
from runs.settings_code import LONGEST_CODE, settings_code, settings_of_code

SLICED = {"heads": "sliced", "n_heads": 2, "d_k": None, "d_v": None}
CHANGES = [{}, {"seed": 7, "steps": 11}, SLICED | {"positions": "none", "engine": "autograd"}]


@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.key)
def test_a_code_spells_the_run_again(task, changes):
    settings = recommended(task, **{"seed": 3} | changes)
    code = settings_code(settings)
    assert settings_of_code(code) == settings and len(code) <= LONGEST_CODE


def test_a_text_of_ones_own_has_no_code():
    assert settings_code(recommended(CharacterTask(text="a text that nobody else has typed"))) is None


@pytest.mark.parametrize(
    "code",
    [
        "",
        "[]",
        "null",
        '{"task":"none"}',
        '{"task":"copy","more":1}',
        '{"task":"copy","model":[]}',
        "x" * 9000,
        '{"task":"copy","model":{"d_model":"8"}}',
        '{"task":"copy","model":{"d_model":8e9}}',
        '{"task":"copy","model":{"vocabulary":3}}',
        '{"task":"copy","training":{"steps":-1}}',
        '{"task":["copy"]}',
        '{"task":"copy","training":{"learning_rate":NaN}}',
        '{"task":"copy","training":{"name":1}}',
    ],
)
def test_anything_else_is_refused_in_a_sentence(code):
    with pytest.raises(ValueError, match=r"expected|settings|task|steps|tokens|goes from|letters"):
        settings_of_code(code)
