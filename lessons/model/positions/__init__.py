"""Lesson: whether attention knows the order."""

from lessons.screen import message

TITLE, PLACE = message("Positions"), 31
