"""Lesson: whether attention knows the order."""

from lessons.screen.message import message

TITLE, PLACE = message("Positions"), 31
