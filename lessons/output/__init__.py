"""Lesson: how weights mix the values."""

from lessons.screen.message import message

TITLE, PLACE = message("Output"), 26
