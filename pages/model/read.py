"""Lesson: what do the heads of a real language model do?"""

from attention_ui.page.read_view import show_read
from lessons.model.read import lesson as read

show_read(read)
