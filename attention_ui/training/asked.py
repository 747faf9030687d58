"""The run on the training page, for a teacher who wants to ask a class about it."""

from attention_core.learning.training import TrainingSettings
from attention_ui.page.question import current_question
from attention_ui.session.recent_screens import remember_screen
from lessons.example.example import Example
from lessons.learning.train import lesson as train
from lessons.screen import Question
from lessons.teachers.class_vote.asked_runs import choices_of_run


def question_of_run(settings: TrainingSettings) -> Question:
    """The question that stands on the page; it is kept for a class."""
    question = current_question("train", train.questions_about(settings))
    remember_screen(train, "train", Example(), 0, choices_of_run(settings))
    return question
