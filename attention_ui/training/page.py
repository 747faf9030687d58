"""The page on which a small transformer learns a task while one watches."""

from contextlib import AbstractContextManager, nullcontext

import streamlit as st

from attention_ui.contents import draw_topic
from attention_ui.page.drawer import show_drawer
from attention_ui.page.drawing import draw_notice
from attention_ui.page.question import question_panel
from attention_ui.page.words import draw_words
from attention_ui.session import show_notes
from attention_ui.training.asked import question_of_run
from attention_ui.training.compare_runs import compare_panel, live_run
from attention_ui.training.controls import training_controls
from attention_ui.training.run_tools import run_tools
from attention_ui.training.view import asks_beside
from lessons.example.task_texts import texts_of
from lessons.learning.train import lesson as train
from lessons.screen import render


def show_training() -> None:
    """What is to be learned, the run, what one sees of it, a question about it, and what can be done with it."""
    draw_topic(train)
    choice = training_controls()
    show_notes(*choice.notes)
    of_run, of_question = places()
    with of_run:
        st.text(render(texts_of(choice.task).learns))
        with st.container(key="train_room"):
            run = live_run(choice)
    if choice.settings is not None:
        with of_question:
            question_panel("train", question_of_run(choice.settings), cover=False)
    with st.container(key="train_below"):
        draw_notice(None, [texts_of(choice.task).once_learned])
        draw_words("train")
        compare_panel(run)
        if run is not None:
            run_tools(run)
    show_drawer("train", run and train.code_of_run(run.recording.settings), topic=train.TOPIC)


def places() -> tuple[AbstractContextManager, AbstractContextManager]:
    """Where the run and the question about it stand: below each other, or side by side."""
    if not asks_beside():
        return nullcontext(), nullcontext()
    with st.container(key="lesson"):
        return st.container(key="stage"), st.container(key="beside")
