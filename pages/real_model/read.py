"""Lesson: what do the heads of a trained language model do?"""

import streamlit as st

from attention_ui.controls.read import open_in_lessons, read_choices, show_effect
from attention_ui.page.lesson_page import draw_screen, stage_of_page
from attention_ui.session.chart import show_notes
from attention_ui.session.links import link_notes
from attention_ui.session.recent_screens import remember_screen
from lessons.example.example import Example
from lessons.read import lesson as read

top, stage = st.container(), stage_of_page()
choices = read_choices()
show_effect(choices)
show_notes(*link_notes(), *read.how_it_was_read(choices))
open_in_lessons(choices)
draw_screen(read, read.read_screen(choices), top, address="read", stage=stage, covers=False)
remember_screen(read, "read", Example(), 0, choices)
