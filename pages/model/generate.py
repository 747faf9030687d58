"""Lesson: how does it write?"""

from attention_ui.page.drawer import show_drawer
from attention_ui.page.lesson_page import lay_out
from attention_ui.session import is_projected, link_notes, show_notes
from attention_ui.writing.asked import remember_writing
from attention_ui.writing.controls import writing_buttons, writing_controls
from attention_ui.writing.screens import code_of
from attention_ui.writing.view import live_writing
from attention_ui.writing.writers import chosen_writer, keep_panel
from lessons.model.generate import lesson as generate

room = lay_out()
with room.controls:
    writer = chosen_writer()
    request = writing_controls(writer)
with room.stage if is_projected() else room.controls:
    writing_buttons(request)
with room.notes:
    show_notes(*link_notes(), *writer.notes, *request.start.notes)
live_writing(request, room)
keep_panel(writer)
show_drawer("generate", code_of(request), topic=generate.TOPIC)
remember_writing(request)
