"""What a question on a training run, or on a text that a model writes, is made of, so that others can make it again."""

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

import msgspec

from attention_core.base.errors import InputError
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingSettings, recommended
from attention_core.model.generation import MAX_NEW_TOKENS
from attention_core.model.sampling import Sampling
from attention_core.model.small_model import ModelConfig
from lessons.learning.train import lesson as train
from lessons.screen import Code, Screen

ANY_OF_ALL = Sampling()
LONGEST_TEXT, LONGEST_BEGINNING = 20_000, 200


@dataclass(frozen=True)
class TrainChoices:
    """The settings of a run: the key of its task, with a text of its own where that is one of characters, its model
    and, by their names, all other settings. Raises ValueError for settings that cannot be.
    """

    task: str = "induction"
    model: ModelConfig | None = None
    training: dict[str, str | int | float | None] | None = None
    text: Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)] | None = None
    window: int = 8
    held_out_share: float = 0.0

    def __post_init__(self):
        if self.task not in TASKS:
            raise InputError("the settings of a model name one of these tasks: {tasks}", tasks=", ".join(TASKS))
        _ = self.settings

    @property
    def settings(self) -> TrainingSettings:
        """The run."""
        task = TASKS[self.task] if self.text is None else CharacterTask(self.text, self.window, self.held_out_share)
        usual = recommended(task)
        if self.model is None:
            return usual
        training: dict[str, Any] = self.training or {}
        try:
            return TrainingSettings(task=task, model=self.model, **training)
        except TypeError as error:
            raise ValueError("unknown settings of a run") from error


def choices_of_run(settings: TrainingSettings) -> TrainChoices:
    """The choices from which others make this run again."""
    others = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in ("task", "model")}
    task = settings.task
    own = asdict(task) if isinstance(task, CharacterTask) else {}
    return TrainChoices(task.key, settings.model, others, **own)


def screen_of_run(choices: TrainChoices) -> Screen:
    """The questions on a run, which can be answered before anything is trained. What it learns is seen where it is."""
    return Screen(figures=(), code=Code(()), ask=train.questions_about(choices.settings))


@dataclass(frozen=True)
class GenerateChoices:
    """Which model writes, from where, how, and how far; a head of the real model, or None for the mean over all."""

    writer: Literal["language", "notebook", "sea"] = "notebook"
    begin: Annotated[str, msgspec.Meta(max_length=LONGEST_BEGINNING)] = ""
    how: Sampling = ANY_OF_ALL
    length: Annotated[int, msgspec.Meta(ge=1, le=MAX_NEW_TOKENS)] = 12
    seed: Annotated[int, msgspec.Meta(ge=0, le=999_999)] = 0
    head: tuple[int, int] | None = None
