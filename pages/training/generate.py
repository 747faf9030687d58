"""Lesson: how does it write?"""

from functools import partial

from attention_core.generation import generate, generate_token
from attention_core.sampling import draw_token, keep_top_k, keep_top_p, next_token_probabilities, pick, renormalise
from attention_ui.code_panel import plain_code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.lesson import show_notes
from attention_ui.links import link_notes
from attention_ui.quiz import predict_about
from attention_ui.writers import chosen_writer, keep_panel
from attention_ui.writing_controls import writing_buttons, writing_controls
from attention_ui.writing_view import live_writing
from lessons.questions.generate import ask_about_writing

opening("generate")
writer = chosen_writer()
request = writing_controls(writer)
show_notes(*link_notes(), *writer.notes, *request.start.notes)
writing_buttons(request)
moment = live_writing(request)
if moment is not None:
    about = (writer.checkpoint, request.start.tokens, request.sampling, request.seed, request.length)
    predict_about("generate", partial(ask_about_writing, moment), about)
keep_panel(writer)
plain_code_panel(
    generate, generate_token, draw_token, next_token_probabilities, keep_top_k, keep_top_p, renormalise, pick
)
next_and_previous("generate")
