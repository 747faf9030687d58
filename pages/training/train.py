"""Train it live: a small transformer learns to continue a text while one watches."""

from attention_core.training import improve, predict, train
from attention_ui.lesson import code_that_ran, question, show_notes
from attention_ui.training_controls import training_controls
from attention_ui.training_view import live_picture, run_buttons, visitors_run

question(
    "How do the weights get there?",
    "A small transformer reads windows of a text and learns which character comes next. "
    "Press **Start** and watch its heads take shape.",
)
choice = training_controls()
show_notes(*choice.notes)
run = visitors_run(choice)
run_buttons(run, choice)
if run is not None:
    live_picture(run)
code_that_ran(train, predict, improve)
