"""The settings of a run as a link spells them: its task, and what differs from the settings that are recommended."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import msgspec

from attention_core.base.errors import TechnicalError
from attention_core.learning.tasks import TASKS
from attention_core.learning.training import TrainingSettings, recommended
from attention_core.model.small_model import ModelConfig
from runs.checkpoint import MODEL, TRAINING, read_json

LONGEST_CODE = 600  # characters


def settings_code(settings: TrainingSettings) -> str | None:
    """The code of a run; None for a task that a visitor has given a text or sizes of its own."""
    key = settings.task.key
    if TASKS.get(key) != settings.task:
        return None
    usual = recommended(settings.task)
    model = what_differs(asdict(settings.model), asdict(usual.model))
    training = what_differs(of_training(settings), of_training(usual))
    said = {"task": key} | ({"model": model} if model else {}) | ({"training": training} if training else {})
    return json.dumps(said, separators=(",", ":"))


def settings_of_code(code: str) -> TrainingSettings:
    """The run that a code spells. Raises ValueError, with what was expected, for anything else."""
    said = read_json(code[: LONGEST_CODE + 1], "the settings of a model in JSON")
    if (
        not isinstance(said, dict)
        or str(said.get("task")) not in TASKS
        or not said.keys() <= {"task", "model", "training"}
    ):
        raise TechnicalError("the settings of a model name one of these tasks: {tasks}", tasks=", ".join(TASKS))
    usual = recommended(TASKS[said["task"]])
    try:
        model = merged(MODEL, asdict(usual.model), said.get("model", {}))
        training = merged(TRAINING, of_training(usual), said.get("training", {}))
    except (msgspec.ValidationError, TypeError) as error:
        raise TechnicalError(
            "the settings of a model have unknown names or wrong values: {error}", error=str(error)
        ) from None
    return TrainingSettings(task=usual.task, model=ModelConfig(**model), **training)


def of_training(settings: TrainingSettings) -> dict[str, Any]:
    """All settings but task and model."""
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in ("task", "model")}


def what_differs(settings: Mapping[str, object], usual: Mapping[str, object]) -> dict[str, object]:
    """The settings that are not as usual."""
    return {name: value for name, value in settings.items() if value != usual[name]}


def merged(kind: type, usual: dict[str, Any], said: Mapping[str, object]) -> dict[str, Any]:
    """The usual settings with those that were said, every type checked."""
    return msgspec.structs.asdict(msgspec.convert(usual | dict(said), kind))
