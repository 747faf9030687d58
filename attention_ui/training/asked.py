"""The run on the training page, for a teacher who wants to ask a class about it."""

from attention_core.training import TrainingSettings
from attention_ui.page.question import current_question
from attention_ui.session.recent_screens import remember_screen
from lessons.class_vote.asked_runs import choices_of_run
from lessons.example.example import Example
from lessons.screen.screen import Question
from lessons.train import lesson as train


def question_of_run(settings: TrainingSettings) -> Question:
    """The question that stands on the page; it is kept for a class."""
    question = current_question("train", train.questions_about(settings))
    remember_screen(train, "train", Example(), 0, choices_of_run(settings))
    return question
