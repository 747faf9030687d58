"""Lesson: how weights mix the values."""

from lessons.screen import message

TITLE, PLACE = message("Output"), 26
