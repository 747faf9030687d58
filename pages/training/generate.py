"""Lesson: how does it write?"""

import streamlit as st

from attention_ui.page.drawer import show_drawer
from attention_ui.session.chart import show_notes
from attention_ui.session.links import link_notes
from attention_ui.writing.asked import remember_writing
from attention_ui.writing.controls import writing_buttons, writing_controls
from attention_ui.writing.view import code_of, live_writing
from attention_ui.writing.writers import chosen_writer, keep_panel
from lessons.generate import lesson as generate

top = st.container()
writer = chosen_writer()
request = writing_controls(writer)
show_notes(*link_notes(), *writer.notes, *request.start.notes)
writing_buttons(request)
live_writing(request, top)
keep_panel(writer)
show_drawer("generate", code_of(request), topic=generate.TOPIC)
remember_writing(request)
