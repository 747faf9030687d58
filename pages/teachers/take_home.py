"""Practice: worksheets with their keys, plans for a lesson, homework, and questions for a learning platform."""

from attention_ui.practice.take_home_view import show_take_home

show_take_home()
