"""Train it live: a small transformer learns to continue a text while one watches."""

from attention_core.training import improve, predict, train
from attention_ui.code_panel import plain_code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.lesson import show_notes
from attention_ui.training_controls import training_controls
from attention_ui.training_view import live_picture, run_buttons, visitors_run

opening("train")
choice = training_controls()
show_notes(*choice.notes)
run = visitors_run(choice)
run_buttons(run, choice)
if run is not None:
    live_picture(run)
plain_code_panel(train, predict, improve)
next_and_previous("train")
