"""Lesson: how does it write?"""

from attention_ui.contents import opening
from attention_ui.lesson import show_notes
from attention_ui.links import link_notes
from attention_ui.panels.drawer import show_drawer
from attention_ui.panels.question import current_question, question_panel
from attention_ui.writers import chosen_writer, keep_panel
from attention_ui.writing_controls import writing_buttons, writing_controls
from attention_ui.writing_view import code_of, live_writing
from lessons import generate

opening(generate)
writer = chosen_writer()
request = writing_controls(writer)
show_notes(*link_notes(), *writer.notes, *request.start.notes)
writing_buttons(request)
screen = live_writing(request)
if screen is not None:
    question_panel("generate", current_question("generate", screen.ask), cover=False)
keep_panel(writer)
show_drawer("generate", code_of(request), heading=generate.HEADING)
