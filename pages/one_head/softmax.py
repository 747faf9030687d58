"""Lesson: how do scores become weights?"""

import streamlit as st

from attention_ui.controls.choices import chosen_temperature, query_choice
from attention_ui.page.lesson_page import open_lesson
from lessons.softmax import lesson as softmax

page = open_lesson(softmax)
at_query, at_temperature = st.columns(2)
with at_query:
    query = query_choice(page.example)
with at_temperature:
    temperature = chosen_temperature()
page.show(softmax.Choices(query, temperature))
