"""Train: a small transformer learns a task while one watches."""

from attention_ui.training.page import show_training

show_training()
