"""Lesson: how does it write?"""

import streamlit as st

from attention_ui.lesson import show_notes
from attention_ui.links import link_notes
from attention_ui.panels.drawer import show_drawer
from attention_ui.voting.seen import remember_page
from attention_ui.writers import chosen_writer, keep_panel
from attention_ui.writing_controls import writing_buttons, writing_controls
from attention_ui.writing_view import code_of, live_writing
from lessons import generate

top = st.container()
writer = chosen_writer()
request = writing_controls(writer)
show_notes(*link_notes(), *writer.notes, *request.start.notes)
writing_buttons(request)
live_writing(request, top)
keep_panel(writer)
show_drawer("generate", code_of(request), heading=generate.HEADING)
remember_page("generate")
