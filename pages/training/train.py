"""Train it live: a small transformer learns a task while one watches."""

from functools import partial

import streamlit as st

from attention_core.training import gradient_of, predict, train
from attention_ui.code_panel import plain_code_panel
from attention_ui.comparing import compare_panel, live_run
from attention_ui.contents import next_and_previous, opening
from attention_ui.lesson import show_notes
from attention_ui.quiz import predict_about
from attention_ui.run_tools import run_tools
from attention_ui.training_controls import training_controls
from lessons.questions.train import ask_about_training
from lessons.task_texts import texts_of

opening("train")
choice = training_controls()
show_notes(*choice.notes)
texts = texts_of(choice.task)
st.text(f"{texts.learns} What you see when it has: {texts.looks_like}")
run = live_run(choice)
if choice.settings is not None:
    predict_about("train", partial(ask_about_training, choice.settings), choice.settings)
compare_panel(run)
if run is not None:
    run_tools(run)
plain_code_panel(train, predict, gradient_of)
next_and_previous("train")
